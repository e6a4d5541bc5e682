/**
 * Every error that a call can end with, one for each reason of the error table.
 *
 *     AuthorityError
 *     ├── NotAdmitted                 refused before it was judged
 *     │   ├── CallerUnauthenticated       no valid identity or Invocation
 *     │   ├── RequestRefused              the request itself is wrong: `field`, `problem`
 *     │   │   ├── Malformed
 *     │   │   └── LimitExceeded
 *     │   ├── ProofRefused                well signed, but not for this call
 *     │   │   ├── ProofInvalid                `proof`: what does not fit
 *     │   │   └── ProofReplayed
 *     │   ├── HolderMismatch              the caller is not the holder
 *     │   ├── NotAllowed                  the caller's kind or rights: `right`
 *     │   ├── NotFound                    absent, or not visible to this caller
 *     │   └── NotServed                   declared, not served yet (NOT_IMPLEMENTED)
 *     ├── Denied                      judged: the same request gets the same answer
 *     │   ├── IdempotencyConflict         the key stands for another request: `differs`
 *     │   ├── StatementRefused            a presented statement is not this authority's
 *     │   │   ├── SignatureInvalid
 *     │   │   ├── IssuerUnknown
 *     │   │   └── KeyRevoked
 *     │   ├── BindingMismatch             a bound term differs: `term`, `expected`, `presented`
 *     │   ├── GrantExceeded               `dimension`
 *     │   ├── PolicyDenied
 *     │   ├── NotYetValid
 *     │   ├── Expired
 *     │   ├── Revoked
 *     │   ├── NotValidated
 *     │   ├── ApprovalRequired
 *     │   └── AlreadyCommitted            `receiptId`
 *     ├── TryLater                    the same request, with the same key, may succeed later
 *     │   ├── InProgress
 *     │   ├── BudgetExhausted
 *     │   ├── Overloaded
 *     │   ├── Contention
 *     │   └── Unavailable                 a dependency is away, or the outcome is unknown (DEPENDENCY_UNAVAILABLE)
 *     ├── InternalFault               `incidentId` finds it in the authority's log
 *     ├── UnknownReason               a reason newer than this client
 *     ├── TransportError              no answer of the authority itself: connection, TLS, a size limit, a proxy
 *     │   └── DeadlineExceeded
 *     ├── ReceiptRejected             the call succeeded, but its receipt proves nothing
 *     └── ExportRejected              the call succeeded, but what it handed over does not hold together
 *
 * `SignatureInvalid` and `KeyRevoked` are what the authority says of a statement it was given; the errors of these
 * names in `capability-authority-client/offline` are what was found here.
 */

import type { SignedStatement } from "../proto/capability_authority/v1/statements_pb.js";
import { AuthorityError, type Failure, shown } from "./failures.js";

export { AuthorityError, type Failure } from "./failures.js";

/** Refused before it was judged what the request's key stands for. */
export class NotAdmitted extends AuthorityError {}

/** No valid identity: the key is not registered for this principal, or was revoked, or the proof was damaged. */
export class CallerUnauthenticated extends NotAdmitted {
  override get remedy(): string {
    return "see with `authority principals list` whether this key is registered for this principal and active";
  }
}

/** The request itself is wrong; nothing was consumed or stored. */
export class RequestRefused extends NotAdmitted {
  /** The path of the request field, proto names joined by dots; empty when the whole request is meant. */
  get field(): string {
    return this.metadata["field"] ?? "";
  }

  /** What is wrong with it, or what it may be at most. */
  get problem(): string {
    return this.metadata["problem"] ?? "";
  }
}

/** A field is not what the contract allows, or the content is not canonical JSON. */
export class Malformed extends RequestRefused {}

/** A field, list or message is larger than the authority takes (semantics §10). */
export class LimitExceeded extends RequestRefused {}

/** The caller is known, but its proof is not for this call. */
export class ProofRefused extends NotAdmitted {}

const CAUSES: Readonly<Record<string, string>> = {
  issue_time: "is this machine's clock right?",
  audience: "are these the credentials of this authority?",
  request_digest: "does something on the way change requests?",
};

/** The proof names another RPC, audience or request, or is stale. */
export class ProofInvalid extends ProofRefused {
  /** Which part of the Invocation does not fit, such as "issue_time". */
  get proof(): string {
    return this.metadata["proof"] ?? "";
  }

  /** What does not fit, and what usually brings it about. */
  override specifics(): string {
    return [super.specifics(), CAUSES[this.proof] ?? ""].filter((part) => part !== "").join("; ");
  }
}

/** The proof of this read was used before: something on the way sent the read twice. */
export class ProofReplayed extends ProofRefused {}

/** The capability is for another holder, or another tenant, than the caller. */
export class HolderMismatch extends NotAdmitted {}

/** The caller's kind or rights do not allow this RPC. */
export class NotAllowed extends NotAdmitted {
  /** The right that is missing; empty when the caller's kind could never have it. */
  get right(): string {
    return this.metadata["right"] ?? "";
  }
}

/** Absent, or not visible to this caller: the answer is the same. */
export class NotFound extends NotAdmitted {}

/** The contract declares this RPC; this authority does not serve it yet. */
export class NotServed extends NotAdmitted {}

/** Judged and refused: what the request's key stands for did not happen, and the same request never will. */
export class Denied extends AuthorityError {
  override get settles(): boolean {
    return true;
  }
}

/** The idempotency key or request id was used for another request, which is settled or still running. */
export class IdempotencyConflict extends Denied {
  override get remedy(): string {
    return "use a new key for a new request";
  }

  /** The bound terms in which the settled request differs, sorted; empty while it runs. */
  get differs(): readonly string[] {
    return (this.metadata["differs"] ?? "").split(",").filter((term) => term !== "");
  }

  /** What was expected and what was presented, term by term. */
  override specifics(): string {
    const key = `${this.failure.keyField || "the key"} ${shown(this.key)}`;
    const terms = this.differs.map(shown).join(", ") || "the request";
    return `${terms}: expected as when ${key} was first used, presented otherwise`;
  }
}

/** A statement that was presented does not prove what it says. */
export class StatementRefused extends Denied {}

/** The signature was not made by the key it names, over exactly this payload. */
export class SignatureInvalid extends StatementRefused {}

/** The statement was not signed by a key of this authority for this purpose and scope. */
export class IssuerUnknown extends StatementRefused {}

/** A key that signed a statement, or that the capability binds, was revoked. */
export class KeyRevoked extends StatementRefused {}

/** A term that the capability binds differs from what was presented or stored. */
export class BindingMismatch extends Denied {
  /** What the capability binds; undefined when the client does not hold it. */
  readonly expected: string | undefined;
  /** What this call presented; undefined when it presented no such term. */
  readonly presented: string | undefined;

  constructor(
    failure: Failure,
    {
      expected,
      presented,
      ...options
    }: ErrorOptions & { expected?: string | undefined; presented?: string | undefined } = {},
  ) {
    super(failure, options);
    this.expected = expected;
    this.presented = presented;
    this.say();
  }

  /** The field name in CommitCapability, such as "content_digest". */
  get term(): string {
    return this.metadata["term"] ?? "";
  }

  /** The same refusal, with the values that the client knows. */
  explained(expected: string | undefined, presented: string | undefined): BindingMismatch {
    return new BindingMismatch(this.failure, { cause: this.cause, expected, presented });
  }

  /** The term with both values, as far as the client knows them. */
  override specifics(): string {
    if (this.expected === undefined) {
      return super.specifics();
    }
    const presented = this.presented === undefined ? "something else" : shown(this.presented);
    return `${this.term}: expected ${shown(this.expected)}, presented ${presented}`;
  }
}

/** The grant does not allow this. */
export class GrantExceeded extends Denied {
  /** The dimension of the grant that is exceeded. */
  get dimension(): string {
    return this.metadata["dimension"] ?? "";
  }
}

/** Policy does not allow this, or the active policy is another than the capability binds. */
export class PolicyDenied extends Denied {
  override get remedy(): string {
    return "evaluate policy again; a new decision under the active policy may allow it";
  }
}

/** The capability's time has not come. */
export class NotYetValid extends Denied {}

/** A statement that was presented is no longer valid. */
export class Expired extends Denied {
  override get remedy(): string {
    const first = "where a receipt expired, validate or evaluate again first";
    return `issue again with the same commit_idempotency_key; ${first}`;
  }
}

/** The principal, the capability, the grant, the approval or the content was revoked. */
export class Revoked extends Denied {
  override get remedy(): string {
    return "where a capability was revoked, issue again with the same commit_idempotency_key and a new request_id";
  }
}

/** The revision is not validated, or a newer one took its place, or it was withdrawn. */
export class NotValidated extends Denied {}

/** Policy asks for an approval that is missing, used up, expired or revoked. */
export class ApprovalRequired extends Denied {
  override get remedy(): string {
    return "have a person decide on the revision, then evaluate policy and issue again";
  }
}

/** The proposal was committed under another key or capability: one proposal commits once. */
export class AlreadyCommitted extends Denied {
  /** The receipt of the commit that happened. */
  get receiptId(): string {
    return this.metadata["receipt_id"] ?? "";
  }
}

/** Not refused: the same request, with the same key, may succeed later. */
export class TryLater extends AuthorityError {}

/** The same key is still running in another call. */
export class InProgress extends TryLater {
  override get leavesDoubt(): boolean {
    return true;
  }
}

/** A budget, rate or concurrency of the caller or its grant is used up for now. */
export class BudgetExhausted extends TryLater {
  /** The dimension of which a grant of the chain has too little left; empty when no grant is the reason. */
  get dimension(): string {
    return this.metadata["dimension"] ?? "";
  }
}

/** The authority has too much work waiting and took none of this. */
export class Overloaded extends TryLater {}

/** Concurrent changes kept colliding with this one. */
export class Contention extends TryLater {}

/** A dependency of the authority is away, or the outcome is unknown: for a commit, call again with the same key. */
export class Unavailable extends TryLater {
  override get leavesDoubt(): boolean {
    return true;
  }
}

/** The authority failed in a way it did not foresee. */
export class InternalFault extends AuthorityError {
  override get leavesDoubt(): boolean {
    return true;
  }

  /** Finds the cause in the authority's log. */
  get incidentId(): string {
    return this.metadata["incident_id"] ?? "";
  }
}

/** The authority gave a reason that this version of the client does not know; `reason` names it. */
export class UnknownReason extends AuthorityError {
  override get leavesDoubt(): boolean {
    return true;
  }
}

/** No answer of the authority itself: the connection, TLS, a size limit of gRPC, or something in between. */
export class TransportError extends AuthorityError {
  override get leavesDoubt(): boolean {
    return true;
  }
}

/** The time for the call ran out. */
export class DeadlineExceeded extends TransportError {}

/**
 * The authority answered with a receipt that does not verify, or that is for something else.
 *
 * The call itself succeeded: a commit happened, if the answer was the authority's at all. `statement` is what came;
 * `cause` is why it is not believed.
 */
export class ReceiptRejected extends AuthorityError {
  readonly statement: SignedStatement | undefined;

  constructor(failure: Failure, options: ErrorOptions & { readonly statement: SignedStatement | undefined }) {
    super(failure, options);
    this.statement = options.statement;
  }

  /** Unchanged: nothing is tried again because of a receipt. */
  override after(): this {
    return this;
  }
}

/** The client is closed. */
export class ConnectionClosed extends Error {
  override readonly name = "ConnectionClosed";

  constructor() {
    super("the client is closed");
  }
}

/** The error of every reason. */
export const BY_REASON: ReadonlyMap<string, new (failure: Failure, options?: ErrorOptions) => AuthorityError> = new Map<
  string,
  new (failure: Failure, options?: ErrorOptions) => AuthorityError
>([
  ["CALLER_UNAUTHENTICATED", CallerUnauthenticated],
  ["MALFORMED", Malformed],
  ["LIMIT_EXCEEDED", LimitExceeded],
  ["PROOF_INVALID", ProofInvalid],
  ["PROOF_REPLAYED", ProofReplayed],
  ["HOLDER_MISMATCH", HolderMismatch],
  ["NOT_ALLOWED", NotAllowed],
  ["IDEMPOTENCY_CONFLICT", IdempotencyConflict],
  ["IN_PROGRESS", InProgress],
  ["SIGNATURE_INVALID", SignatureInvalid],
  ["ISSUER_UNKNOWN", IssuerUnknown],
  ["KEY_REVOKED", KeyRevoked],
  ["BINDING_MISMATCH", BindingMismatch],
  ["GRANT_EXCEEDED", GrantExceeded],
  ["POLICY_DENIED", PolicyDenied],
  ["NOT_YET_VALID", NotYetValid],
  ["EXPIRED", Expired],
  ["REVOKED", Revoked],
  ["NOT_VALIDATED", NotValidated],
  ["APPROVAL_REQUIRED", ApprovalRequired],
  ["ALREADY_COMMITTED", AlreadyCommitted],
  ["BUDGET_EXHAUSTED", BudgetExhausted],
  ["OVERLOADED", Overloaded],
  ["NOT_FOUND", NotFound],
  ["CONTENTION", Contention],
  ["DEPENDENCY_UNAVAILABLE", Unavailable],
  ["NOT_IMPLEMENTED", NotServed],
  ["INTERNAL", InternalFault],
]);
