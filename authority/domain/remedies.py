"""What whoever met a reason can do about it: one row for each, for `authority explain` and the documentation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from authority.domain.reasons import Reason

NO: Final = "no"
"""The same call gets the same answer."""
YES: Final = "yes"
LATER: Final = "yes, later"
SAME_KEY: Final = "yes, same key"
NEW_PROOF: Final = "new proof"
"""Another proof is another call: clients make one for each attempt."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """A row of the table. Texts are whole sentences."""

    again: str
    """Whether the same call may be made again, in the words of the error table of ARCHITECTURE.md."""
    causes: str
    """What brings it about."""
    do: str
    """What to do."""
    facts: Mapping[str, str] = field(default_factory=dict)
    """What ErrorInfo's metadata may tell, by name."""
    see: tuple[str, ...] = ()
    """The rules behind it, and the cases that it was tested by."""


_FIELD: Final = {"field": "the path of the field in the request"}
_SHAPE: Final = {**_FIELD, "problem": "what is wrong with it, or what it may be at most"}
_INCIDENT: Final = {"incident_id": "names the entry in the authority's log, where there is one"}
_EXTERNAL: Final = {"external_authority": "whose decision is missing, or does not count"}
_RECEIPT: Final = {"receipt_id": "the receipt of that commit"}

REMEDIES: Final[Mapping[Reason, Remedy]] = MappingProxyType(
    {
        Reason.CALLER_UNAUTHENTICATED: Remedy(
            NO,
            "No proof came along, or it cannot be read, or its key is unknown, revoked, or another principal's.",
            "See by `authority principals list` whether the key of the credentials is active for this principal.",
            see=("semantics §2",),
        ),
        Reason.MALFORMED: Remedy(
            NO,
            "A field is missing, has the wrong form, or is none of the contract's; or JSON content is not canonical.",
            "Mend the field that is named; `authority call RPC --describe` shows what a request holds.",
            _SHAPE,
            ("semantics §3", "cases D06, E11"),
        ),
        Reason.LIMIT_EXCEEDED: Remedy(
            NO,
            "A field, list or message is larger than the authority takes.",
            "Send less at once; content that is too large belongs into evidence, by its digest.",
            _SHAPE,
            ("semantics §10",),
        ),
        Reason.PROOF_INVALID: Remedy(
            NEW_PROOF,
            "The proof is well signed, but for another RPC, audience or request, or it is too old; or a signed envelope"
            " of upstream is not for exactly this commit, or not by an active key of the capability's holder.",
            "For issue_time set the clock right; for audience use this authority's credentials; for request_digest look"
            " for what changes requests on the way. Envelopes are taken only by an authority whose audience is one of"
            " upstream's, such as ruflo.memory, in tenants of one of its namespaces, such as cognitum-tenant; make a"
            " new one for what the capability binds, within five minutes of the commit.",
            {
                "proof": "the part of the Invocation, or the condition of the envelope, that does not hold",
                "issue": "where the envelope's structure is wrong first",
            },
            ("semantics §2, §5", "cases I05, I07, I08"),
        ),
        Reason.PROOF_REPLAYED: Remedy(
            NEW_PROOF,
            "A read came twice with one proof: something on the way sent it again, or somebody captured it.",
            "Ask again with a new proof, as clients do by themselves; look for a proxy that retries.",
            see=("semantics §2", "cases I03, I04"),
        ),
        Reason.HOLDER_MISMATCH: Remedy(
            NO,
            "The capability is for another holder, or another tenant, than the caller.",
            "Have its holder commit it, or have one issued for this caller.",
            see=("semantics §5", "case A01"),
        ),
        Reason.NOT_ALLOWED: Remedy(
            NO,
            "The caller's kind can never do this, or its right to do it is missing.",
            "See its kind and rights by `authority principals list`; another principal may be the one to ask.",
            {**_SHAPE, "right": "the right that is missing", "kind": "the kind that may"},
            ("semantics §2", "ADR-328 §6"),
        ),
        Reason.IDEMPOTENCY_CONFLICT: Remedy(
            NO,
            "This idempotency key or request id stands for another request, which is settled or still running.",
            "Use a new key for a new request; for a retry send exactly what was sent first.",
            {**_FIELD, "differs": "the bound terms that differ from the settled request"},
            ("semantics §5", "cases A12, A18"),
        ),
        Reason.IN_PROGRESS: Remedy(
            LATER,
            "The same request was still running when this caller's time was up.",
            "Ask again with the same key: it gets the first one's result.",
            see=("semantics §5", "case A02"),
        ),
        Reason.SIGNATURE_INVALID: Remedy(
            NO,
            "A presented statement is not what was signed: a byte of it, of its type or of its signature differs.",
            "Present the bytes that were issued, as they came; `authority inspect` shows what they say.",
            _EXTERNAL,
            ("semantics §3", "cases E06, E10"),
        ),
        Reason.ISSUER_UNKNOWN: Remedy(
            NO,
            "The key that signed is none of this authority's, or is not for such statements or this tenant.",
            "Get a statement from this authority; `authority keys list` shows its keys and what each is for.",
            _EXTERNAL,
            ("semantics §3",),
        ),
        Reason.KEY_REVOKED: Remedy(
            NO,
            "The issuer key that signed the statement, or the holder key that it binds, was revoked.",
            "Have it issued again, for an active key of its holder.",
            _FIELD | _EXTERNAL,
            ("semantics §5", "case I11"),
        ),
        Reason.BINDING_MISMATCH: Remedy(
            NO,
            "What is presented, or what holds now, is not what was bound when the capability was issued.",
            "Present exactly what is bound; for changed content propose, validate and issue anew. Nothing is used up.",
            {"term": "the bound term that differs"},
            ("semantics §4", "cases A04, G13"),
        ),
        Reason.GRANT_EXCEEDED: Remedy(
            NO,
            "The grant does not reach as far as this.",
            "Ask its issuer for one that does.",
            {"dimension": "in what the grant is too narrow"},
            ("semantics §6",),
        ),
        Reason.POLICY_DENIED: Remedy(
            NO,
            "Policy forbids it, says nothing of it, or another version of it decides by now.",
            "Evaluate policy again; what it answers names the policies that determined it. A grant is made anew.",
            _FIELD | {"problem": "what else forbids it"} | _EXTERNAL,
            ("semantics §7",),
        ),
        Reason.NOT_YET_VALID: Remedy(
            NO,
            "Its time has not begun.",
            "Wait until then, or see whether this machine's clock is right.",
            {"not_before_time_ms": "when it begins, in milliseconds since 1970"},
            ("semantics §3",),
        ),
        Reason.EXPIRED: Remedy(
            NO,
            "Its time is over: the capability's, or that of a receipt or approval behind it.",
            "Issue again with the same commit key; what expired behind it is renewed first.",
            {**_FIELD, "expire_time_ms": "when it ended, in milliseconds since 1970"},
            ("semantics §3",),
        ),
        Reason.REVOKED: Remedy(
            NO,
            "The capability, or what it rests on, was withdrawn.",
            "Ask whoever withdrew it. If it shall be after all, issue again with a new request id.",
            _SHAPE,
            ("semantics §8", "case I11"),
        ),
        Reason.NOT_VALIDATED: Remedy(
            NO,
            "The revision has no validation that counts: none, a failed one, or a newer revision took its place.",
            "Validate the newest revision, and mend what the findings name.",
            {"problem": "why it does not count"},
            ("semantics §7",),
        ),
        Reason.APPROVAL_REQUIRED: Remedy(
            NO,
            "Policy asks for persons to approve exactly this revision, and none stand, or fewer than it wants.",
            "Have users or admins who had no part in it decide, then evaluate policy again.",
            see=("semantics §7",),
        ),
        Reason.ALREADY_COMMITTED: Remedy(
            NO,
            "This proposal was committed before, under another key.",
            "Nothing: it is written, and the receipt proves it. For other content propose a correction.",
            _RECEIPT,
            ("semantics §5", "ADR-328 §10"),
        ),
        Reason.BUDGET_EXHAUSTED: Remedy(
            LATER,
            "A budget or rate is used up for now.",
            "Wait, or ask for a larger one. What a grant says of uses, tokens and money is never refilled.",
            {"dimension": "of what a grant of the chain has too little left"},
            ("semantics §6", "case E22"),
        ),
        Reason.OVERLOADED: Remedy(
            LATER,
            "More work waits than the authority takes on; nothing was done.",
            "Ask again after a moment, as clients do by themselves; operators see why by `authority top`.",
            _INCIDENT,
            ("semantics §10",),
        ),
        Reason.NOT_FOUND: Remedy(
            NO,
            "There is no such thing, or it is not visible to this caller: the answer is the same for both.",
            "See whether id, tenant and memory namespace are right, and whether this principal may see it.",
            _FIELD,
            ("semantics §8", "case G02"),
        ),
        Reason.CONTENTION: Remedy(
            YES,
            "Others kept changing the same rows at the same moment.",
            "Ask again, as clients do by themselves.",
            _INCIDENT,
            ("semantics §5",),
        ),
        Reason.DEPENDENCY_UNAVAILABLE: Remedy(
            SAME_KEY,
            "PostgreSQL is away, or the outcome of the call is unknown, or this was a read while Redis is away.",
            "Ask again with the same key: whatever happened, it happens once. Operators ask `authority doctor`.",
            _INCIDENT,
            ("semantics §5", "cases A06, C01"),
        ),
        Reason.NOT_IMPLEMENTED: Remedy(
            NO,
            "The contract declares this RPC or field, and this version does not serve it.",
            "Use a newer authority; the CHANGELOG says which.",
        ),
        Reason.INTERNAL: Remedy(
            NO,
            "A defect of the authority. Nothing internal is told to callers.",
            "Give the operator the incident id: the log says under it what happened.",
            _INCIDENT,
            ("case F01",),
        ),
    }
)
"""In the order of the reasons; a house test compares `again` with ARCHITECTURE.md and with what callers are told."""
