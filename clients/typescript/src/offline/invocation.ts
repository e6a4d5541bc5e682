/** Invocations: proof that the holder of a registered key makes exactly this call (semantics §2). */

import { create } from "@bufbuild/protobuf";

import { InvocationSchema } from "../proto/capability_authority/v1/statements_pb.js";
import { PrincipalRefSchema, TenantRefSchema } from "../proto/capability_authority/v1/types_pb.js";
import { sha256 } from "./digests.js";
import { InvocationRefused } from "./errors.js";
import { timestamp } from "./instants.js";
import type { PrivateKey } from "./keys.js";
import { serializeStatement, sign } from "./statements.js";

/** The one metadata entry that carries the proof; a second one is refused (case I06). */
export const PROOF_METADATA_KEY = "capability-authority-proof-bin";

/** A nonce has as many bytes at least, and at most. */
export const MIN_NONCE_BYTES = 16;
export const MAX_NONCE_BYTES = 32;
/** Metadata beyond this is refused (semantics §10). */
export const MAX_PROOF_BYTES = 2048;

const METHOD = /^\/[A-Za-z0-9_.]+\/[A-Za-z0-9_]+$/;

/** A tenant or a principal. Equal ids in two namespaces are never the same (semantics §2). */
export interface Reference {
  readonly namespace: string;
  readonly id: string;
}

/** Who calls what. */
export interface Call {
  readonly privateKey: PrivateKey;
  readonly tenant: Reference;
  readonly principal: Reference;
  /** The name of the authority that is called: proofs for others are refused there. */
  readonly audience: string;
  /** The full RPC name, "/package.Service/Method". */
  readonly method: string;
  /**
   * The serialized request exactly as it will be sent (empty for a stream): serialize once, sign and send those bytes.
   */
  readonly requestBytes: Uint8Array;
  /** 16 to 32 random bytes, fresh for every call but the same when a call is retried with the same bytes. */
  readonly nonce: Uint8Array;
  /** The caller's clock in milliseconds since 1970. */
  readonly issuedMs: number;
}

/**
 * The serialized statement to send as `PROOF_METADATA_KEY`.
 *
 * @throws {InvocationRefused} for a method or nonce of another form, and when the proof would be larger than
 * `MAX_PROOF_BYTES`.
 * @throws {InstantError} for an instant out of range.
 */
export function makeInvocation(call: Call): Uint8Array {
  if (!METHOD.test(call.method)) {
    throw new InvocationRefused('a method is a full RPC name, "/package.Service/Method"');
  }
  if (call.nonce.length < MIN_NONCE_BYTES || call.nonce.length > MAX_NONCE_BYTES) {
    throw new InvocationRefused(`a nonce has ${MIN_NONCE_BYTES} to ${MAX_NONCE_BYTES} bytes, not ${call.nonce.length}`);
  }
  const invocation = create(InvocationSchema, {
    tenant: create(TenantRefSchema, call.tenant),
    principal: create(PrincipalRefSchema, call.principal),
    audience: call.audience,
    method: call.method,
    requestDigest: sha256(call.requestBytes),
    nonce: call.nonce,
    issueTime: timestamp(call.issuedMs),
  });
  const proof = serializeStatement(sign(InvocationSchema, invocation, call.privateKey));
  if (proof.length > MAX_PROOF_BYTES) {
    throw new InvocationRefused(`a proof has at most ${MAX_PROOF_BYTES} bytes, not ${proof.length}`);
  }
  return proof;
}
