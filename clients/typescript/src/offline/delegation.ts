/**
 * Handing a grant on without a server, ever narrower (semantics §6).
 *
 *     const child = delegate(parent, myKey, {
 *       holder: agent,
 *       boundTo: agentKey,
 *       nonce: randomBytes(16),
 *       narrower: { actions: ["memory.propose"], uses: 3, expireMs: inAnHour },
 *     });
 */

import { clone, create } from "@bufbuild/protobuf";

import {
  type Grant,
  GrantedAmountSchema,
  GrantedFlagSchema,
  GrantedNamesSchema,
  GrantSchema,
  type SignedStatement,
} from "../proto/capability_authority/v1/statements_pb.js";
import { PrincipalRefSchema } from "../proto/capability_authority/v1/types_pb.js";
import { sameBytes } from "./bytes.js";
import { referenceOf } from "./claims.js";
import { DIGEST_BYTES, toWire } from "./digests.js";
import { AMOUNTS, amountOf, EXACT, FLAGS, type GrantDimensions, SELECTORS } from "./dimensions.js";
import { GrantExceeded, GrantMalformed, SignatureInvalid } from "./errors.js";
import { timestamp } from "./instants.js";
import type { Reference } from "./invocation.js";
import type { PrivateKey, PublicKey } from "./keys.js";
import { requireNarrower, requireShape } from "./narrowing.js";
import { digestOf, readPayload, sign } from "./statements.js";

/**
 * What a child says in place of what its parent says. Absent: the same as the parent, said again.
 *
 * Times are in milliseconds since 1970.
 */
export interface Narrower extends GrantDimensions {
  readonly notBeforeMs?: number | undefined;
  readonly expireMs?: number | undefined;
  /** How many generations may be derived from the child; absent: one less than from the parent. */
  readonly delegationDepth?: number | undefined;
  readonly correlationId?: string | undefined;
}

/** Whom a grant is handed on to. */
export interface Delegation {
  readonly holder: Reference;
  /**
   * What the new holder presents the child with: its public key; or the digest of another credential, 32 bytes, with
   * which it hands nothing on offline.
   */
  readonly boundTo: PublicKey | Uint8Array;
  /** 16 random bytes. */
  readonly nonce: Uint8Array;
  readonly narrower?: Narrower | undefined;
}

/**
 * A child of the grant for another holder, signed by the parent's: no server is asked, and none need know of it.
 *
 * `holderKey` is the private key that the parent binds. Whether the parent itself is good is not judged:
 * `verifyGrantChain` does.
 *
 * @throws {GrantExceeded} for a child that would be wider, naming the `dimension`.
 * @throws {GrantMalformed} for what no grant can say.
 * @throws {SignatureInvalid} when the key is not the parent's.
 * @throws {PayloadTypeMismatch} or {PayloadRefused} when the parent is no grant; {InstantError} for an impossible time.
 */
export function delegate(parent: SignedStatement, holderKey: PrivateKey, delegation: Delegation): SignedStatement {
  const { holder, boundTo, nonce, narrower = {} } = delegation;
  const above = readPayload(parent.payloadType, parent.payload, GrantSchema);
  const { publicKey } = holderKey;
  if (!sameBytes(publicKey.thumbprint, above.holderKey) || !sameBytes(publicKey.raw, above.holderPublicKey)) {
    throw new SignatureInvalid({
      expected: `the holder key of the parent, ${toWire(above.holderKey)}`,
      presented: publicKey.keyId,
    });
  }
  const child = childOf(above, narrower);
  const delegatedBy = create(PrincipalRefSchema, referenceOf(above.holder));
  child.delegatedBy = delegatedBy;
  child.actorChain.push(delegatedBy);
  child.holder = create(PrincipalRefSchema, referenceOf(holder));
  [child.holderKey, child.holderPublicKey] = credentialOf(boundTo);
  child.parentDigest = digestOf(parent);
  child.nonce = nonce;
  requireShape(child);
  requireNarrower(above, child.parentDigest, child);
  return sign(GrantSchema, child, holderKey);
}

/** All dimensions, said again or narrower; who is who is filled in by the caller. */
function childOf(parent: Grant, narrower: Narrower): Grant {
  const child = clone(GrantSchema, parent);
  child.issuer = "";
  for (const field of [...EXACT, ...SELECTORS]) {
    child[field] = create(GrantedNamesSchema, { names: [...(narrower[field] ?? parent[field]?.names ?? [])] });
  }
  for (const field of AMOUNTS) {
    child[field] = create(GrantedAmountSchema, {
      most: amountOf(field, narrower[field]) ?? parent[field]?.most ?? 0n,
    });
  }
  for (const field of FLAGS) {
    child[field] = create(GrantedFlagSchema, { allowed: narrower[field] ?? parent[field]?.allowed ?? false });
  }
  if (narrower.notBeforeMs !== undefined) child.notBeforeTime = timestamp(narrower.notBeforeMs);
  if (narrower.expireMs !== undefined) child.expireTime = timestamp(narrower.expireMs);
  child.delegationDepth = depthOf(parent, narrower.delegationDepth);
  if (narrower.correlationId !== undefined) child.correlationId = narrower.correlationId;
  return child;
}

function depthOf(parent: Grant, wanted: number | undefined): number {
  if (parent.delegationDepth === 0) {
    throw new GrantExceeded("delegation_depth", {
      expected: "a parent from which may be derived",
      presented: "depth 0",
    });
  }
  const depth = wanted ?? parent.delegationDepth - 1;
  if (!Number.isInteger(depth) || depth < 0) {
    throw new GrantMalformed("delegation_depth", { expected: "a depth of 0 or more", presented: String(depth) });
  }
  return depth;
}

/** The digest that names it, and the raw key when it can sign. */
function credentialOf(boundTo: PublicKey | Uint8Array): readonly [Uint8Array, Uint8Array] {
  if (!(boundTo instanceof Uint8Array)) return [boundTo.thumbprint, boundTo.raw];
  if (boundTo.length !== DIGEST_BYTES) {
    throw new GrantMalformed("holder_key", {
      expected: `a digest of ${DIGEST_BYTES} bytes`,
      presented: `${boundTo.length}`,
    });
  }
  return [boundTo, new Uint8Array()];
}
