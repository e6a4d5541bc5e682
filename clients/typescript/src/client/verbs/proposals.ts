/** Verbs of ProposalService: propose, validate, withdraw. */

import { randomUUID } from "node:crypto";

import { create } from "@bufbuild/protobuf";

import {
  CreateProposalRequestSchema,
  CreateProposalResponseSchema,
  GetProposalRequestSchema,
  GetProposalResponseSchema,
  ListProposalsRequestSchema,
  ListProposalsResponseSchema,
  ProposalStateSchema,
  ValidateProposalRequestSchema,
  ValidateProposalResponseSchema,
  WithdrawProposalRequestSchema,
  WithdrawProposalResponseSchema,
} from "../../proto/capability_authority/v1/proposal_service_pb.js";
import {
  type Cost,
  MemoryTypeSchema,
  ValidationOutcomeSchema,
  VisibilitySchema,
} from "../../proto/capability_authority/v1/types_pb.js";
import type { CallOptions } from "../call-options.js";
import { Connection } from "../connection.js";
import { type Content, contentBytes } from "../content.js";
import { type GrantChainHeld, grantFields } from "../grant-values.js";
import { dateOf, timeMessage } from "../times.js";
import { Proposal, type Revision, type Validation, type Withdrawal, findingOf } from "../values.js";
import { type MemoryType, type ProposalState, type Visibility, numberOf, wordOf } from "../words.js";

/** What a memory is said to be, new or corrected. Times are cut to milliseconds. */
export interface Said extends CallOptions {
  /** An object or array is sent as canonical JSON, a string as plain text, bytes as they are with their `mediaType`. */
  readonly content: Content;
  readonly mediaType?: string | undefined;
  readonly sourceRefs?: readonly string[] | undefined;
  readonly subjectRefs?: readonly string[] | undefined;
  readonly evidenceDigests?: readonly string[] | undefined;
  /** The memory namespace's own unless given; it sets the least. */
  readonly validatorProfile?: string | undefined;
  readonly visibility?: Visibility | undefined;
  /** Names the channel or team. */
  readonly visibilityScope?: string | undefined;
  readonly validFromTime?: Date | undefined;
  readonly validUntilTime?: Date | undefined;
  readonly recordExpireTime?: Date | undefined;
  readonly correlationId?: string | undefined;
  readonly costs?: readonly Cost[] | undefined;
  /** Made up when it is empty, and the same for all attempts of the call. */
  readonly requestId?: string | undefined;
}

/** What is proposed. */
export interface ProposeOptions extends Said {
  readonly memoryNamespace: string;
  readonly memoryType: MemoryType;
  /**
   * When the revision expires, at most 30 days from now; by then unless given, and never later than what it says ends.
   */
  readonly expireTime?: Date | undefined;
  /** For the next revision of one of the caller's own proposals. */
  readonly proposalId?: string | undefined;
  /** For `memory.propose`, held by the caller: its subject's right is used, and the proposal names all who acted. */
  readonly grant?: GrantChainHeld | undefined;
}

/** Proposals of learned memory. Nothing here writes memory. */
export class ProposalVerbs extends Connection {
  /**
   * Store a new proposal or, with `proposalId`, the next revision of one of the caller's own.
   *
   * @throws {JsonError} and {TypeError} for content that cannot be sent.
   * @throws {AuthorityError} `NotAllowed` without the right `propose` or for a channel or team of others, `NotFound`
   *   for an unknown memory namespace, `AlreadyCommitted` for a committed proposal; under a grant also `GrantExceeded`
   *   with its `dimension`, `HolderMismatch`, `Expired`, `Revoked`.
   */
  async propose(asked: ProposeOptions): Promise<Proposal> {
    const request = create(CreateProposalRequestSchema, {
      ...saidFields(asked),
      proposalId: asked.proposalId ?? "",
      memoryNamespace: asked.memoryNamespace,
      memoryType: numberOf(MemoryTypeSchema, asked.memoryType),
      expireTime: timeMessage(asked.expireTime),
      ...grantFields(asked.grant),
    });
    return new Proposal((await this.send(request, CreateProposalResponseSchema, asked)).proposal!);
  }

  /**
   * Read a revision with its content and newest validation receipt; 0 is the newest revision.
   *
   * @throws {AuthorityError} `NotFound` when it is absent or not visible to the caller.
   */
  async getProposal(proposalId: string, options: CallOptions & { readonly revision?: number } = {}): Promise<Proposal> {
    const request = create(GetProposalRequestSchema, { proposalId, revision: options.revision ?? 0 });
    const response = await this.send(request, GetProposalResponseSchema, options);
    return new Proposal(response.proposal!, response.validationReceipt, response.decisions, response.contentErased);
  }

  /** Proposals without their content, page after page, each page a call of its own of 50, or `pageSize` up to 200. */
  async *listProposals(
    options: CallOptions & {
      readonly memoryNamespace: string;
      /** "validated" is the review queue; every state unless given. */
      readonly state?: ProposalState | undefined;
      readonly pageSize?: number | undefined;
    },
  ): AsyncGenerator<Proposal, void, undefined> {
    const request = create(ListProposalsRequestSchema, {
      memoryNamespace: options.memoryNamespace,
      state: numberOf(ProposalStateSchema, options.state),
      pageSize: options.pageSize ?? 0,
    });
    do {
      const page = await this.send(request, ListProposalsResponseSchema, options);
      yield* page.proposals.map((proposal) => new Proposal(proposal));
      request.pageToken = page.nextPageToken;
    } while (request.pageToken !== "");
  }

  /**
   * Have a revision validated by its profile.
   *
   * Validators are waited for 30 seconds, or as long as `timeoutMs` allows. When they need longer, `state` is
   * "validating": ask again with the `requestId` of the answer, which goes on waiting for the same run.
   *
   * @throws {AuthorityError}
   */
  async validate(proposal: Revision, options: CallOptions & { readonly requestId?: string } = {}): Promise<Validation> {
    const requestId = options.requestId || randomUUID();
    const { proposalId, revision } = proposal;
    const request = create(ValidateProposalRequestSchema, { requestId, proposalId, revision });
    const response = await this.send(request, ValidateProposalResponseSchema, options);
    return {
      receipt: response.validationReceipt,
      outcome: wordOf(ValidationOutcomeSchema, response.outcome),
      findings: response.findings.map(findingOf),
      state: wordOf(ProposalStateSchema, response.state),
      requestId,
    };
  }

  /**
   * Withdraw a proposal with all its revisions for ever, named by itself or by its id: by its proposer or an admin.
   *
   * Once this resolves nothing of it is committed, and no revision follows. Withdrawn before, by whomever: the time of
   * that.
   *
   * @throws {AuthorityError} `AlreadyCommitted`, `NotFound` for what is not there or not yours.
   */
  async withdraw(
    proposal: Proposal | string,
    options: CallOptions & { readonly requestId?: string } = {},
  ): Promise<Withdrawal> {
    const proposalId = typeof proposal === "string" ? proposal : proposal.proposalId;
    const request = create(WithdrawProposalRequestSchema, { requestId: options.requestId ?? "", proposalId });
    const response = await this.send(request, WithdrawProposalResponseSchema, options);
    return { time: dateOf(response.withdrawTime), replayed: response.replayed };
  }
}

/** The fields of a request that say what a memory is. @throws as `contentBytes`; {RangeError} for an unknown word. */
export function saidFields(said: Said) {
  const { bytes, mediaType } = contentBytes(said.content, said.mediaType);
  return {
    requestId: said.requestId ?? "",
    content: bytes,
    mediaType,
    sourceRefs: [...(said.sourceRefs ?? [])],
    subjectRefs: [...(said.subjectRefs ?? [])],
    evidenceDigests: [...(said.evidenceDigests ?? [])],
    validatorProfile: said.validatorProfile ?? "",
    visibility: numberOf(VisibilitySchema, said.visibility),
    visibilityScope: said.visibilityScope ?? "",
    validFromTime: timeMessage(said.validFromTime),
    validUntilTime: timeMessage(said.validUntilTime),
    recordExpireTime: timeMessage(said.recordExpireTime),
    correlationId: said.correlationId ?? "",
    costs: [...(said.costs ?? [])],
  };
}
