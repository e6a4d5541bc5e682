/** Verbs of review: what waits for persons, and what they decide. */

import { randomUUID } from "node:crypto";

import { create } from "@bufbuild/protobuf";

import {
  DecideProposalRequestSchema,
  type DecideProposalResponse,
  DecideProposalResponseSchema,
  DecideProposalRequest_VerdictSchema,
  type DecisionOfMany,
  ListProposalsRequestSchema,
  ListProposalsResponseSchema,
  ProposalDecisionSchema,
  ProposalStateSchema,
} from "../../proto/capability_authority/v1/proposal_service_pb.js";
import { PrincipalRefSchema } from "../../proto/capability_authority/v1/types_pb.js";
import type { CallOptions } from "../call-options.js";
import type { AuthorityError } from "../failures.js";
import { rpcNamed } from "../rpcs.js";
import { type KeyedCall, errorIn, keyedCall, transportError } from "../statuses.js";
import { timeMessage } from "../times.js";
import { type Finding, Proposal, type Reference, type Review, findingOf } from "../values.js";
import { type ReviewVerdict, numberOf, wordOf } from "../words.js";
import { ProposalVerbs } from "./proposals.js";

/** A proposal that waits for persons, without its content, and why it does. */
export interface AwaitedReview {
  readonly proposal: Proposal;
  /** Of the validators that were not sure. */
  readonly findings: readonly Finding[];
  /** Policies that asked for persons when policy was evaluated last; none when it was not yet. */
  readonly askingPolicies: readonly string[];
  readonly personsNeeded: number;
  /** Persons whose approval counts now, fewer than are needed. */
  readonly personsApproving: number;
}

/** What a person adds to a verdict. */
export interface DecisionTerms {
  /** At most 1,024 bytes. */
  readonly note?: string | undefined;
  /** When an approval stops counting; 30 days from now unless given. */
  readonly expireTime?: Date | undefined;
  /** Whose commit it is for; whoever commits unless given. */
  readonly holder?: Reference | undefined;
  /** At most so many decisions of policy rest on it; 0 is any number. */
  readonly maxUses?: number | undefined;
}

/** One of many decisions, on exactly the revision that was read. */
export interface Decision extends DecisionTerms {
  readonly proposal: Proposal;
  readonly verdict: ReviewVerdict;
}

/** Decisions of persons on proposals of learned memory. */
export class ReviewVerbs extends ProposalVerbs {
  /**
   * What waits for persons and why, the oldest first, page after page, each page a call of its own.
   *
   * An admin sees all of it, a user with the right `decide` what is not their own matter. Proposals come without their
   * content.
   *
   * @throws {AuthorityError} `NotAllowed` for whoever does not decide.
   */
  async *listReviews(
    options: CallOptions & { readonly memoryNamespace: string; readonly pageSize?: number | undefined },
  ): AsyncGenerator<AwaitedReview, void, undefined> {
    const { memoryNamespace, pageSize } = options;
    const request = create(ListProposalsRequestSchema, {
      memoryNamespace,
      pageSize: pageSize ?? 0,
      awaitsReview: true,
    });
    do {
      const page = await this.send(request, ListProposalsResponseSchema, options);
      for (const [index, proposal] of page.proposals.entries()) {
        const why = page.reviews[index];
        yield {
          proposal: new Proposal(proposal),
          findings: (why?.findings ?? []).map(findingOf),
          askingPolicies: why?.askingPolicies ?? [],
          personsNeeded: why?.personsNeeded ?? 0,
          personsApproving: why?.personsApproving ?? 0,
        };
      }
      request.pageToken = page.nextPageToken;
    } while (request.pageToken !== "");
  }

  /**
   * Decide as a person on exactly the revision that was read: its digest goes along.
   *
   * "revoke" takes every earlier approval back, and no commit that follows the answer uses one; what policy allowed
   * without a person it takes back, too, with the record that was committed, until somebody said "adopt".
   *
   * @throws {AuthorityError} `NotAllowed` for whoever is no user or admin with the right `decide`, had a part in the
   *   proposal, or is one person with somebody who had.
   */
  async decide(
    proposal: Proposal,
    verdict: ReviewVerdict,
    options: CallOptions & DecisionTerms & { readonly requestId?: string | undefined } = {},
  ): Promise<Review> {
    const fields = decisionFields({ ...options, proposal, verdict });
    const request = create(DecideProposalRequestSchema, { requestId: options.requestId ?? "", ...fields });
    return review(await this.send(request, DecideProposalResponseSchema, options));
  }

  /**
   * Decide on many revisions, at most 512: for each, in order, what `decide` would give, or the error it would throw.
   *
   * Each is taken as if it were asked for after the one before it. The same `requestId` again takes those that were not
   * taken, and answers the others as before; made up when it is empty, it is the same for all attempts of this call.
   *
   * @throws {AuthorityError} for what refuses them all: `NotAllowed` for whoever does not decide, `IdempotencyConflict`
   *   for a request id of another request.
   */
  async decideMany(
    decisions: readonly Decision[],
    options: CallOptions & { readonly requestId?: string | undefined } = {},
  ): Promise<readonly (Review | AuthorityError)[]> {
    if (decisions.length === 0) {
      return [];
    }
    const request = create(DecideProposalRequestSchema, {
      requestId: options.requestId || randomUUID(),
      decisions: decisions.map((one) => create(ProposalDecisionSchema, decisionFields(one))),
    });
    const response = await this.send(request, DecideProposalResponseSchema, options);
    const call = keyedCall(rpcNamed("DecideProposal"), request);
    return response.outcomes.map((outcome) => outcomeOf(call, outcome));
  }
}

function decisionFields({ proposal, verdict, note, expireTime, holder, maxUses }: Decision) {
  return {
    proposalId: proposal.proposalId,
    revision: proposal.revision,
    proposalDigest: proposal.proposalDigest,
    verdict: numberOf(DecideProposalRequest_VerdictSchema, verdict),
    note: note ?? "",
    expireTime: timeMessage(expireTime),
    maxUses: maxUses ?? 0,
    ...(holder === undefined ? {} : { holder: create(PrincipalRefSchema, holder) }),
  };
}

function review(response: DecideProposalResponse): Review {
  return { approvalReference: response.approvalReference, state: wordOf(ProposalStateSchema, response.state) };
}

function outcomeOf(call: KeyedCall, { outcome }: DecisionOfMany): Review | AuthorityError {
  switch (outcome.case) {
    case "result":
      return review(outcome.value);
    case "status":
      return errorIn(call, outcome.value);
    default:
      return transportError(call, "the answer holds neither a result nor a refusal");
  }
}
