"""Single values: their shape is checked here, once, for every message that holds them (semantics §2, §10)."""

from collections.abc import Sequence, Sized

from google.protobuf.message import Message

from authority.domain import limits
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.refusal import malformed, over_limit
from authority.domain.shape import ID_RULE, is_id, is_media_type, is_reference, is_uuid
from authority.rpc.refused import Refused
from authority.usecases.paging import PageRequest
from capability_authority.v1 import types_pb2


def require(message: Message, field: str, prefix: str = "") -> None:
    """MALFORMED unless the message field is set."""
    if not message.HasField(field):
        raise Refused(malformed(prefix + field, "required"))


def bound(items: Sized, most: int, path: str) -> None:
    """LIMIT_EXCEEDED for more than `most` items; judged before any item is looked at."""
    if len(items) > most:
        raise Refused(over_limit(path, f"{most} items"))


def identifier(text: str, path: str, most_bytes: int = limits.ID_BYTES) -> str:
    """An id, namespace or key, byte for byte as sent: whitespace and invisible characters are refused (case A09)."""
    _bound_text(text, path, most_bytes)
    if not is_id(text, most_bytes):
        raise Refused(malformed(path, ID_RULE))
    return text


def optional_identifier(text: str, path: str) -> str:
    """An id, or empty."""
    return identifier(text, path) if text else ""


def key(text: str, path: str) -> str:
    """An idempotency key or request id."""
    return identifier(text, path, limits.KEY_BYTES)


def uuid(text: str, path: str) -> str:
    """An id that this authority made."""
    if not is_uuid(text):
        raise Refused(malformed(path, "must be a lowercase UUID" if text else "required"))
    return text


def printable(text: str, path: str, most_bytes: int) -> str:
    """A line of printable characters: no NUL, no line ends, nothing invisible."""
    _bound_text(text, path, most_bytes)
    if not text.isprintable():
        raise Refused(malformed(path, "printable characters only"))
    return text


def references(texts: Sequence[str], path: str) -> tuple[str, ...]:
    """Source or subject references."""
    bound(texts, limits.REFS, path)
    for index, text in enumerate(texts):
        _bound_text(text, f"{path}[{index}]", limits.REF_BYTES)
        if not is_reference(text):
            raise Refused(malformed(f"{path}[{index}]", "printable characters only"))
    return tuple(texts)


def query(text: str, path: str) -> str:
    """Words that are looked for."""
    _bound_text(text, path, limits.QUERY_BYTES)
    if "\0" in text:
        raise Refused(malformed(path, "must not hold NUL"))
    return text


def note(text: str, path: str) -> str:
    """What a person wrote, or empty; any text without NUL, which the database cannot hold (case C11)."""
    if len(text.encode()) > limits.NOTE_BYTES:
        raise Refused(over_limit(path, f"{limits.NOTE_BYTES} bytes"))
    if "\0" in text:
        raise Refused(malformed(path, "must not hold NUL"))
    return text


def content(data: bytes, path: str) -> bytes:
    """Content of the right size; its form is judged by the use case."""
    if not data:
        raise Refused(malformed(path, "required"))
    if len(data) > limits.CONTENT_BYTES:
        raise Refused(over_limit(path, f"{limits.CONTENT_BYTES} bytes"))
    return data


def media_type(text: str, path: str) -> str:
    """A media type that content can have."""
    if not is_media_type(text):
        raise Refused(malformed(path, "must be application/json or text/plain" if text else "required"))
    return text


def count(number: int, path: str) -> int:
    """A number of tokens or micro-dollars: 0 to 2^63 - 1, which int64 cannot exceed (case C15)."""
    if number < 0:
        raise Refused(malformed(path, "must not be negative"))
    return number


def revision(number: int, path: str) -> int:
    """The number of a proposal revision, 1 and up."""
    if number < 1:
        raise Refused(malformed(path, "must be at least 1" if number else "required"))
    return number


def principal(message: Message, field: str, prefix: str = "") -> PrincipalRef:
    """The principal in the field, which must be set."""
    require(message, field, prefix)
    ref: types_pb2.PrincipalRef = getattr(message, field)
    path = prefix + field
    return PrincipalRef(identifier(ref.namespace, f"{path}.namespace"), identifier(ref.id, f"{path}.id"))


def page(
    page_size: int, page_token: str, *, most: int = limits.PAGE_SIZE, default: int = limits.PAGE_SIZE_DEFAULT
) -> PageRequest:
    """The page asked for: `default` items when the size is 0."""
    if page_size < 0:
        raise Refused(malformed("page_size", "must not be negative"))
    if page_size > most:
        raise Refused(over_limit("page_size", str(most)))
    return PageRequest(page_size or default, token(page_token, "page_token"))


def token(text: str, path: str) -> str:
    """A page token or revision token, or empty."""
    if len(text) > limits.PAGE_TOKEN_BYTES:
        raise Refused(over_limit(path, f"{limits.PAGE_TOKEN_BYTES} bytes"))
    return text


def principal_message(ref: PrincipalRef) -> types_pb2.PrincipalRef:
    """The reference as it is sent."""
    return types_pb2.PrincipalRef(namespace=ref.namespace, id=ref.id)


def tenant_message(ref: TenantRef) -> types_pb2.TenantRef:
    """The reference as it is sent."""
    return types_pb2.TenantRef(namespace=ref.namespace, id=ref.id)


def _bound_text(text: str, path: str, most_bytes: int) -> None:
    if not text:
        raise Refused(malformed(path, "required"))
    if len(text.encode()) > most_bytes:
        raise Refused(over_limit(path, f"{most_bytes} bytes"))
