/** Verbs of CapabilityService that get capabilities. */

import { randomUUID } from "node:crypto";

import { create } from "@bufbuild/protobuf";

import type { Credentials } from "../../offline/index.js";
import {
  BatchIssueCapabilitiesRequestSchema,
  BatchIssueCapabilitiesResponseSchema,
  type IssueCapabilityRequest,
  IssueCapabilityRequestSchema,
  type IssueCapabilityResponse,
  IssueCapabilityResponseSchema,
} from "../../proto/capability_authority/v1/capability_service_pb.js";
import type { SignedStatement } from "../../proto/capability_authority/v1/statements_pb.js";
import { PrincipalRefSchema } from "../../proto/capability_authority/v1/types_pb.js";
import { BatchItem } from "../batches.js";
import type { CallOptions } from "../call-options.js";
import { AuthorityError } from "../failures.js";
import { type GrantChainHeld, grantFields } from "../grant-values.js";
import { boundKeyIdOf } from "../holders.js";
import { termsOf } from "../presentations.js";
import { rpcNamed } from "../rpcs.js";
import { transportError } from "../statuses.js";
import { durationMessage } from "../times.js";
import { IssuedCapability, type Reference, type Revision } from "../values.js";
import { PolicyVerbs } from "./policies.js";

/** What a capability is asked for with. */
export interface IssueTerms {
  /** Of a `Validation`. */
  readonly validationReceipt: SignedStatement | undefined;
  /** Of a `PolicyDecision` that allows. */
  readonly decisionReceipt: SignedStatement | undefined;
  /** The caller unless given. */
  readonly holder?: Reference | undefined;
  /** The key of the caller's credentials unless given. */
  readonly holderKeyId?: string | undefined;
  /** The audience of the caller's credentials unless given. */
  readonly audience?: string | undefined;
  /** The only key under which it can be committed; made up unless given, and the result has it. */
  readonly commitIdempotencyKey?: string | undefined;
  /** From 1 second to 24 hours, in milliseconds; 15 minutes unless given. */
  readonly lifetimeMs?: number | undefined;
  /**
   * Held by the caller: its subject's right counts in place of the caller's, and a new capability costs one use of it.
   */
  readonly grant?: GrantChainHeld | undefined;
  /** Made up when it is empty. */
  readonly requestId?: string | undefined;
}

/** One capability of many. */
export interface IssueItem extends IssueTerms {
  readonly proposal: Revision;
}

/** The rights to commit. */
export class IssuingVerbs extends PolicyVerbs {
  /**
   * Get the right to commit exactly this revision once.
   *
   * Asked again for the same holder, key and content: the same one; once it was revoked, a request id that was used
   * before is `Revoked`, and a new one gets a new capability.
   *
   * @throws {AuthorityError} `NotAllowed`, `NotValidated`, `ApprovalRequired`, `PolicyDenied`, `Expired`, `Revoked`,
   *   `IdempotencyConflict`, `AlreadyCommitted`; under a grant also `GrantExceeded`, `BudgetExhausted` (each with its
   *   `dimension`), `HolderMismatch`, `SignatureInvalid`, `IssuerUnknown`, `KeyRevoked`.
   */
  async issue(proposal: Revision, options: CallOptions & IssueTerms): Promise<IssuedCapability> {
    const request = issueRequest({ ...options, proposal }, this.credentials);
    return issued(await this.send(request, IssueCapabilityResponseSchema, options));
  }

  /**
   * Get many capabilities: for each, in order, what `issue` would give, or the error that it would throw.
   *
   * They go in as few calls as fit (512 items and 3 MiB each), one call after the other; each is answered as if one
   * were asked for after the other, so that the first of those that contend wins. A call that fails is tried again as a
   * whole, an item refused for now by itself. `timeoutMs` is for all of it, so give many items more.
   *
   * Keys that are not given are made up: give those of what may have to be asked for again by another process.
   *
   * @throws {RangeError} for a lifetime that no duration can be, before anything is sent.
   */
  async issueBatch(
    items: readonly IssueItem[],
    options: CallOptions = {},
  ): Promise<readonly (IssuedCapability | AuthorityError)[]> {
    const rpc = rpcNamed("BatchIssueCapabilities");
    const asked = items.map((item) => {
      const request = issueRequest({ ...item, requestId: item.requestId || randomUUID() }, this.credentials);
      const call = { rpc, keyField: "request_id", key: request.requestId };
      return new BatchItem<IssueCapabilityRequest, IssueCapabilityResponse>(
        call,
        IssueCapabilityRequestSchema,
        request,
      );
    });
    await this.sendBatch(
      rpc,
      asked,
      (requests) => create(BatchIssueCapabilitiesRequestSchema, { requests: [...requests] }),
      BatchIssueCapabilitiesResponseSchema,
      options,
    );
    return asked.map(outcomeOf);
  }
}

/** The request, with a new commit key where none is given: make it once for all attempts. */
function issueRequest(item: IssueItem, caller: Credentials): IssueCapabilityRequest {
  const lifetime = durationMessage(item.lifetimeMs);
  return create(IssueCapabilityRequestSchema, {
    requestId: item.requestId ?? "",
    proposalId: item.proposal.proposalId,
    proposalRevision: item.proposal.revision,
    holder: create(PrincipalRefSchema, item.holder ?? caller.principal),
    holderKeyId: item.holderKeyId ?? boundKeyIdOf(caller),
    audience: item.audience ?? caller.audience,
    commitIdempotencyKey: item.commitIdempotencyKey ?? randomUUID(),
    ...(item.validationReceipt === undefined ? {} : { validationReceipt: item.validationReceipt }),
    ...(item.decisionReceipt === undefined ? {} : { decisionReceipt: item.decisionReceipt }),
    ...(lifetime === undefined ? {} : { lifetime }),
    ...grantFields(item.grant),
  });
}

function outcomeOf(
  item: BatchItem<IssueCapabilityRequest, IssueCapabilityResponse>,
): IssuedCapability | AuthorityError {
  const answer = item.settled();
  if (answer instanceof AuthorityError) {
    return answer;
  }
  try {
    return issued(answer);
  } catch (error) {
    const sentence = `what came as the capability cannot be read: ${String(error)}`;
    return transportError(item.call, sentence, undefined, error).after(item.attempts, true);
  }
}

function issued(response: IssueCapabilityResponse): IssuedCapability {
  const { statement, terms } = termsOf(response.capability!);
  return new IssuedCapability(statement, terms, response.replayed);
}
