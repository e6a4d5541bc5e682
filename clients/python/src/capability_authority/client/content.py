"""Content as Python has it, as the bytes and media type that are proposed and committed (semantics §3)."""

from typing import Any, Final, TypeAlias

from capability_authority.offline import canonical_content

__all__ = ["JSON", "TEXT", "Content", "content_bytes"]

Content: TypeAlias = dict[str, Any] | list[Any] | str | bytes
"""A dict or list is JSON, a str is plain text, bytes are themselves."""

JSON: Final = "application/json"
TEXT: Final = "text/plain"


def content_bytes(content: Content, media_type: str | None = None) -> tuple[bytes, str]:
    """The exact bytes to send, and their media type.

    A dict or list is sent as application/json in its RFC 8785 form, so that equal content has one digest. A str is sent
    as UTF-8, text/plain unless told otherwise. Bytes are sent as they are and need a media type. Size is not judged.

    Raises `JsonError` (of `offline`) for JSON that the authority would not take, `ValueError` for a media type that
    does not fit or is missing and for a str that has no UTF-8 form, `TypeError` for anything else.
    """
    match content:
        case dict() | list():
            if media_type not in {None, JSON}:
                raise ValueError(f"a {type(content).__name__} is sent as {JSON}, not as {media_type}")
            return canonical_content(content), JSON
        case str():
            if media_type == JSON:
                raise ValueError(f"{JSON} is given as a dict or list, or as canonical bytes, not as a str")
            return _utf8(content), media_type or TEXT
        case bytes():
            if not media_type:
                raise ValueError("bytes need a media_type")
            return content, media_type
    raise TypeError(f"content is a dict, list, str or bytes, not {type(content).__name__}")


def _utf8(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise ValueError("the text holds a lone surrogate, which has no UTF-8 form") from None
