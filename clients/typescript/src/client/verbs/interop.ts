/** Verbs of InteropService: what a verifier of signed action envelopes asks before it lets an action pass. */

import { create } from "@bufbuild/protobuf";

import { KeyRefused, type PublicKey, publicKeyOf } from "../../offline/index.js";
import {
  ReserveReplayRequestSchema,
  ReserveReplayResponseSchema,
  ReserveReplayResponse_OutcomeSchema,
  ResolveKeyRequestSchema,
  ResolveKeyResponseSchema,
  VerifyActionEnvelopeRequestSchema,
  VerifyActionEnvelopeResponseSchema,
  type VerifyActionEnvelopeResponse_Verdict,
  VerifyActionEnvelopeResponse_Verdict_Outcome,
} from "../../proto/capability_authority/v1/interop_service_pb.js";
import { PrincipalKindSchema } from "../../proto/capability_authority/v1/types_pb.js";
import type { CallOptions } from "../call-options.js";
import { dateOf, timeMessage } from "../times.js";
import { type Reference, reference } from "../values.js";
import { wordOf } from "../words.js";
import { reasonName } from "./capabilities.js";
import { GrantVerbs } from "./grants.js";

/** A key by which signatures may be verified: it was active, and so was whose it is, when it was looked up. */
export interface ResolvedKey {
  /** Its thumbprint, whatever it was called. */
  readonly keyId: string;
  readonly publicKey: PublicKey;
  readonly principal: Reference;
  /** For example "service". */
  readonly principalKind: string;
  /** When it was registered. */
  readonly createTime: Date;
  /** When it was looked up. */
  readonly asOfTime: Date;
}

/** What became of a reservation. */
export interface ReplayReservation {
  /** "reserved", "replay" (the same envelope passed before, or may have) or "conflict" (another one did). */
  readonly outcome: string;
  /** Whether this same request was told "reserved" before. */
  readonly replayed: boolean;
}

/** Whether one side allows an action. */
export interface ActionVerdict {
  readonly allowed: boolean;
  /** The name of an ErrorReason without its prefix; empty when allowed. */
  readonly reason: string;
  /** What the denial names, such as `term` or `dimension`. */
  readonly facts: Readonly<Record<string, string>>;
}

/** What the authority says now of what an envelope's ids stand for. Nothing was used up. */
export interface EnvelopeVerdicts {
  /** Of what `policyReceiptId` names. */
  readonly policy: ActionVerdict;
  /** Of what `capabilityId` names, to whoever signed. */
  readonly capability: ActionVerdict;
  /** Of the commit that consumed the capability, which denies it; else empty. */
  readonly receiptId: string;
}

/** For principals of kind service: whose key signed, what policy and capability say, and that it passes once. */
export class InteropVerbs extends GrantVerbs {
  /**
   * The key that a signed envelope names by its thumbprint, or by a name that an operator registered.
   *
   * @throws {AuthorityError} `NotFound` for every key by which nothing is to be verified, unknown and revoked alike.
   * @throws {KeyRefused} (of `offline`) for an answer that is no public key, or another than was asked for.
   */
  async resolveKey(keyId: string, options: CallOptions = {}): Promise<ResolvedKey> {
    const request = create(ResolveKeyRequestSchema, { keyId });
    const response = await this.send(request, ResolveKeyResponseSchema, options);
    const publicKey = publicKeyOf(response.publicKey);
    const isOther = keyId.startsWith("sha256:") && keyId !== response.keyId;
    if (isOther || response.keyId !== publicKey.keyId) {
      throw new KeyRefused(`${keyId} was answered by the key ${publicKey.keyId}, called ${response.keyId}`);
    }
    return {
      keyId: response.keyId,
      publicKey,
      principal: reference(response.principal),
      principalKind: wordOf(PrincipalKindSchema, response.principalKind),
      createTime: dateOf(response.createTime),
      asOfTime: dateOf(response.asOfTime),
    };
  }

  /**
   * Let an envelope pass once: of all that reserve `replayKey`, in all processes, one is told "reserved".
   *
   * `expireTime` is when the envelope can no longer be accepted, at most 30 days ahead. A retry of this call is the
   * same request, and so is a later one with its `requestId`.
   *
   * @throws {AuthorityError} `Expired`, `LimitExceeded`; `Unavailable` and the like when nobody knows whether it was
   *   reserved: then the envelope must not pass.
   */
  async reserveReplay(
    replayKey: string,
    options: CallOptions & {
      /** "sha256:…" of the envelope's canonical bytes. */
      readonly envelopeDigest: string;
      readonly expireTime: Date;
      readonly requestId?: string | undefined;
    },
  ): Promise<ReplayReservation> {
    const { envelopeDigest, requestId = "" } = options;
    const expireTime = timeMessage(options.expireTime);
    const request = create(ReserveReplayRequestSchema, { requestId, replayKey, envelopeDigest, expireTime });
    const { outcome, replayed } = await this.send(request, ReserveReplayResponseSchema, options);
    return { outcome: wordOf(ReserveReplayResponse_OutcomeSchema, outcome), replayed };
  }

  /**
   * Ask what policy and capability say of an envelope whose signature, by the key `keyId`, the caller verified.
   *
   * `envelopeJson` is what was signed, without its wrapper, as JSON. A denial is an answer.
   *
   * @throws {AuthorityError} when the question itself is refused.
   */
  async verifyActionEnvelope(
    envelopeJson: Uint8Array,
    options: CallOptions & { readonly keyId: string },
  ): Promise<EnvelopeVerdicts> {
    const request = create(VerifyActionEnvelopeRequestSchema, { envelopeJson, keyId: options.keyId });
    const response = await this.send(request, VerifyActionEnvelopeResponseSchema, options);
    return {
      policy: verdictOf(response.policy),
      capability: verdictOf(response.capability),
      receiptId: response.receiptId,
    };
  }
}

/** Whatever is not plainly allowed is denied. */
function verdictOf(verdict: VerifyActionEnvelopeResponse_Verdict | undefined): ActionVerdict {
  return {
    allowed: verdict?.outcome === VerifyActionEnvelopeResponse_Verdict_Outcome.ALLOWED,
    reason: reasonName(verdict?.reason ?? 0),
    facts: verdict?.facts ?? {},
  };
}
