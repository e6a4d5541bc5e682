/**
 * What upstream's own verifier of signed action envelopes asks of its surroundings, answered by an authority.
 *
 *     import { verifySignedProductActionEnvelope } from "@claude-flow/security/policy/product-plane";
 *
 *     const hooks = createAuthorityHooks(client);
 *     const options = { expectedAudience, expectedTenantRef, ...hooks };
 *     const verdict = await verifySignedProductActionEnvelope(signed, options);
 *
 * The client's principal is a service (InteropService). Nothing passes that the authority did not allow: where it
 * refuses to answer, cannot be reached or is slow, a hook throws, and upstream denies with `verification_error`.
 * Nothing is kept by which a withdrawn key, capability or grant would pass later.
 */

import { type KeyObject, createPublicKey } from "node:crypto";

import { NotFound } from "../client/errors.js";
import type { ActionVerdict, EnvelopeVerdicts, InteropVerbs } from "../client/verbs/interop.js";
import { canonicalize, sha256, toWire } from "../offline/index.js";
import { SignerMemory } from "./signers.js";

/** Milliseconds that a hook may take, with all attempts, unless told otherwise. */
export const HOOK_TIMEOUT_MS = 5_000;

/**
 * Milliseconds for which the verdict on one envelope serves both of its hooks, which upstream calls one after the
 * other.
 */
const VERDICT_LIFETIME_MS = 1_000;

/** What is verified by `verifySignature`. */
export interface SignedBytes {
  readonly keyId: string;
  /** The RFC 8785 form of the envelope as received. */
  readonly canonicalBytes: Uint8Array;
  /** 64 bytes, Ed25519. */
  readonly signature: Uint8Array;
}

/** What is reserved before an envelope passes. */
export interface ReplayClaim {
  readonly key: string;
  /** "sha256:…" of the envelope's canonical form. */
  readonly bindingDigest: string;
  /** From when on nobody accepts the envelope, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** A decision; `reason` says why not, by the reason of the error table and what it names. */
export interface HookDecision {
  readonly allowed: boolean;
  readonly reason?: string;
}

/** The five hooks, under upstream's names. Spread all of them into its options. */
export interface AuthorityHooks {
  /**
   * The key of this id, active now; undefined for any other. Upstream asks it only where it is not given
   * `verifySignature`; then it does not tell who signed, and `policyVerifier` denies what it knows no signer of.
   */
  resolveKey(issuer: string, keyId: string): Promise<KeyObject | undefined>;
  /** Whether the key of this id, active now, signed these bytes; remembers who did for the next two. */
  verifySignature(signed: SignedBytes): Promise<boolean>;
  /** Whether what `policyReceiptId` names allows the action now. */
  policyVerifier(envelope: object): Promise<HookDecision>;
  /** Whether what `capabilityId` names allows it now, to whoever signed. */
  capabilityVerifier(envelope: object): Promise<HookDecision>;
  readonly replayStore: {
    /** "reserved" for one of all that ask with this key, in all processes of the tenant. */
    reserve(claim: ReplayClaim): Promise<"reserved" | "replay" | "conflict">;
  };
}

/** How the hooks behave. */
export interface HookOptions {
  /** Milliseconds that one hook may take, with all attempts; `HOOK_TIMEOUT_MS` unless given. */
  readonly timeoutMs?: number | undefined;
  /** Gives up whatever hooks are asking: each then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds that never go back. */
  readonly clock?: (() => number) | undefined;
}

/** What of a client the hooks ask. */
export type InteropClient = Pick<InteropVerbs, "resolveKey" | "verifyActionEnvelope" | "reserveReplay">;

/** The five hooks of `verifySignedProductActionEnvelope`, answered by the authority that `client` is connected to. */
export function createAuthorityHooks(client: InteropClient, options: HookOptions = {}): AuthorityHooks {
  const { timeoutMs = HOOK_TIMEOUT_MS, signal, clock = () => performance.now() } = options;
  const call = { timeoutMs, signal };
  const signers = new SignerMemory(clock);
  const verdicts = new Verdicts(clock, (bytes, digest) => judge(client, signers.of(digest), bytes, call));
  return {
    resolveKey: async (_issuer, keyId) => {
      const found = await ifFound(client.resolveKey(keyId, call));
      return found && keyObjectOf(found.publicKey.raw);
    },
    verifySignature: async ({ keyId, canonicalBytes, signature }) => {
      const found = await ifFound(client.resolveKey(keyId, call));
      const isSigned = found !== undefined && found.publicKey.verify(signature, canonicalBytes);
      if (isSigned) {
        // By its thumbprint: a name may stand for another key by the time the others are asked.
        signers.remember(digestText(canonicalBytes), found.keyId);
      }
      return isSigned;
    },
    policyVerifier: async (envelope) => decision((await verdicts.of(envelope)).policy),
    capabilityVerifier: async (envelope) => decision((await verdicts.of(envelope)).capability),
    replayStore: { reserve: (claim) => reserve(client, claim, call) },
  };
}

interface Call {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * The verdict on an envelope object, asked for once for both hooks, and again when it has grown old, or says something
 * else by now: a caller may use one object for one envelope after the other.
 */
class Verdicts {
  readonly #known = new WeakMap<object, Known>();

  constructor(
    private readonly clock: () => number,
    private readonly ask: (bytes: Uint8Array, digest: string) => Promise<EnvelopeVerdicts>,
  ) {}

  async of(envelope: object): Promise<EnvelopeVerdicts> {
    const bytes = canonicalize(envelope);
    const digest = digestText(bytes);
    const now = this.clock();
    const known = this.#known.get(envelope);
    if (known !== undefined && known.digest === digest && now - known.since < VERDICT_LIFETIME_MS) {
      return known.verdicts;
    }
    const verdicts = this.ask(bytes, digest);
    this.#known.set(envelope, { digest, since: now, verdicts });
    return verdicts;
  }
}

interface Known {
  readonly digest: string;
  readonly since: number;
  readonly verdicts: Promise<EnvelopeVerdicts>;
}

const UNSIGNED: ActionVerdict = {
  allowed: false,
  reason: "CALLER_UNAUTHENTICATED",
  facts: { proof: "no signature over this envelope was verified by verifySignature" },
};

/**
 * What the authority says of an envelope that was signed: by one key as a rule. Where several signed the same bytes, it
 * is enough that one of them may do this, for then its owner asked for exactly this.
 */
async function judge(
  client: InteropClient,
  signers: readonly string[],
  bytes: Uint8Array,
  call: Call,
): Promise<EnvelopeVerdicts> {
  let found: EnvelopeVerdicts = { policy: UNSIGNED, capability: UNSIGNED, receiptId: "" };
  for (const keyId of signers) {
    found = await client.verifyActionEnvelope(bytes, { keyId, ...call });
    if (found.policy.allowed && found.capability.allowed) {
      break;
    }
  }
  return found;
}

async function reserve(
  client: InteropClient,
  claim: ReplayClaim,
  call: Call,
): Promise<"reserved" | "replay" | "conflict"> {
  const { key, bindingDigest, expiresAt } = claim;
  const { outcome } = await client.reserveReplay(key, {
    envelopeDigest: bindingDigest,
    expireTime: new Date(expiresAt),
    ...call,
  });
  if (outcome === "reserved" || outcome === "replay" || outcome === "conflict") {
    return outcome;
  }
  throw new TypeError(`the authority answers a reservation with ${JSON.stringify(outcome)}`);
}

/** What is there; undefined for what is not, so that it is told from an authority that does not answer. */
async function ifFound<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof NotFound) {
      return undefined;
    }
    throw error;
  }
}

function decision({ allowed, reason, facts }: ActionVerdict): HookDecision {
  if (allowed) {
    return { allowed };
  }
  const named = Object.entries(facts).map(([name, value]) => `${name}: ${value}`);
  return { allowed, reason: [reason, ...named].join(", ") };
}

function keyObjectOf(raw: Uint8Array): KeyObject {
  return createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: Buffer.from(raw).toString("base64url") },
    format: "jwk",
  });
}

function digestText(bytes: Uint8Array): string {
  return toWire(sha256(bytes));
}
