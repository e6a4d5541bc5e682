/** The keys of one issuer, as far as they are trusted (semantics §3). */

import type {
  GetKeySetResponse,
  GetKeySetResponse_Key,
} from "../proto/capability_authority/v1/capability_service_pb.js";
import { type KeyPurpose, KeyState } from "../proto/capability_authority/v1/types_pb.js";
import { InstantError, KeyRefused, KeySetRefused } from "./errors.js";
import { instantMs } from "./instants.js";
import type { Reference } from "./invocation.js";
import { type PublicKey, publicKeyOf } from "./keys.js";

/**
 * What is known of one key: who may rely on it, for what, and whether still. Purposes and states that this version does
 * not know are kept as they came, and match nothing.
 */
export interface KeyRecord {
  readonly publicKey: PublicKey;
  readonly purpose: KeyPurpose;
  readonly state: KeyState;
  /** When set, in milliseconds since 1970: what the key signed from then on was not made by its owner. */
  readonly compromisedSinceMs?: number | undefined;
  /** The only tenant the key may sign for; absent for every tenant. */
  readonly tenant?: Reference | undefined;
  /** The only memory namespace the key may sign for; absent for every one. */
  readonly memoryNamespace?: string | undefined;
}

/** The keys of one pinned issuer, by key id. */
export interface KeySet {
  readonly issuer: string;
  /** What is known of the key with this id, or undefined. */
  record(keyId: string): KeyRecord | undefined;
}

/** Whether signatures of this key count: it is active or retiring, and not known to be compromised. */
export function keyVerifies(record: KeyRecord): boolean {
  const counts = record.state === KeyState.ACTIVE || record.state === KeyState.RETIRING;
  return counts && record.compromisedSinceMs === undefined;
}

/** Whether the key may sign for this tenant and memory namespace (undefined: the statement names none). */
export function keyCovers(record: KeyRecord, tenant: Reference, memoryNamespace: string | undefined): boolean {
  const { tenant: only, memoryNamespace: onlyNamespace } = record;
  const tenantCovered = only === undefined || (only.namespace === tenant.namespace && only.id === tenant.id);
  const namespaceCovered =
    memoryNamespace === undefined || onlyNamespace === undefined || onlyNamespace === memoryNamespace;
  return tenantCovered && namespaceCovered;
}

/**
 * A key set made of known records, for instance from a pinned file.
 *
 * @throws {KeySetRefused} when a key occurs twice.
 */
export function keySetOf(issuer: string, ...records: readonly KeyRecord[]): KeySet {
  const byId = new Map(records.map((record) => [record.publicKey.keyId, Object.freeze({ ...record })]));
  if (byId.size !== records.length) throw new KeySetRefused("a key occurs twice in the key set");
  return Object.freeze({ issuer, record: (keyId: string) => byId.get(keyId) });
}

/** By which road a key set is believed. */
export interface Pins {
  readonly issuer: string;
  /**
   * Key ids known by another road: only those keys are taken, however the response came. Undefined takes every key, and
   * trust then rests on the road the response came by: only for one read from the authority itself over an
   * authenticated channel.
   */
  readonly keyIds: ReadonlySet<string> | undefined;
}

/**
 * What may be trusted of a fetched or stored GetKeySet response, which says of itself who it is from, so that alone it
 * proves nothing.
 *
 * @throws {KeySetRefused} for another issuer than the pinned one, an id that is not the thumbprint of its key, a key
 * that `publicKeyOf` refuses, a key that occurs twice, an impossible time, or none of the pinned keys.
 */
export function keySetFromResponse(response: GetKeySetResponse, pins: Pins): KeySet {
  if (response.issuer !== pins.issuer) {
    throw new KeySetRefused(
      `expected the key set of ${JSON.stringify(pins.issuer)}, presented that of ${JSON.stringify(response.issuer)}`,
    );
  }
  const records = response.keys.filter((key) => pins.keyIds?.has(key.keyId) ?? true).map(recordOf);
  if (pins.keyIds !== undefined && records.length === 0) {
    throw new KeySetRefused("the key set holds none of the pinned keys");
  }
  return keySetOf(pins.issuer, ...records);
}

function recordOf(key: GetKeySetResponse_Key): KeyRecord {
  const publicKey = refusedFor(key.keyId, () => publicKeyOf(key.publicKey));
  if (key.keyId !== publicKey.keyId) {
    throw new KeySetRefused(`key ${JSON.stringify(key.keyId)} has the thumbprint ${JSON.stringify(publicKey.keyId)}`);
  }
  const since = key.compromisedSinceTime;
  return {
    publicKey,
    purpose: key.purpose,
    state: key.state,
    compromisedSinceMs: since === undefined ? undefined : refusedFor(key.keyId, () => instantMs(since)),
    tenant: key.tenant === undefined ? undefined : { namespace: key.tenant.namespace, id: key.tenant.id },
    memoryNamespace: key.memoryNamespace || undefined,
  };
}

function refusedFor<Value>(keyId: string, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof KeyRefused || error instanceof InstantError)) throw error;
    throw new KeySetRefused(`key ${JSON.stringify(keyId)}: ${error.message}`);
  }
}
