"""Every error this package raises on purpose.

    ValueError
    └── OfflineError
        ├── ActionEnvelopeInvalid       an envelope of upstream's that no verifier would take
        ├── DigestError                 not "sha256:" and 64 lowercase hexadecimal digits
        ├── InstantError                not a whole millisecond between the years 1 and 9999
        ├── JsonError                   not JSON that the authority takes
        │   └── NonCanonicalJson        not, byte for byte, the RFC 8785 form
        ├── KeyRefused                  not a key that can be trusted with anything
        │   └── KeyFileExposed          a private key file that others can read or change
        ├── KeySetRefused               a key set that is not the pinned issuer's, or contradicts itself
        └── StatementError              a statement that proves nothing; says what was expected and presented
            ├── UnreadableStatement     bytes that have no single reading
            │   ├── EnvelopeRefused     … those around the payload
            │   └── PayloadRefused      … those of the payload itself, however well signed
            ├── PayloadTypeMismatch     a statement of another kind
            ├── KeyUnknown              signed by a key that is not known
            ├── SignatureInvalid        not signed by the key it names
            ├── KeyPurposeMismatch      signed by a key that has another purpose
            ├── KeyScopeMismatch        signed by a key of another tenant or memory namespace
            ├── KeyRevoked              signed by a key that was revoked, and nobody vouches for it
            ├── IssuerMismatch          made by another issuer
            ├── ContentMismatch         a receipt for other content
            ├── AttestationInvalid      an attestation that vouches for something else
            ├── GrantMalformed          a grant that says what none can say, or no chain of grants at all
            ├── GrantExceeded           a grant that is wider than its parent, or is used for more than it says
            ├── GrantNotYetValid        a grant before its time
            ├── GrantExpired            a grant after its time
            ├── Withdrawn               what it rests on was withdrawn since, as the feed of revocations tells
            ├── FeedBroken              an item that does not follow what the feed has told before
            └── FeedStale               a feed that has not been heard of for too long

Messages quote what was presented cut short and escaped, so that they can be logged; they never hold content or keys.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Final

if TYPE_CHECKING:
    from capability_authority.offline.upstream.values import Issue

_SHOWN_CHARACTERS = 160
_SHOWN_ISSUES = 8
_JSON_RULES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "integer_out_of_range": "integers end at ±(2^53-1), larger ones are sent as text",
        "number_out_of_range": "neither NaN nor infinity is a number of JSON",
        "unsupported_type": "only None, bool, int, float, str, list, tuple and dict with str keys are JSON",
    }
)
"""What to know of the problems that a program's own values have."""


class OfflineError(ValueError):
    """Base of every error here: what was given cannot be accepted, and asking again will not change that."""


class ActionEnvelopeInvalid(OfflineError):
    """An envelope of `cognitum.action.v1` that is not signed, for no verifier would take it; `issues` says why."""

    def __init__(self, issues: Sequence["Issue"]) -> None:
        self.issues = tuple(issues)
        told = ", ".join(f"{_shown(issue.path)} {issue.code}" for issue in self.issues[:_SHOWN_ISSUES])
        super().__init__(f"the envelope is none of cognitum.action.v1: {told}")


class DigestError(OfflineError):
    """A digest is not "sha256:" and 64 lowercase hexadecimal digits, or not 32 raw bytes (semantics §3)."""


class InstantError(OfflineError):
    """An instant is outside the years 1 to 9999, or finer than a millisecond (semantics §3)."""


class JsonError(OfflineError):
    """JSON text, or a value to be written as JSON, that the authority does not take.

    `problem` is a stable machine word: one of the `PROBLEMS` of `canonical_json`. `path` is a JSON pointer (RFC 6901)
    to the first offending value, long names cut short; empty for the document itself, None when it has no place.
    """

    def __init__(self, problem: str, path: str | None = None) -> None:
        self.problem = problem
        self.path = path
        rule = f"; {_JSON_RULES[problem]}" if problem in _JSON_RULES else ""
        super().__init__(f"JSON refused: {problem}" + (f" at {_shown(path)}" if path else "") + rule)


class NonCanonicalJson(JsonError):
    """Bytes that are not exactly the RFC 8785 form of a document the authority takes."""


class KeyRefused(OfflineError):
    """Bytes or a file that do not hold a usable Ed25519 key; the message says why."""


class KeyFileExposed(KeyRefused):
    """A private key file whose mode lets its group or others read or change it (semantics §2)."""


class KeySetRefused(OfflineError):
    """A key set that is not the pinned issuer's, holds no pinned key, or contradicts itself."""


class StatementError(OfflineError):
    """A statement that proves nothing. `expected` and `presented` say in words what was wanted and what was there."""

    sentence: ClassVar[str] = "the statement is refused"

    def __init__(self, *, expected: str, presented: str) -> None:
        self.expected = expected
        self.presented = presented
        super().__init__(f"{self.sentence}: expected {_shown(expected)}, presented {_shown(presented)}")


class PayloadTypeMismatch(StatementError):
    """The statement is of another kind than the one asked for, or of no known kind."""

    sentence = "the statement is of another kind"


class KeyUnknown(StatementError):
    """No known key has the id that the statement names."""

    sentence = "the signing key is not known"


class SignatureInvalid(StatementError):
    """The signature was not made by the named key over exactly this payload type and payload."""

    sentence = "the signature is not valid"


class KeyPurposeMismatch(StatementError):
    """The key has another purpose than the payload type calls for: no statement passes for another (semantics §3)."""

    sentence = "the signing key has another purpose"


class KeyScopeMismatch(StatementError):
    """The key may not sign for this tenant or memory namespace."""

    sentence = "the signing key has another scope"


class KeyRevoked(StatementError):
    """The key was revoked, and no attestation of a current receipt key was given."""

    sentence = "the signing key was revoked"


class IssuerMismatch(StatementError):
    """The statement names another issuer than the pinned one."""

    sentence = "the statement is of another issuer"


class ContentMismatch(StatementError):
    """The content given is not the content that the receipt is for."""

    sentence = "the receipt is for other content"


class AttestationInvalid(StatementError):
    """The attestation does not vouch for exactly this statement."""

    sentence = "the attestation vouches for something else"


class GrantMalformed(StatementError):
    """The grant says what no grant can say, in `path`, whoever signed it; or there is no chain of grants."""

    sentence = "the grant is malformed"

    def __init__(self, path: str, *, expected: str, presented: str) -> None:
        self.path = path
        super().__init__(expected=expected, presented=presented)


class GrantExceeded(StatementError):
    """The grant is wider than its parent, or used for more than it says, in `dimension`: a field of Grant."""

    sentence = "the grant does not reach as far"

    def __init__(self, dimension: str, *, expected: str, presented: str) -> None:
        self.dimension = dimension
        super().__init__(expected=expected, presented=presented)


class GrantNotYetValid(StatementError):
    """A block of the chain is not valid yet, by the clock of whoever verifies."""

    sentence = "the grant is not valid yet"


class GrantExpired(StatementError):
    """A block of the chain has expired."""

    sentence = "the grant has expired"


class Withdrawn(StatementError):
    """What the statement says is true and counts no more: something that it rests on was withdrawn for ever."""

    sentence = "what the statement rests on was withdrawn"


class FeedBroken(StatementError):
    """The feed of revocations leaves something out, repeats, goes back, or is another's: trust nothing of it."""

    sentence = "the feed of revocations is broken"


class FeedStale(StatementError):
    """Nothing recent enough says that there are no other revocations: whether something was withdrawn is not known."""

    sentence = "the feed of revocations is too old"


class UnreadableStatement(StatementError):
    """Bytes that have no single reading. `problem` is a stable machine word, `path` the field it was found at."""

    rules: ClassVar[dict[str, str]] = {
        "not_parsable": "a well-formed message",
        "unknown_field": "only known fields, at every depth",
        "not_deterministic": "the deterministic encoding of what it says",
        "unknown_enum_value": "only known enum values, at every depth",
        "instant_out_of_range": "whole milliseconds between the years 1 and 9999",
        "not_dsse_json": "a DSSE JSON envelope with one signature",
    }

    def __init__(self, problem: str, path: str = "") -> None:
        self.problem = problem
        self.path = path
        super().__init__(expected=self.rules[problem], presented=problem + (f" at {path}" if path else ""))


class PayloadRefused(UnreadableStatement):
    """A payload that breaks the reading rule (semantics §3)."""

    sentence = "the payload is refused"


class EnvelopeRefused(UnreadableStatement):
    """Bytes or text that are not exactly one signed statement."""

    sentence = "the signed statement is refused"


def _shown(text: str) -> str:
    """`text` fit for one line of a log: escaped, and cut short."""
    escaped = text[:_SHOWN_CHARACTERS].encode("unicode_escape").decode("ascii")
    return escaped if len(text) <= _SHOWN_CHARACTERS else f"{escaped}…"
