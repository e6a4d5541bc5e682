/** The verbs of PolicyService. */

import { create } from "@bufbuild/protobuf";

import {
  EvaluatePolicyRequestSchema,
  EvaluatePolicyResponseSchema,
  GetPolicyVersionRequestSchema,
  GetPolicyVersionResponseSchema,
} from "../../proto/capability_authority/v1/policy_service_pb.js";
import type { SignedStatement } from "../../proto/capability_authority/v1/statements_pb.js";
import { DecisionOutcomeSchema, PrincipalRefSchema } from "../../proto/capability_authority/v1/types_pb.js";
import type { CallOptions } from "../call-options.js";
import { dateOf } from "../times.js";
import type { PolicyDecision, Reference, Revision } from "../values.js";
import { wordOf } from "../words.js";
import { ReviewVerbs } from "./reviews.js";

/** A policy bundle and where it decides. */
export interface PolicyBundle {
  /** Its digest, which decisions name. */
  readonly policyVersion: string;
  /** Cedar source, exactly as the operator loaded it. */
  readonly bundle: string;
  readonly loadTime: Date;
  /** Those of the caller's tenant that it decides in now, by name. */
  readonly activeMemoryNamespaces: readonly string[];
}

/** Decisions of the active policy. No verb writes policy: bundles are the operator's files. */
export class PolicyVerbs extends ReviewVerbs {
  /**
   * Have policy decide whether `holder`, the caller unless given, may commit the revision.
   *
   * `externalDecisions` are decision receipts of external authorities that the operator configured, about exactly this
   * commit; each of them can only narrow the answer. After an approval, evaluate again: "require_approval" never
   * suffices to issue.
   *
   * @throws {AuthorityError} `NotAllowed` without the right `issue`, `NotValidated` when there is no validation
   *   receipt, `PolicyDenied` when an external decision is required and missing, and whatever one does not count for.
   */
  async evaluatePolicy(
    proposal: Revision,
    options: CallOptions & {
      readonly holder?: Reference | undefined;
      readonly externalDecisions?: readonly SignedStatement[] | undefined;
      readonly requestId?: string | undefined;
    } = {},
  ): Promise<PolicyDecision> {
    const { holder, externalDecisions, requestId } = options;
    const request = create(EvaluatePolicyRequestSchema, {
      requestId: requestId ?? "",
      proposalId: proposal.proposalId,
      proposalRevision: proposal.revision,
      externalDecisions: [...(externalDecisions ?? [])],
      ...(holder === undefined ? {} : { holder: create(PrincipalRefSchema, holder) }),
    });
    const response = await this.send(request, EvaluatePolicyResponseSchema, options);
    return {
      receipt: response.decisionReceipt,
      outcome: wordOf(DecisionOutcomeSchema, response.outcome),
      determiningPolicies: response.determiningPolicies,
      policyVersion: response.policyVersion,
    };
  }

  /**
   * Read the bundle that a decision was made by, and where it decides now, by the digest that decisions name.
   *
   * @throws {AuthorityError} `NotAllowed` for callers that neither ask policy nor judge proposals, `NotFound` for a
   *   bundle that never decided in the caller's tenant.
   */
  async getPolicy(policyVersion: string, options: CallOptions = {}): Promise<PolicyBundle> {
    const request = create(GetPolicyVersionRequestSchema, { policyVersion });
    const response = await this.send(request, GetPolicyVersionResponseSchema, options);
    return {
      policyVersion: response.policyVersion,
      bundle: response.bundle,
      loadTime: dateOf(response.loadTime),
      activeMemoryNamespaces: response.activeMemoryNamespaces,
    };
  }
}
