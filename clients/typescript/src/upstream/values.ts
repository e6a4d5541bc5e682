/** What envelopes, and verdicts on them, are made of. Names are those of the wire. */

/** Why an envelope is refused. */
export const DENIALS = [
  "malformed_signed_envelope",
  "invalid_envelope",
  "audience_mismatch",
  "tenant_mismatch",
  "not_yet_valid",
  "stale",
  "expired",
  "signature_configuration_missing",
  "key_not_found",
  "signature_invalid",
  "policy_denied",
  "capability_denied",
  "replay_detected",
  "idempotency_conflict",
  "verification_error",
] as const;
/** One of `DENIALS`. */
export type Denial = (typeof DENIALS)[number];

/** What is wrong with one field. */
export const ISSUE_CODES = [
  "invalid_type",
  "missing",
  "unknown_field",
  "unsupported_value",
  "invalid_format",
  "invalid_authority",
  "identity_namespace_required",
  "tenant_mismatch",
  "privacy_ceiling_exceeded",
] as const;
/** One of `ISSUE_CODES`. */
export type IssueCode = (typeof ISSUE_CODES)[number];

/** One thing that is wrong: where, as `$.a.b[1]`, and what. */
export interface Issue {
  readonly path: string;
  readonly code: IssueCode;
}

/** A tenant, or who acts. Equal ids in two namespaces are never the same. */
export interface ActionRef {
  readonly namespace: string;
  readonly id: string;
}

/** Where the outcome of an action is anchored. */
export interface AuthoritativeSource {
  readonly authority: string;
  readonly tenantRef: ActionRef;
  readonly sourceType: string;
  readonly sourceId: string;
  readonly sourceVersion: string;
  /** "sha256:" and 64 lowercase hexadecimal digits, as every digest here. */
  readonly sourceDigest: string;
}

/** An envelope whose structure is right. Times are `YYYY-MM-DDTHH:MM:SS.mmmZ`; what is absent is no member. */
export interface ActionEnvelope {
  readonly schemaVersion: "cognitum.action.v1";
  readonly eventId: string;
  readonly issuer: string;
  readonly audience: string;
  readonly subject: ActionRef;
  readonly actor?: ActionRef;
  readonly tenantRef: ActionRef;
  readonly action: string;
  /** 1 to 32, none of them twice. The memory namespace of a commit is among them: there is no field for it. */
  readonly resourceRefs: readonly string[];
  readonly requestDigest?: string;
  readonly contentDigest?: string;
  readonly idempotencyKey?: string;
  readonly correlationId: string;
  readonly causationId?: string;
  readonly authoritativeSource: AuthoritativeSource;
  /** A decimal number without leading zeros. */
  readonly sequence?: string;
  readonly policyReceiptId: string;
  readonly capabilityId?: string;
  readonly validationReceiptId?: string;
  readonly occurredAt: string;
  readonly expiresAt?: string;
  readonly privacyClass: string;
}

/** An envelope as it travels. */
export interface SignedActionEnvelope {
  readonly envelope: ActionEnvelope;
  readonly algorithm: "Ed25519";
  /** The thumbprint of the key, or an alias under which it is registered. */
  readonly keyId: string;
  /** The 64 bytes of the signature over the RFC 8785 form of the envelope, in base64url without padding. */
  readonly signature: string;
}

/** An envelope that proves nothing. */
export interface ActionEnvelopeRefused {
  readonly ok: false;
  readonly code: Denial;
  /** Of `malformed_signed_envelope` and `invalid_envelope`, in the order in which they were found. */
  readonly issues: readonly Issue[];
  /** What a hook said of its refusal, for people; empty when it said nothing. */
  readonly reason: string;
}

/** The refusal of an envelope. */
export function refused(code: Denial, issues: readonly Issue[] = [], reason = ""): ActionEnvelopeRefused {
  return { ok: false, code, issues, reason };
}
