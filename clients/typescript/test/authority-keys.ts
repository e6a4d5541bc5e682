/** An authority's keys and what it signs with them, for tests of what a client believes. */

import { create } from "@bufbuild/protobuf";

import {
  capabilityFingerprint,
  digestOf,
  generatePrivateKey,
  type PrivateKey,
  sha256,
  sign,
  timestamp,
  toWire,
} from "../src/offline/index.js";
import {
  type GetKeySetResponse,
  GetKeySetResponseSchema,
} from "../src/proto/capability_authority/v1/capability_service_pb.js";
import {
  type CommitCapability,
  CommitCapabilitySchema,
  CommitReceiptSchema,
  RevocationHeartbeatSchema,
  RevocationSchema,
  RevokedKind,
  type SignedStatement,
} from "../src/proto/capability_authority/v1/statements_pb.js";
import {
  KeyPurpose,
  KeyState,
  PrincipalRefSchema,
  TenantRefSchema,
} from "../src/proto/capability_authority/v1/types_pb.js";

const ISSUER = "authority.test";
export const TENANT = { namespace: "test", id: "one" };
export const CONTENT = new TextEncoder().encode("The index goes first.");

/** What a capability says in place of what the tests' own say. */
export type Changes = Partial<Omit<CommitCapability, "$typeName" | "$unknown">>;

/** A key and what it is for. */
export interface Known {
  readonly key: PrivateKey;
  readonly purpose: KeyPurpose;
}

export function known(purpose: KeyPurpose): Known {
  return { key: generatePrivateKey(), purpose };
}

/** What GetKeySet answers for these keys. */
export function keySetOf(...keys: readonly Known[]): GetKeySetResponse {
  return create(GetKeySetResponseSchema, {
    issuer: ISSUER,
    audience: "memory.test",
    keys: keys.map(({ key, purpose }) => ({
      keyId: key.publicKey.keyId,
      publicKey: key.publicKey.raw,
      purpose,
      state: KeyState.ACTIVE,
      createTime: timestamp(0),
    })),
  });
}

/** A capability of the service for CONTENT, under this key. */
export function capability({ key }: Known, changes: Changes = {}): SignedStatement {
  return sign(CommitCapabilitySchema, terms(changes), key);
}

function terms(changes: Changes): CommitCapability {
  return create(CommitCapabilitySchema, {
    capabilityId: "capability",
    issuer: ISSUER,
    audience: "memory.test",
    tenant: create(TenantRefSchema, TENANT),
    memoryNamespace: "notes",
    subject: create(PrincipalRefSchema, { namespace: "test", id: "user" }),
    holder: create(PrincipalRefSchema, { namespace: "test", id: "service" }),
    holderKey: new Uint8Array(32).fill(1),
    action: "memory.commit-validated",
    proposalId: "proposal",
    proposalRevision: 1,
    proposalDigest: new Uint8Array(32).fill(2),
    contentDigest: sha256(CONTENT),
    mediaType: "text/plain",
    evidenceDigests: [],
    validatorProfile: "baseline",
    validatorProfileVersion: "1",
    validationReceiptDigest: new Uint8Array(32).fill(3),
    policyVersion: new Uint8Array(32).fill(4),
    decisionReceiptDigest: new Uint8Array(32).fill(5),
    commitIdempotencyKey: "key",
    notBeforeTime: timestamp(0),
    expireTime: timestamp(900_000),
    maxUses: 1,
    ...changes,
  });
}

/** The receipt of committing CONTENT by that capability. */
export function receipt({ key }: Known, by: SignedStatement, changes: Changes = {}): SignedStatement {
  const bound = terms(changes);
  const presented = { contentDigest: toWire(bound.contentDigest), mediaType: bound.mediaType, evidenceDigests: [] };
  const says = create(CommitReceiptSchema, {
    receiptId: "receipt",
    issuer: ISSUER,
    recordId: "record",
    capability: bound,
    capabilityDigest: digestOf(by),
    requestFingerprint: capabilityFingerprint(bound, presented),
    commitTime: timestamp(1_000),
  });
  return sign(CommitReceiptSchema, says, key);
}

/** The item of the feed that says that a capability was withdrawn. */
export function revocation({ key }: Known, sequence: bigint, previousSequence: bigint): SignedStatement {
  const says = create(RevocationSchema, {
    issuer: ISSUER,
    tenant: create(TenantRefSchema, TENANT),
    sequence,
    previousSequence,
    kind: RevokedKind.CAPABILITY,
    subject: `capability-${sequence}`,
    revokeTime: timestamp(1_000),
  });
  return sign(RevocationSchema, says, key);
}

/** The heartbeat of a feed that goes so far. */
export function heartbeat({ key }: Known, sequence: bigint): SignedStatement {
  const tenant = create(TenantRefSchema, TENANT);
  return sign(
    RevocationHeartbeatSchema,
    create(RevocationHeartbeatSchema, { issuer: ISSUER, tenant, sequence, asOfTime: timestamp(2_000) }),
    key,
  );
}
