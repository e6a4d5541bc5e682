/** The dimensions of a grant: what it can say of what it allows (semantics §6). */

import { type Grant, GrantSchema } from "../proto/capability_authority/v1/statements_pb.js";
import { GrantMalformed } from "./errors.js";

/** Dimensions that list names. */
export const EXACT = ["audiences", "actions"] as const;
/** Dimensions that list selectors. */
export const SELECTORS = [
  "resources",
  "readMemoryNamespaces",
  "writeMemoryNamespaces",
  "tools",
  "providers",
  "models",
] as const;
/** Dimensions that say how much at most. */
export const AMOUNTS = ["usdMicros", "tokens", "latencyMs", "concurrency", "uses"] as const;
/** Dimensions that are allowed or not. */
export const FLAGS = ["network", "destructive"] as const;

/** A field of Grant. */
export type GrantField = Exclude<keyof Grant, "$typeName" | "$unknown">;

/**
 * What a grant allows, dimension by dimension. An empty list, 0 and false deny.
 *
 * Selectors (resources, memory namespaces, tools, providers, models) are whole segments, or some of them and `/*`.
 * Audiences and actions are exact.
 */
export interface GrantDimensions {
  readonly audiences?: readonly string[] | undefined;
  readonly actions?: readonly string[] | undefined;
  readonly resources?: readonly string[] | undefined;
  readonly readMemoryNamespaces?: readonly string[] | undefined;
  readonly writeMemoryNamespaces?: readonly string[] | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly providers?: readonly string[] | undefined;
  readonly models?: readonly string[] | undefined;
  readonly usdMicros?: bigint | number | undefined;
  readonly tokens?: bigint | number | undefined;
  readonly latencyMs?: bigint | number | undefined;
  readonly concurrency?: bigint | number | undefined;
  readonly uses?: bigint | number | undefined;
  readonly network?: boolean | undefined;
  readonly destructive?: boolean | undefined;
}

/** A field as the proto names it, which is how errors and other languages name it: `usd_micros`. */
export function dimensionOf(field: GrantField): string {
  return GrantSchema.field[field].name;
}

/** An amount as a grant holds it; undefined where none is given. @throws {GrantMalformed} for no whole number. */
export function amountOf(field: (typeof AMOUNTS)[number], amount: bigint | number | undefined): bigint | undefined {
  if (typeof amount === "number" && !Number.isSafeInteger(amount)) {
    throw new GrantMalformed(dimensionOf(field), { expected: "a whole number", presented: String(amount) });
  }
  return amount === undefined ? undefined : BigInt(amount);
}
