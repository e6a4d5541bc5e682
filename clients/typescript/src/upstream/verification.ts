/**
 * Verifies a signed envelope in upstream's order.
 *
 * Structure, audience, tenant, clock, signature, policy, capability; and the reservation against replays last, so that
 * nothing that is denied uses anything up.
 */

import type { KeyObject } from "node:crypto";

import { fromBase64 } from "../offline/bytes.js";
import { sha256, toWire } from "../offline/digests.js";
import { KeyRefused } from "../offline/errors.js";
import { type PublicKey, publicKeyOf } from "../offline/keys.js";
import { ALGORITHM, type ReadEnvelope, readSignedEnvelope } from "./signed.js";
import { type ActionEnvelope, type ActionEnvelopeRefused, type ActionRef, type Denial, refused } from "./values.js";
import { ACTIONS } from "./vocabulary.js";

/** How old an envelope may be. */
export const MOST_AGE_MS = 5 * 60_000;
/** How far the clock of whoever made it may be ahead. */
export const MOST_SKEW_MS = 30_000;

/** What a policy or a holder of grants says of an envelope. */
export type Decision = boolean | { readonly allowed: boolean; readonly reason?: string | undefined };

/** What a store of replays says of an envelope. */
export type Reservation = "reserved" | "replay" | "conflict";

/** What must be remembered of an envelope, so that it is used once. */
export interface ReplayClaim {
  readonly key: string;
  /** Of the envelope's canonical form, as "sha256:…". */
  readonly bindingDigest: string;
  /** Until when it must be remembered, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** What `verifySignature` is asked about. */
export interface SignedBytes {
  readonly issuer: string;
  readonly keyId: string;
  readonly algorithm: "Ed25519";
  /** The RFC 8785 form of the envelope as received. */
  readonly canonicalBytes: Uint8Array;
  /** 64 bytes. */
  readonly signature: Uint8Array;
}

/**
 * What is asked of the world, under the names that upstream's own verifier has for it, so that the hooks of one serve
 * the other. Whatever a hook throws denies with `verification_error`.
 */
export interface EnvelopeHooks {
  /** The issuer's key of this id. One of small order is treated as unknown (case E03). */
  readonly resolveKey?:
    ((issuer: string, keyId: string) => Awaitable<PublicKey | KeyObject | undefined | null>) | undefined;
  /** Whether the issuer's key of this id signed these bytes. Where it is given, `resolveKey` is not asked. */
  readonly verifySignature?: ((signed: SignedBytes) => Awaitable<boolean>) | undefined;
  readonly policyVerifier: (envelope: ActionEnvelope) => Awaitable<Decision>;
  readonly capabilityVerifier: (envelope: ActionEnvelope) => Awaitable<Decision>;
  /** Reserves atomically. */
  readonly replayStore: { readonly reserve: (claim: ReplayClaim) => Awaitable<Reservation> };
}

type Awaitable<Value> = Value | PromiseLike<Value>;

/** Where and when an envelope arrives. */
export interface Arrival {
  readonly audience: string;
  readonly tenant: ActionRef;
  /** The verifier's clock, in milliseconds since 1970. */
  readonly nowMs: number;
  readonly hooks: EnvelopeHooks;
}

/** An envelope that may be acted on. */
export interface VerifiedActionEnvelope {
  readonly ok: true;
  readonly envelope: ActionEnvelope;
  /** Of its canonical form, as "sha256:…". */
  readonly canonicalDigest: string;
  readonly replayKey: string;
}

/**
 * Judges what a JSON parser made of a signed envelope; every value is answered. Text is better given to
 * `readSignedEnvelopeJson` first: JSON.parse keeps one of two equal keys.
 */
export async function verifySignedActionEnvelope(
  signed: unknown,
  { audience, tenant, nowMs, hooks }: Arrival,
): Promise<VerifiedActionEnvelope | ActionEnvelopeRefused> {
  // Read whole before anything is awaited: what the caller changes meanwhile is not looked at again.
  const found = readSignedEnvelope(signed);
  if (!found.ok) return found;
  const early =
    judgeDestination(found.envelope, audience, tenant) ?? judgeTimes(found.envelope, nowMs) ?? judgeEncoding(found);
  if (early !== undefined) return refused(early);
  try {
    return (
      (await judgeKey(found, hooks)) ?? (await judgeRights(found.envelope, hooks)) ?? (await reserve(found, hooks))
    );
  } catch {
    // Whatever a hook stumbles over, it has allowed nothing.
    return refused("verification_error");
  }
}

/** `audience_mismatch`, `tenant_mismatch` or nothing. */
export function judgeDestination(envelope: ActionEnvelope, audience: string, tenant: ActionRef): Denial | undefined {
  if (envelope.audience !== audience) return "audience_mismatch";
  const isSame = envelope.tenantRef.namespace === tenant.namespace && envelope.tenantRef.id === tenant.id;
  return isSame ? undefined : "tenant_mismatch";
}

/** `not_yet_valid` beyond the skew, `stale` beyond five minutes, `expired` from the boundary on, or nothing. */
export function judgeTimes(envelope: ActionEnvelope, nowMs: number): Denial | undefined {
  // A clock that is no number would hold nothing to be stale.
  if (!Number.isFinite(nowMs)) return "verification_error";
  const occurredMs = Date.parse(envelope.occurredAt);
  if (occurredMs > nowMs + MOST_SKEW_MS) return "not_yet_valid";
  if (nowMs - occurredMs > MOST_AGE_MS) return "stale";
  return expireMs(envelope) <= nowMs ? "expired" : undefined;
}

/** `invalid_envelope` when it has no canonical form, or nothing. */
export function judgeEncoding(signed: ReadEnvelope): Denial | undefined {
  return signed.canonical === undefined ? "invalid_envelope" : undefined;
}

/** `signature_invalid` unless exactly this key signed the envelope's canonical form. */
export function judgeSignature(signed: ReadEnvelope, key: PublicKey): Denial | undefined {
  const isSigned = signed.canonical !== undefined && key.verify(signed.signature, signed.canonical);
  return isSigned ? undefined : "signature_invalid";
}

/** SHA-256 over the envelope's canonical form, as "sha256:…"; of one without such a form, over nothing. */
export function envelopeDigest(signed: ReadEnvelope): string {
  return toWire(sha256(signed.canonical ?? new Uint8Array()));
}

/** Under which an envelope can be used once: who asks for what, with which idempotency key or event id. */
export function replayKey(envelope: ActionEnvelope): string {
  const parts = [
    envelope.issuer,
    referenceKey(envelope.tenantRef),
    referenceKey(envelope.subject),
    envelope.action,
    envelope.idempotencyKey ?? envelope.eventId,
  ];
  return parts.map(measured).join("");
}

async function judgeKey(signed: ReadEnvelope, hooks: EnvelopeHooks): Promise<ActionEnvelopeRefused | undefined> {
  if (hooks.verifySignature !== undefined) {
    const isSigned = await hooks.verifySignature(signedBytes(signed));
    return isSigned === true ? undefined : refused("signature_invalid");
  }
  if (hooks.resolveKey === undefined) return refused("signature_configuration_missing");
  const resolved = await hooks.resolveKey(signed.envelope.issuer, signed.keyId);
  const key = resolved ? safeKey(resolved) : undefined;
  const denial = key === undefined ? "key_not_found" : judgeSignature(signed, key);
  return denial && refused(denial);
}

function signedBytes({ envelope, keyId, canonical, signature }: ReadEnvelope): SignedBytes {
  const canonicalBytes = canonical ?? new Uint8Array();
  return { issuer: envelope.issuer, keyId, algorithm: ALGORITHM, canonicalBytes, signature };
}

/** A key that only its owner can sign for, or undefined. */
function safeKey(key: PublicKey | KeyObject): PublicKey | undefined {
  if ("verify" in key) return key;
  const { crv, x } = key.export({ format: "jwk" });
  try {
    return crv === "Ed25519" ? publicKeyOf(fromBase64(x ?? "")) : undefined;
  } catch (error) {
    if (error instanceof KeyRefused) return undefined;
    throw error;
  }
}

async function judgeRights(envelope: ActionEnvelope, hooks: EnvelopeHooks): Promise<ActionEnvelopeRefused | undefined> {
  const policy = await hooks.policyVerifier(envelope);
  if (!isAllowed(policy)) return refused("policy_denied", [], reasonOf(policy));
  const needs = ACTIONS.get(envelope.action)?.required.includes("capabilityId") ?? true;
  if (!needs && envelope.capabilityId === undefined) return undefined;
  const capability = await hooks.capabilityVerifier(envelope);
  return isAllowed(capability) ? undefined : refused("capability_denied", [], reasonOf(capability));
}

async function reserve(
  signed: ReadEnvelope,
  hooks: EnvelopeHooks,
): Promise<VerifiedActionEnvelope | ActionEnvelopeRefused> {
  const key = replayKey(signed.envelope);
  const bindingDigest = envelopeDigest(signed);
  const answer = await hooks.replayStore.reserve({ key, bindingDigest, expiresAt: expireMs(signed.envelope) });
  switch (answer) {
    case "reserved":
      return { ok: true, envelope: signed.envelope, canonicalDigest: bindingDigest, replayKey: key };
    case "replay":
      return refused("replay_detected");
    case "conflict":
      return refused("idempotency_conflict");
    default:
      return refused("verification_error");
  }
}

/** Only what is true allows: a hook in JavaScript may answer anything. */
function isAllowed(decision: Decision): boolean {
  return decision === true || (typeof decision === "object" && decision.allowed === true);
}

function reasonOf(decision: Decision): string {
  return typeof decision === "object" ? (decision.reason ?? "") : "";
}

function expireMs(envelope: ActionEnvelope): number {
  return envelope.expiresAt === undefined
    ? Date.parse(envelope.occurredAt) + MOST_AGE_MS
    : Date.parse(envelope.expiresAt);
}

function referenceKey(reference: ActionRef): string {
  return measured(reference.namespace) + measured(reference.id);
}

function measured(text: string): string {
  return `${text.length}:${text}`;
}
