"""Every exception of the client that a call can end with, one for each reason of the error table.

    AuthorityError
    ├── NotAdmitted                 refused before it was judged
    │   ├── CallerUnauthenticated       no valid identity or Invocation
    │   ├── RequestRefused              the request itself is wrong: `field`, `problem`
    │   │   ├── Malformed
    │   │   └── LimitExceeded
    │   ├── ProofRefused                well signed, but not for this call
    │   │   ├── ProofInvalid                `proof`: what does not fit
    │   │   └── ProofReplayed
    │   ├── HolderMismatch              the caller is not the holder
    │   ├── NotAllowed                  the caller's kind or rights: `right`
    │   ├── NotFound                    absent, or not visible to this caller
    │   └── NotServed                   declared, not served yet (NOT_IMPLEMENTED)
    ├── Denied                      judged: the same request gets the same answer
    │   ├── IdempotencyConflict         the key stands for another request: `differs`
    │   ├── StatementRefused            a presented statement is not this authority's
    │   │   ├── SignatureInvalid
    │   │   ├── IssuerUnknown
    │   │   └── KeyRevoked
    │   ├── BindingMismatch             a bound term differs: `term`, `expected`, `presented`
    │   ├── GrantExceeded               `dimension`
    │   ├── PolicyDenied
    │   ├── NotYetValid
    │   ├── Expired
    │   ├── Revoked
    │   ├── NotValidated
    │   ├── ApprovalRequired
    │   └── AlreadyCommitted            `receipt_id`
    ├── TryLater                    the same request, with the same key, may succeed later
    │   ├── InProgress
    │   ├── BudgetExhausted
    │   ├── Overloaded
    │   ├── Contention
    │   └── Unavailable                 a dependency is away, or the outcome is unknown (DEPENDENCY_UNAVAILABLE)
    ├── InternalFault               `incident_id` finds it in the authority's log
    ├── UnknownReason               a reason newer than this client
    ├── TransportError              no answer of the authority itself: connection, TLS, a size limit, a proxy
    │   └── DeadlineExceeded            also a TimeoutError
    ├── ReceiptRejected             the call succeeded, but its receipt proves nothing
    └── ExportRejected              the call succeeded, but what it handed over does not hold together

`SignatureInvalid` and `KeyRevoked` are what the authority says of a statement it was given; the exceptions of these
names in `capability_authority.offline` are what was found here.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Self

from capability_authority.client.failures import AuthorityError, Failure, shown
from capability_authority.client.memory_values import RecordExport
from capability_authority.v1.statements_pb2 import SignedStatement

__all__ = [
    "BY_REASON",
    "AlreadyCommitted",
    "ApprovalRequired",
    "AuthorityError",
    "BindingMismatch",
    "BudgetExhausted",
    "CallerUnauthenticated",
    "Contention",
    "DeadlineExceeded",
    "Denied",
    "Expired",
    "ExportRejected",
    "Failure",
    "GrantExceeded",
    "HolderMismatch",
    "IdempotencyConflict",
    "InProgress",
    "InternalFault",
    "IssuerUnknown",
    "KeyRevoked",
    "LimitExceeded",
    "Malformed",
    "NotAdmitted",
    "NotAllowed",
    "NotFound",
    "NotServed",
    "NotValidated",
    "NotYetValid",
    "Overloaded",
    "PolicyDenied",
    "ProofInvalid",
    "ProofRefused",
    "ProofReplayed",
    "ReceiptRejected",
    "RequestRefused",
    "Revoked",
    "SignatureInvalid",
    "StatementRefused",
    "TransportError",
    "TryLater",
    "Unavailable",
    "UnknownReason",
]


class NotAdmitted(AuthorityError):
    """Refused before it was judged what the request's key stands for."""


class CallerUnauthenticated(NotAdmitted):
    """No valid identity: the key is not registered for this principal, or was revoked, or the proof was damaged."""

    remedy = "see with `authority principals list` whether this key is registered for this principal and active"


class RequestRefused(NotAdmitted):
    """The request itself is wrong; nothing was consumed or stored."""

    @property
    def field(self) -> str:
        """The path of the request field, proto names joined by dots; empty when the whole request is meant."""
        return self.metadata.get("field", "")

    @property
    def problem(self) -> str:
        """What is wrong with it, or what it may be at most."""
        return self.metadata.get("problem", "")


class Malformed(RequestRefused):
    """A field is not what the contract allows, or the content is not canonical JSON."""


class LimitExceeded(RequestRefused):
    """A field, list or message is larger than the authority takes (semantics §10)."""


class ProofRefused(NotAdmitted):
    """The caller is known, but its proof is not for this call."""


class ProofInvalid(ProofRefused):
    """The proof names another RPC, audience or request, or is stale."""

    @property
    def proof(self) -> str:
        """Which part of the Invocation does not fit, such as "issue_time"."""
        return self.metadata.get("proof", "")

    def specifics(self) -> str:
        """What does not fit, and what usually brings it about."""
        causes = {
            "issue_time": "is this machine's clock right?",
            "audience": "are these the credentials of this authority?",
            "request_digest": "does something on the way change requests?",
        }
        return "; ".join(part for part in (super().specifics(), causes.get(self.proof, "")) if part)


class ProofReplayed(ProofRefused):
    """The proof of this read was used before: something on the way sent the read twice."""


class HolderMismatch(NotAdmitted):
    """The capability is for another holder, or another tenant, than the caller."""


class NotAllowed(NotAdmitted):
    """The caller's kind or rights do not allow this RPC."""

    @property
    def right(self) -> str:
        """The right that is missing; empty when the caller's kind could never have it."""
        return self.metadata.get("right", "")


class NotFound(NotAdmitted):
    """Absent, or not visible to this caller: the answer is the same."""


class NotServed(NotAdmitted):
    """The contract declares this RPC; this authority does not serve it yet."""


class Denied(AuthorityError):
    """Judged and refused: what the request's key stands for did not happen, and the same request never will."""

    settles = True


class IdempotencyConflict(Denied):
    """The idempotency key or request id was used for another request, which is settled or still running."""

    remedy = "use a new key for a new request"

    @property
    def differs(self) -> list[str]:
        """The bound terms in which the settled request differs, sorted; empty while it runs."""
        return [term for term in self.metadata.get("differs", "").split(",") if term]

    def specifics(self) -> str:
        """What was expected and what was presented, term by term."""
        key = f"{self.failure.key_field or 'the key'} {shown(self.key)}"
        terms = ", ".join(map(shown, self.differs)) or "the request"
        return f"{terms}: expected as when {key} was first used, presented otherwise"


class StatementRefused(Denied):
    """A statement that was presented does not prove what it says."""


class SignatureInvalid(StatementRefused):
    """The signature was not made by the key it names, over exactly this payload."""


class IssuerUnknown(StatementRefused):
    """The statement was not signed by a key of this authority for this purpose and scope."""


class KeyRevoked(StatementRefused):
    """A key that signed a statement, or that the capability binds, was revoked."""


class BindingMismatch(Denied):
    """A term that the capability binds differs from what was presented or stored."""

    def __init__(self, failure: Failure, *, expected: str | None = None, presented: str | None = None) -> None:
        super().__init__(failure)
        self.expected = expected
        """What the capability binds; None when the client does not hold it."""
        self.presented = presented
        """What this call presented; None when it presented no such term."""

    @property
    def term(self) -> str:
        """The field name in CommitCapability, such as "content_digest"."""
        return self.metadata.get("term", "")

    def explained(self, *, expected: str | None, presented: str | None) -> Self:
        """The same refusal, with the values that the client knows."""
        return type(self)(self.failure, expected=expected, presented=presented)

    def specifics(self) -> str:
        """The term with both values, as far as the client knows them."""
        if self.expected is None:
            return super().specifics()
        presented = "something else" if self.presented is None else shown(self.presented)
        return f"{self.term}: expected {shown(self.expected)}, presented {presented}"


class GrantExceeded(Denied):
    """The grant does not allow this."""

    @property
    def dimension(self) -> str:
        """The dimension of the grant that is exceeded."""
        return self.metadata.get("dimension", "")


class PolicyDenied(Denied):
    """Policy does not allow this, or the active policy is another than the capability binds."""

    remedy = "evaluate policy again; a new decision under the active policy may allow it"


class NotYetValid(Denied):
    """The capability's time has not come."""


class Expired(Denied):
    """A statement that was presented is no longer valid."""

    remedy = (
        "issue again with the same commit_idempotency_key; where a receipt expired, validate or evaluate again first"
    )


class Revoked(Denied):
    """The principal, the capability, the grant, the approval or the content was revoked."""

    remedy = "where a capability was revoked, issue again with the same commit_idempotency_key and a new request_id"


class NotValidated(Denied):
    """The revision is not validated, or a newer one took its place, or it was withdrawn."""


class ApprovalRequired(Denied):
    """Policy asks for an approval that is missing, used up, expired or revoked."""

    remedy = "have a person decide on the revision, then evaluate policy and issue again"


class AlreadyCommitted(Denied):
    """The proposal was committed under another key or capability: one proposal commits once."""

    @property
    def receipt_id(self) -> str:
        """The receipt of the commit that happened."""
        return self.metadata.get("receipt_id", "")


class TryLater(AuthorityError):
    """Not refused: the same request, with the same key, may succeed later."""


class InProgress(TryLater):
    """The same key is still running in another call."""

    leaves_doubt = True


class BudgetExhausted(TryLater):
    """A budget, rate or concurrency of the caller or its grant is used up for now."""

    @property
    def dimension(self) -> str:
        """The dimension of which a grant of the chain has too little left; empty when no grant is the reason."""
        return self.metadata.get("dimension", "")


class Overloaded(TryLater):
    """The authority has too much work waiting and took none of this."""


class Contention(TryLater):
    """Concurrent changes kept colliding with this one."""


class Unavailable(TryLater):
    """A dependency of the authority is away, or the outcome is unknown: for a commit, call again with the same key."""

    leaves_doubt = True


class InternalFault(AuthorityError):
    """The authority failed in a way it did not foresee."""

    leaves_doubt = True

    @property
    def incident_id(self) -> str:
        """Finds the cause in the authority's log."""
        return self.metadata.get("incident_id", "")


class UnknownReason(AuthorityError):
    """The authority gave a reason that this version of the client does not know; `reason` names it."""

    leaves_doubt = True


class TransportError(AuthorityError):
    """No answer of the authority itself: the connection, TLS, a size limit of gRPC, or something in between."""

    leaves_doubt = True


class DeadlineExceeded(TransportError, TimeoutError):
    """The time for the call ran out."""


class ReceiptRejected(AuthorityError):
    """The authority answered with a receipt that does not verify, or that is for something else.

    The call itself succeeded: a commit happened, if the answer was the authority's at all. `statement` is what came;
    `__cause__` is why it is not believed.
    """

    def __init__(self, failure: Failure, statement: SignedStatement) -> None:
        super().__init__(failure)
        self.statement = statement

    def after(self, attempts: int, *, in_doubt: bool) -> Self:  # noqa: ARG002  # the call is over
        """Unchanged: nothing is tried again because of a receipt."""
        return self


class ExportRejected(AuthorityError):
    """The authority handed a record over that a check of `offline.check_export` does not believe.

    `export` is what came, with every check.
    """

    def __init__(self, failure: Failure, export: RecordExport) -> None:
        super().__init__(failure)
        self.export = export


BY_REASON: Final[Mapping[str, type[AuthorityError]]] = MappingProxyType(
    {
        "CALLER_UNAUTHENTICATED": CallerUnauthenticated,
        "MALFORMED": Malformed,
        "LIMIT_EXCEEDED": LimitExceeded,
        "PROOF_INVALID": ProofInvalid,
        "PROOF_REPLAYED": ProofReplayed,
        "HOLDER_MISMATCH": HolderMismatch,
        "NOT_ALLOWED": NotAllowed,
        "IDEMPOTENCY_CONFLICT": IdempotencyConflict,
        "IN_PROGRESS": InProgress,
        "SIGNATURE_INVALID": SignatureInvalid,
        "ISSUER_UNKNOWN": IssuerUnknown,
        "KEY_REVOKED": KeyRevoked,
        "BINDING_MISMATCH": BindingMismatch,
        "GRANT_EXCEEDED": GrantExceeded,
        "POLICY_DENIED": PolicyDenied,
        "NOT_YET_VALID": NotYetValid,
        "EXPIRED": Expired,
        "REVOKED": Revoked,
        "NOT_VALIDATED": NotValidated,
        "APPROVAL_REQUIRED": ApprovalRequired,
        "ALREADY_COMMITTED": AlreadyCommitted,
        "BUDGET_EXHAUSTED": BudgetExhausted,
        "OVERLOADED": Overloaded,
        "NOT_FOUND": NotFound,
        "CONTENTION": Contention,
        "DEPENDENCY_UNAVAILABLE": Unavailable,
        "NOT_IMPLEMENTED": NotServed,
        "INTERNAL": InternalFault,
    }
)
"""The exception of every reason."""
