/** The verbs of GrantService. */

import { create } from "@bufbuild/protobuf";

import {
  ExchangeGrantRequestSchema,
  ExchangeGrantResponseSchema,
  GetGrantRequestSchema,
  GetGrantResponseSchema,
  GetGrantResponse_StateSchema,
  type GrantTerms,
  GrantUseSchema,
  IssueGrantRequestSchema,
  IssueGrantResponseSchema,
  RevokeGrantRequestSchema,
  RevokeGrantResponseSchema,
  VerifyGrantRequestSchema,
  VerifyGrantResponseSchema,
  VerifyGrantResponse_Verdict,
} from "../../proto/capability_authority/v1/grant_service_pb.js";
import { PrincipalRefSchema } from "../../proto/capability_authority/v1/types_pb.js";
import type { CallOptions } from "../call-options.js";
import { type GrantStatus, type GrantUse, HeldGrant, grantFields } from "../grant-values.js";
import { dateOf, durationMessage } from "../times.js";
import type { Reference, Verdict, Withdrawal } from "../values.js";
import { wordOf } from "../words.js";
import { reasonName } from "./capabilities.js";
import { MemoryVerbs } from "./memory.js";

/** Who holds a new grant, and for how long. */
export interface NewHolder {
  readonly holder: Reference;
  /** What it presents the grant with: an active key of it. */
  readonly holderKeyId: string;
  /** From 1 second to 30 days, in milliseconds; a day, or as long as the parent lives, unless given. */
  readonly lifetimeMs?: number | undefined;
  readonly correlationId?: string | undefined;
  readonly requestId?: string | undefined;
}

/** Authorizations that are used more than once, and handed on narrower. */
export class GrantVerbs extends MemoryVerbs {
  /**
   * Make a root: whoever holds it acts by the subject's rights, as far as `terms` (see `grantTerms`) allow.
   *
   * `policyVersion` is the digest of a policy: the grant is good for memory namespaces under it. It may be left out
   * where all of the tenant are under one.
   *
   * @throws {AuthorityError} `NotAllowed` without the right `issue`, or for a key that is not an active one of the
   *   holder; `NotFound` for the subject or the policy; `IdempotencyConflict`.
   */
  async issueGrant(
    terms: GrantTerms,
    options: CallOptions & NewHolder & { readonly subject: Reference; readonly policyVersion?: string | undefined },
  ): Promise<HeldGrant> {
    const request = create(IssueGrantRequestSchema, {
      ...holderFields(options),
      subject: create(PrincipalRefSchema, options.subject),
      terms,
      policyVersion: options.policyVersion ?? "",
    });
    const response = await this.send(request, IssueGrantResponseSchema, options);
    return new HeldGrant(response.grant!, [], response.replayed);
  }

  /**
   * Have the authority make a child of a grant that the caller holds, for another holder.
   *
   * `terms` are no wider than the grant's in any dimension; all of them unless given. The subject stays; the caller
   * joins those who act for it.
   *
   * @throws {AuthorityError} `GrantExceeded` with the `dimension`, `HolderMismatch`, `Expired`, `Revoked`, `NotAllowed`
   *   for a key that is not an active one of the new holder, `IdempotencyConflict`.
   */
  async exchangeGrant(
    grant: HeldGrant,
    options: CallOptions & NewHolder & { readonly terms?: GrantTerms | undefined },
  ): Promise<HeldGrant> {
    const request = create(ExchangeGrantRequestSchema, {
      ...holderFields(options),
      ...grantFields(grant),
      terms: options.terms ?? grant.narrowed(),
    });
    const response = await this.send(request, ExchangeGrantResponseSchema, options);
    return new HeldGrant(response.grant!, [...grant.ancestors, grant.statement], response.replayed);
  }

  /**
   * Withdraw a grant for ever, with all that was derived from it; named by itself, or by its digest.
   *
   * As its subject, its holder, the holder of an ancestor, an admin, or who may issue. Once this resolves, nothing is
   * issued by it any more, and no commit of what was lands. One that the authority has not met yet is presented.
   *
   * @throws {AuthorityError} `NotFound` for what is not kept or not yours; `IdempotencyConflict`.
   */
  async revokeGrant(
    grant: HeldGrant | string,
    options: CallOptions & { readonly requestId?: string | undefined } = {},
  ): Promise<Withdrawal> {
    const named = typeof grant === "string" ? { grantDigest: grant } : grantFields(grant);
    const request = create(RevokeGrantRequestSchema, { requestId: options.requestId ?? "", ...named });
    const response = await this.send(request, RevokeGrantResponseSchema, options);
    return { time: dateOf(response.revokeTime), replayed: response.replayed };
  }

  /**
   * Read a grant that the authority made or has met, what became of it, and what was spent of it.
   *
   * @throws {AuthorityError} `NotFound` for what is not kept or not yours.
   */
  async getGrant(digest: string, options: CallOptions = {}): Promise<GrantStatus> {
    const request = create(GetGrantRequestSchema, { grantDigest: digest });
    const response = await this.send(request, GetGrantResponseSchema, options);
    return {
      grant: new HeldGrant(response.grant!, response.grantAncestors),
      state: wordOf(GetGrantResponse_StateSchema, response.state),
      revokeTime: response.revokeTime && dateOf(response.revokeTime),
      spent: response.spent,
    };
  }

  /**
   * Ask whether a grant, with all its ancestors, is good now, and for this use of it.
   *
   * Changes nothing and spends nothing, and a refusal of the grant is an answer: `facts` names the `dimension`. What
   * was withdrawn and what is used up (BUDGET_EXHAUSTED) counts, as it stands at this moment.
   *
   * @throws {AuthorityError} when the question itself is refused.
   */
  async verifyGrant(
    grant: HeldGrant,
    options: CallOptions & { readonly use?: GrantUse | undefined } = {},
  ): Promise<Verdict> {
    const use = options.use === undefined ? {} : { use: create(GrantUseSchema, options.use) };
    const request = create(VerifyGrantRequestSchema, { ...grantFields(grant), ...use });
    const response = await this.send(request, VerifyGrantResponseSchema, options);
    return {
      granted: response.verdict === VerifyGrantResponse_Verdict.GRANTED,
      reason: reasonName(response.reason),
      facts: response.facts,
    };
  }
}

function holderFields({ holder, holderKeyId, lifetimeMs, correlationId, requestId }: NewHolder) {
  const lifetime = durationMessage(lifetimeMs);
  return {
    requestId: requestId ?? "",
    holder: create(PrincipalRefSchema, holder),
    holderKeyId,
    correlationId: correlationId ?? "",
    ...(lifetime === undefined ? {} : { lifetime }),
  };
}
