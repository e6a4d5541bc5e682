/** What the verbs answer with. Each holds the message it came in, and says in words what people ask of it. */

import type { Reference, RevocationFeed } from "../offline/index.js";
import type { MemoryRecord as MemoryRecordMessage } from "../proto/capability_authority/v1/memory_service_pb.js";
import {
  type Proposal as ProposalMessage,
  ProposalStateSchema,
  type RevisionDecision,
} from "../proto/capability_authority/v1/proposal_service_pb.js";
import type {
  CommitCapability,
  CommitReceipt,
  Revocation as RevocationItem,
  SignedStatement,
} from "../proto/capability_authority/v1/statements_pb.js";
import {
  MemoryTypeSchema,
  ProvenanceSchema,
  type ValidationFinding,
  ValidationOutcomeSchema,
  VisibilitySchema,
} from "../proto/capability_authority/v1/types_pb.js";
import { dateOf } from "./times.js";
import { wordOf } from "./words.js";

export type { Reference } from "../offline/index.js";

/** Whatever names one revision of a proposal: a `Proposal`, or an object of the two. */
export interface Revision {
  /** The id that the authority gave. */
  readonly proposalId: string;
  /** 1 and up. */
  readonly revision: number;
}

/** One revision of a proposal as the authority stores it. */
export class Proposal implements Revision {
  constructor(
    /** All of it. */
    readonly message: ProposalMessage,
    /** The newest validation receipt of the revision, when it was asked for by `getProposal` and there is one. */
    readonly validationReceipt?: SignedStatement,
    /** What was decided on it, in that order, when it was asked for by `getProposal`; the newest 200. */
    readonly decisions: readonly RevisionDecision[] = [],
    /** Whether its content failed for secrets and was erased after its review; told by `getProposal`. */
    readonly contentErased = false,
  ) {}

  get proposalId(): string {
    return this.message.proposalId;
  }

  get revision(): number {
    return this.message.revision;
  }

  /** Of the record whose place its commit takes; empty when it corrects none. */
  get supersedesRecordId(): string {
    return this.message.supersedesRecordId;
  }

  /** For example "proposed" or "validated"; the words of `ProposalState`. */
  get state(): string {
    return wordOf(ProposalStateSchema, this.message.state);
  }

  /** Where the memory would live. */
  get memoryNamespace(): string {
    return this.message.memoryNamespace;
  }

  /** For example "durable_fact"; the words of `MemoryType`. */
  get memoryType(): string {
    return wordOf(MemoryTypeSchema, this.message.memoryType);
  }

  /** What the authority stamped: the words of `Provenance`. */
  get provenance(): string {
    return wordOf(ProvenanceSchema, this.message.provenance);
  }

  /** Who proposed it. */
  get proposer(): Reference {
    return reference(this.message.proposer);
  }

  /** The exact bytes; empty in a listed proposal, and where `contentErased`. */
  get content(): Uint8Array {
    return this.message.content;
  }

  /** Of the exact bytes. */
  get contentDigest(): string {
    return this.message.contentDigest;
  }

  get mediaType(): string {
    return this.message.mediaType;
  }

  /** Covers every field of the revision. */
  get proposalDigest(): string {
    return this.message.proposalDigest;
  }
}

/** What one validator said. */
export interface Finding {
  readonly validator: string;
  readonly validatorVersion: string;
  /** "pass", "review" or "fail". */
  readonly outcome: string;
  /** A machine word such as "exact_duplicate"; empty when the outcome is "pass". */
  readonly reason: string;
  /** From 0 to 1. */
  readonly confidence: number;
}

/** What the validators of the profile said of one revision. */
export interface Validation {
  /** The signed validation receipt, to issue with; undefined while `state` is "validating". */
  readonly receipt: SignedStatement | undefined;
  /** "pass", "review" (a person must look) or "fail"; "unspecified" while `state` is "validating". */
  readonly outcome: string;
  readonly findings: readonly Finding[];
  /** The state of the proposal now. */
  readonly state: string;
  /** Of the request: asked for again under it, what takes long goes on. */
  readonly requestId: string;
}

/** What came of a person's decision on one revision. */
export interface Review {
  /** Named by decision receipts and capabilities that rest on this approval. */
  readonly approvalReference: string;
  /** The state of the proposal now. */
  readonly state: string;
}

/** What policy said of one holder committing one revision. */
export interface PolicyDecision {
  /** The signed decision receipt, to issue with. */
  readonly receipt: SignedStatement | undefined;
  /** "allow", "require_approval" or "deny". Only "allow" lets a capability be issued. */
  readonly outcome: string;
  readonly determiningPolicies: readonly string[];
  /** The digest of the policy bundle. */
  readonly policyVersion: string;
}

/** The right to commit exactly one content exactly once. */
export class IssuedCapability {
  constructor(
    readonly statement: SignedStatement,
    /** What it binds, as it says itself; its signature is the authority's to judge. */
    readonly terms: CommitCapability,
    /** Whether it existed before this call. */
    readonly replayed: boolean,
  ) {}

  get capabilityId(): string {
    return this.terms.capabilityId;
  }

  /** The only key under which it can be committed. */
  get commitIdempotencyKey(): string {
    return this.terms.commitIdempotencyKey;
  }

  /** When it ends. */
  get expireTime(): Date {
    return dateOf(this.terms.expireTime);
  }
}

/** What the authority says of a capability or grant now. Nothing was used up. */
export interface Verdict {
  readonly granted: boolean;
  /** The name of an ErrorReason without its prefix; empty when granted. */
  readonly reason: string;
  /** What the refusal names, such as `term` or `dimension`. */
  readonly facts: Readonly<Record<string, string>>;
}

/** What the authority says of a capability now. */
export interface CapabilityVerdict extends Verdict {
  /** Of the commit that consumed the capability; empty when none did. */
  readonly receiptId: string;
}

/** Something that was withdrawn for ever: a capability, a grant, a proposal. */
export interface Withdrawal {
  /** When it was withdrawn first. */
  readonly time: Date;
  /** Whether it was withdrawn before this call. */
  readonly replayed: boolean;
}

/** A record that was withdrawn for ever, with every other one of its memory namespace that said the same. */
export interface RecordRevocation extends Withdrawal {
  /** Its place among the decisions and revocations of the authority: what was decided before it stays withdrawn. */
  readonly sequence: bigint;
  /** `recall` takes it as `atLeastAsFreshAs`: its answer then knows of the revocation. */
  readonly revisionToken: string;
}

/** One message of a watch, taken in: what was withdrawn, or nothing for a while. */
export interface RevocationNews {
  readonly revoked: readonly RevocationItem[];
  /** Holds these, and all before them. */
  readonly feed: RevocationFeed;
}

/** A commit receipt. */
export interface Receipt {
  readonly receiptId: string;
  readonly recordId: string;
  /**
   * The exact bytes of the first success: what to keep as a file. Undefined only where an unverified answer had none.
   */
  readonly statement: SignedStatement | undefined;
  /** When the key that signed the receipt was revoked since: the current receipt key vouches for it. */
  readonly attestation: SignedStatement | undefined;
  /** What the receipt says; undefined when it was not verified, for then it says nothing. */
  readonly says: CommitReceipt | undefined;
}

/** A commit that happened: now, or at the first attempt with the same key. */
export interface Committed {
  readonly receipt: Receipt;
  readonly receiptId: string;
  /** Of the memory record that was written. */
  readonly recordId: string;
  /** Whether an earlier attempt with the same key did it. */
  readonly replayed: boolean;
  /** `recall` takes it as `atLeastAsFreshAs`. It does not expire; another answer may give another one. */
  readonly revisionToken: string;
}

/** Learned memory: evidence, never a permission. */
export class MemoryRecord {
  constructor(
    /** All of it. */
    readonly message: MemoryRecordMessage,
  ) {}

  get recordId(): string {
    return this.message.recordId;
  }

  /** Of the record that this one corrected; empty when it corrected none. */
  get supersedesRecordId(): string {
    return this.message.supersedesRecordId;
  }

  /** Of the commit receipt that proves it was allowed; empty when it was written without validation. */
  get receiptId(): string {
    return this.message.receiptId;
  }

  /** False when it was written without validation: then nothing proves it and nobody decided on it. */
  get validated(): boolean {
    return this.message.validated;
  }

  get memoryNamespace(): string {
    return this.message.memoryNamespace;
  }

  /** For example "durable_fact"; the words of `MemoryType`. */
  get memoryType(): string {
    return wordOf(MemoryTypeSchema, this.message.memoryType);
  }

  /** What the authority stamped: the words of `Provenance`. */
  get provenance(): string {
    return wordOf(ProvenanceSchema, this.message.provenance);
  }

  /** Who may see it: "private", "channel", "team" or "workspace". */
  get visibility(): string {
    return wordOf(VisibilitySchema, this.message.visibility);
  }

  /** Id of the channel or team; empty when it is private or the workspace's. */
  get visibilityScope(): string {
    return this.message.visibilityScope;
  }

  /** The exact bytes that were committed. */
  get content(): Uint8Array {
    return this.message.content;
  }

  /** Of the exact bytes. */
  get contentDigest(): string {
    return this.message.contentDigest;
  }

  get mediaType(): string {
    return this.message.mediaType;
  }
}

/** What one validator said. */
export function findingOf(finding: ValidationFinding): Finding {
  return {
    validator: finding.validator,
    validatorVersion: finding.validatorVersion,
    outcome: wordOf(ValidationOutcomeSchema, finding.outcome),
    reason: finding.reason,
    confidence: finding.confidencePermille / 1_000,
  };
}

/** The reference that a message holds; empty where it holds none. */
export function reference(message: Reference | undefined): Reference {
  return { namespace: message?.namespace ?? "", id: message?.id ?? "" };
}
