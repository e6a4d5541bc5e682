/**
 * Judging statements against the keys of a pinned issuer, without a server (semantics §3).
 *
 * A statement proves something only if it was signed by a key of the purpose that its payload type calls for, that may
 * sign for its tenant and memory namespace, that still counts, and if it names the pinned issuer.
 */

import type { DescMessage, Message, MessageShape } from "@bufbuild/protobuf";

import {
  type CommitReceipt,
  CommitReceiptSchema,
  KeyAttestationSchema,
  type SignedStatement,
} from "../proto/capability_authority/v1/statements_pb.js";
import { KeyPurpose, KeyPurposeSchema, KeyStateSchema } from "../proto/capability_authority/v1/types_pb.js";
import { sameBytes, toHex } from "./bytes.js";
import { claimsOf } from "./claims.js";
import { sha256, toWire } from "./digests.js";
import {
  AttestationInvalid,
  ContentMismatch,
  IssuerMismatch,
  KeyPurposeMismatch,
  KeyRevoked,
  KeyScopeMismatch,
  KeyUnknown,
  PayloadTypeMismatch,
} from "./errors.js";
import type { Reference } from "./invocation.js";
import { keyCovers, type KeyRecord, type KeySet, keyVerifies } from "./key-set.js";
import {
  COMMIT_CAPABILITY,
  COMMIT_RECEIPT,
  DECISION_RECEIPT,
  EVIDENCE_CLAIM,
  GRANT,
  INVOCATION,
  KEY_ATTESTATION,
  PAYLOAD_SCHEMAS,
  payloadTypeOf,
  REVOCATION,
  REVOCATION_HEARTBEAT,
  VALIDATION_RECEIPT,
} from "./payload-types.js";
import type { RevocationView } from "./revocations.js";
import { digestOf, openStatement } from "./statements.js";

/**
 * The one key purpose that may sign each payload type. A grant that its parent's holder derived is signed by the holder
 * key that the parent binds: `verifyGrantChain`.
 */
export const PURPOSES: ReadonlyMap<string, KeyPurpose> = new Map([
  [COMMIT_CAPABILITY, KeyPurpose.CAPABILITY],
  [VALIDATION_RECEIPT, KeyPurpose.VALIDATION],
  [DECISION_RECEIPT, KeyPurpose.DECISION],
  [GRANT, KeyPurpose.GRANT],
  [COMMIT_RECEIPT, KeyPurpose.RECEIPT],
  [KEY_ATTESTATION, KeyPurpose.RECEIPT],
  [REVOCATION, KeyPurpose.REVOCATION],
  [REVOCATION_HEARTBEAT, KeyPurpose.REVOCATION],
  [INVOCATION, KeyPurpose.HOLDER],
  [EVIDENCE_CLAIM, KeyPurpose.HOLDER],
]);

/** What else a verifier may know. */
export interface VerifyOptions {
  /** What a feed has told (`RevocationFeed.view`): what the statement rests on must not have been withdrawn. */
  readonly revocations?: RevocationView | undefined;
}

/** What else may be known of a receipt. */
export interface ReceiptOptions extends VerifyOptions {
  /** Looked at when the key that signed the receipt was revoked since: it must vouch for exactly this statement. */
  readonly attestation?: SignedStatement | undefined;
  /** The receipt must be for exactly these bytes. */
  readonly content?: Uint8Array | undefined;
}

/**
 * Verify a statement of any kind; what it says, as the message of its payload type.
 *
 * @throws as `verifyAs`, with `PayloadTypeMismatch` for a payload type that is unknown or never signed.
 */
export function verifyStatement(statement: SignedStatement, keySet: KeySet, options: VerifyOptions = {}): Message {
  const schema = PURPOSES.has(statement.payloadType) ? PAYLOAD_SCHEMAS.get(statement.payloadType) : undefined;
  if (schema === undefined) {
    throw new PayloadTypeMismatch({ expected: "a payload type of a statement", presented: statement.payloadType });
  }
  return verifyAs(statement, keySet, schema, options);
}

/**
 * Verify a statement of the kind `expected`; what it says.
 *
 * With `revocations` what it rests on must not have been withdrawn: the key that signed it, and a capability's id,
 * holder, holder key, approval and grant, a decision's holder and approvals, a receipt's record, or a grant, its
 * parent, its principals and its holder's key. Times are not judged: whether a capability or receipt has expired is
 * asked against a clock, which is the caller's.
 *
 * @throws in this order: `PayloadTypeMismatch`, `KeyUnknown`, `KeyPurposeMismatch`, `EnvelopeRefused`,
 * `SignatureInvalid`, `PayloadRefused`, `IssuerMismatch`, `KeyScopeMismatch`, `KeyRevoked`, `Withdrawn`.
 */
export function verifyAs<Desc extends DescMessage>(
  statement: SignedStatement,
  keySet: KeySet,
  expected: Desc,
  { revocations }: VerifyOptions = {},
): MessageShape<Desc> {
  const { message, record } = open(statement, keySet, expected);
  if (!counts(record, revocations)) {
    throw new KeyRevoked({ expected: "an active or retiring key", presented: described(record) });
  }
  revocations?.requireStanding(message, digestOf(statement));
  return message;
}

/**
 * Verify a commit receipt; what it says. With `revocations` the record must not have been withdrawn since; the receipt
 * proves all the same that it was written.
 *
 * @throws as `verifyAs`, and `AttestationInvalid`, `ContentMismatch`.
 */
export function verifyReceipt(statement: SignedStatement, keySet: KeySet, options: ReceiptOptions = {}): CommitReceipt {
  const { attestation, content, revocations } = options;
  const { message: receipt, record } = open(statement, keySet, CommitReceiptSchema);
  if (!counts(record, revocations)) {
    if (attestation === undefined) {
      throw new KeyRevoked({
        expected: "an active or retiring key, or an attestation",
        presented: described(record),
      });
    }
    requireVouched(statement, receipt, attestation, keySet, revocations);
  }
  const bound = receipt.capability?.contentDigest ?? new Uint8Array();
  if (content !== undefined && !sameBytes(sha256(content), bound)) {
    throw new ContentMismatch({ expected: `sha256:${toHex(bound)}`, presented: toWire(sha256(content)) });
  }
  revocations?.requireStanding(receipt);
  return receipt;
}

/** Whether signatures of the key count, by the key set and by the feed, which may be newer. */
function counts(record: KeyRecord, revocations: RevocationView | undefined): boolean {
  return keyVerifies(record) && !(revocations?.revokesKey(record.publicKey.keyId) ?? false);
}

interface Opened<Desc extends DescMessage> {
  readonly message: MessageShape<Desc>;
  readonly record: KeyRecord;
}

/** The message and its signer, once everything holds but that the key still counts. */
function open<Desc extends DescMessage>(statement: SignedStatement, keySet: KeySet, expected: Desc): Opened<Desc> {
  const record = signerOf(statement, keySet, expected);
  const message = openStatement(statement, { expected, keys: () => record.publicKey });
  const claims = claimsOf(message);
  if (claims.issuer !== undefined && claims.issuer !== keySet.issuer) {
    throw new IssuerMismatch({ expected: keySet.issuer, presented: claims.issuer });
  }
  requireScope(record, claims.tenant, claims.memoryNamespace);
  return { message, record };
}

function signerOf(statement: SignedStatement, keySet: KeySet, expected: DescMessage): KeyRecord {
  const payloadType = payloadTypeOf(expected);
  const purpose = PURPOSES.get(payloadType);
  if (statement.payloadType !== payloadType || purpose === undefined) {
    throw new PayloadTypeMismatch({ expected: payloadType, presented: statement.payloadType });
  }
  const keyId = statement.signature?.keyId ?? "";
  const record = keySet.record(keyId);
  if (record === undefined) throw new KeyUnknown({ expected: `a trusted key of ${keySet.issuer}`, presented: keyId });
  if (record.purpose !== purpose) {
    throw new KeyPurposeMismatch({ expected: purposeName(purpose), presented: purposeName(record.purpose) });
  }
  return record;
}

function requireScope(record: KeyRecord, tenant: Reference, memoryNamespace: string | undefined): void {
  if (keyCovers(record, tenant, memoryNamespace)) return;
  const only = record.tenant === undefined ? "any" : tenantName(record.tenant);
  throw new KeyScopeMismatch({
    expected: `tenant ${only}, memory namespace ${record.memoryNamespace ?? "any"}`,
    presented: `tenant ${tenantName(tenant)}, memory namespace ${memoryNamespace || "none"}`,
  });
}

function requireVouched(
  statement: SignedStatement,
  receipt: CommitReceipt,
  attestation: SignedStatement,
  keySet: KeySet,
  revocations: RevocationView | undefined,
): void {
  const { message: vouching, record } = open(attestation, keySet, KeyAttestationSchema);
  if (!counts(record, revocations)) {
    throw new KeyRevoked({ expected: "an attestation by an active or retiring key", presented: described(record) });
  }
  const { tenant, memoryNamespace } = claimsOf(receipt);
  const { keyId = "", signature = new Uint8Array() } = statement.signature ?? {};
  requireScope(record, tenant, memoryNamespace);
  requireEqual("tenant", tenantName(tenant), tenantName(claimsOf(vouching).tenant));
  requireEqual("statement_digest", toHex(digestOf(statement)), toHex(vouching.statementDigest));
  requireEqual("signature_digest", toHex(sha256(signature)), toHex(vouching.signatureDigest));
  requireEqual("key_id", keyId, vouching.keyId);
}

function requireEqual(term: string, expected: string, presented: string): void {
  if (presented !== expected) {
    throw new AttestationInvalid({ expected: `${term} ${expected}`, presented: `${term} ${presented}` });
  }
}

function tenantName(tenant: Reference): string {
  return `${JSON.stringify(tenant.namespace)} ${JSON.stringify(tenant.id)}`;
}

function described(record: KeyRecord): string {
  const state = KeyStateSchema.value[record.state]?.name ?? `state ${record.state}`;
  const since = record.compromisedSinceMs;
  return `${record.publicKey.keyId}, ${state}${since === undefined ? "" : `, compromised since ${since} ms`}`;
}

function purposeName(purpose: KeyPurpose): string {
  return KeyPurposeSchema.value[purpose]?.name ?? `purpose ${purpose}`;
}
