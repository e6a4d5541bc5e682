/** Terms of an export that must agree, and how a difference is told. */

import type { DescMessage, MessageShape } from "@bufbuild/protobuf";

import { DIGEST_BYTES, toWire } from "./digests.js";

/** Two things that must agree do not. */
export class Broken extends Error {}

/** Of two things that must agree: a name, what one says, what the other says. */
export type Term = readonly [name: string, expected: unknown, presented: unknown];
/** All that must agree, in the order in which it is told. */
export type Terms = readonly Term[];

/** Fields that two messages have in common, by the names of the first one's. */
export function same<Desc extends DescMessage, Other>(
  schema: Desc,
  one: MessageShape<Desc>,
  other: Other,
  fields: readonly (keyof MessageShape<Desc> & keyof Other & string)[],
): Terms {
  return fields.map((name) => {
    const field = schema.field[name];
    const said = (value: unknown): unknown => field?.enum?.value[value as number]?.name.toLowerCase() ?? value;
    return [field?.name ?? name, said(one[name]), said(other[name])];
  });
}

/** @throws {Broken} for the first term of which the two say different things. */
export function agree(terms: Terms): void {
  for (const [name, expected, presented] of terms) {
    if (textOf(expected) !== textOf(presented)) {
      throw new Broken(`${name}: expected ${shown(expected)}, presented ${shown(presented)}`);
    }
  }
}

function shown(value: unknown): string {
  if (value instanceof Uint8Array && value.length === DIGEST_BYTES) return toWire(value);
  if (typeof value === "boolean") return String(value);
  return textOf(value).replace(/\s+/g, " ").trim() || "nothing";
}

/** One text for equal values, and another for others. What is absent and what is empty are the same, as in protobuf. */
function textOf(value: unknown): string {
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (Array.isArray(value)) return value.length === 0 ? "" : JSON.stringify(value.map(textOf));
  if (typeof value === "object" && value !== null) {
    const said = Object.entries(value)
      .filter(([name]) => !name.startsWith("$"))
      .map(([name, each]) => [name, textOf(each)] as const)
      .filter(([, text]) => text !== "")
      .sort(([one], [other]) => (one < other ? -1 : 1));
    return said.length === 0 ? "" : JSON.stringify(Object.fromEntries(said));
  }
  return value === undefined || value === 0 || value === 0n || value === false ? "" : String(value);
}
