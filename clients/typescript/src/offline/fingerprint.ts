/** The request fingerprint: what makes two commits the same commit (semantics §4). */

import type { CommitCapability } from "../proto/capability_authority/v1/statements_pb.js";
import { joinBytes, utf8 } from "./bytes.js";
import { fromWire, sha256, toWire } from "./digests.js";

/** The first of the terms: with another one the same request has another fingerprint. */
export const FINGERPRINT_LABEL = "capability-authority/fingerprint/v1";

const LENGTH_BYTES = 4;

/** What is presented with a commit. */
export interface Presented {
  /** In wire form. */
  readonly contentDigest: string;
  readonly mediaType: string;
  /** In wire form; their order matters (case D10). */
  readonly evidenceDigests: readonly string[];
}

/** Every term of a request. */
export interface RequestTerms extends Presented {
  readonly tenantNamespace: string;
  readonly tenantId: string;
  readonly memoryNamespace: string;
  readonly holderNamespace: string;
  readonly holderId: string;
  readonly audience: string;
  readonly proposalId: string;
  readonly proposalRevision: number;
  /** In wire form. */
  readonly proposalDigest: string;
  readonly validatorProfile: string;
  readonly validatorProfileVersion: string;
}

/**
 * SHA-256 over the terms, after the label: 32 bytes.
 *
 * Each part is its UTF-8 after its length as an unsigned 32-bit big-endian number; numbers are decimal, and the
 * evidence digests come after their count, so no byte can be moved between neighbours (case D11).
 *
 * `contentDigest`, `mediaType` and `evidenceDigests` are those presented with the commit, all other terms those of the
 * capability. Receipts, policy version, approval, capability id, times and correlation stay out, so that a re-issued
 * capability replays (case D14).
 *
 * @throws {DigestError} for a digest that is not in wire form.
 */
export function requestFingerprint(terms: RequestTerms): Uint8Array {
  for (const digest of [terms.proposalDigest, terms.contentDigest, ...terms.evidenceDigests]) fromWire(digest);
  const parts = [
    FINGERPRINT_LABEL,
    terms.tenantNamespace,
    terms.tenantId,
    terms.memoryNamespace,
    terms.holderNamespace,
    terms.holderId,
    terms.audience,
    terms.proposalId,
    String(terms.proposalRevision),
    terms.proposalDigest,
    terms.contentDigest,
    terms.mediaType,
    String(terms.evidenceDigests.length),
    ...terms.evidenceDigests,
    terms.validatorProfile,
    terms.validatorProfileVersion,
  ];
  return sha256(joinBytes(parts.flatMap(lengthPrefixed)));
}

/**
 * The request fingerprint of presenting these digests and media type with `capability`: 32 bytes.
 *
 * @throws {DigestError} for a digest in another form, also for one in the capability that is not 32 bytes.
 */
export function capabilityFingerprint(capability: CommitCapability, presented: Presented): Uint8Array {
  return requestFingerprint({
    tenantNamespace: capability.tenant?.namespace ?? "",
    tenantId: capability.tenant?.id ?? "",
    memoryNamespace: capability.memoryNamespace,
    holderNamespace: capability.holder?.namespace ?? "",
    holderId: capability.holder?.id ?? "",
    audience: capability.audience,
    proposalId: capability.proposalId,
    proposalRevision: capability.proposalRevision,
    proposalDigest: toWire(capability.proposalDigest),
    ...presented,
    validatorProfile: capability.validatorProfile,
    validatorProfileVersion: capability.validatorProfileVersion,
  });
}

function lengthPrefixed(part: string): readonly Uint8Array[] {
  const text = utf8(part);
  const length = new Uint8Array(LENGTH_BYTES);
  new DataView(length.buffer).setUint32(0, text.length);
  return [length, text];
}
