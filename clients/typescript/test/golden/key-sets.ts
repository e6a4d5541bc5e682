/** The key set of a group of vectors. */

import assert from "node:assert/strict";

import { type KeyRecord, type KeySet, keySetOf, publicKeyOf, type Reference } from "../../src/offline/index.js";
import { KeyPurpose, KeyState } from "../../src/proto/capability_authority/v1/types_pb.js";
import { hex } from "./vectors.js";

/** What groups under a key set share. */
export interface UnderKeys {
  readonly issuer: string;
  readonly key_set: readonly Told[];
  /** With their seeds, for whoever wants to make the statements again. */
  readonly keys: readonly object[];
}

export const UNDER_KEYS = ["issuer", "key_set", "keys"] as const;

interface Told {
  readonly key_id: string;
  readonly public_key: string;
  readonly purpose: string;
  readonly state: string;
  readonly compromised_since_ms: number | null;
  readonly tenant: Reference | null;
  readonly memory_namespace: string | null;
}

/** A number that no version knows. */
const UNHEARD = 99;

/** The key set, with everything that the group tells of its keys. */
export function keySetOfGroup(group: UnderKeys): KeySet {
  return keySetOf(group.issuer, ...group.key_set.map(recordOf));
}

function recordOf(told: Told): KeyRecord {
  const { key_id, public_key, purpose, state, compromised_since_ms, tenant, memory_namespace, ...others } = told;
  assert.deepEqual(others, {}, "a member of a key that is not known");
  const publicKey = publicKeyOf(hex(public_key));
  assert.equal(publicKey.keyId, key_id);
  return {
    publicKey,
    purpose: numberOf(KeyPurpose, purpose),
    state: numberOf(KeyState, state),
    compromisedSinceMs: compromised_since_ms ?? undefined,
    tenant: tenant ?? undefined,
    memoryNamespace: memory_namespace ?? undefined,
  };
}

function numberOf(numbers: Readonly<Record<string, string | number>>, name: string): number {
  const number = name === "unknown" ? UNHEARD : numbers[name.toUpperCase()];
  assert.ok(typeof number === "number", name);
  return number;
}
