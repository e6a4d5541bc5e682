"""What is no signed envelope, and no envelope, for `upstream_envelopes.json`."""

from collections.abc import Callable, Iterator

from capability_authority.offline import canonicalize
from capability_authority_conformance.golden.form import Test
from capability_authority_conformance.golden.upstream_samples import Members, envelope, signed, upstream_test, wrapper

__all__ = ["structures", "texts", "wrappers"]


def wrappers() -> Iterator[Test]:
    """What is not exactly an envelope, algorithm, key id and signature."""
    usual = wrapper(envelope())
    text: str = usual["signature"]
    for name, comment, changes, issues in (
        ("algorithm-none", "no algorithm is asked for", {"algorithm": "none"}, [("$.algorithm", "unsupported_value")]),
        ("algorithm-case", "another case", {"algorithm": "ed25519"}, [("$.algorithm", "unsupported_value")]),
        (
            "algorithm-hmac",
            "the public key as a secret (E06)",
            {"algorithm": "HS256"},
            [("$.algorithm", "unsupported_value")],
        ),
        ("extra", "something beside", {"extra": 1}, [("$.extra", "unknown_field")]),
        ("signature-padded", "with padding", {"signature": text + "=="}, [("$.signature", "invalid_format")]),
        ("signature-short", "63 bytes", {"signature": text[:84]}, [("$.signature", "invalid_format")]),
        (
            "signature-standard",
            "with the letters of standard base64",
            {"signature": "+/" + text[2:]},
            [("$.signature", "invalid_format")],
        ),
        ("signature-null", "null", {"signature": None}, [("$.signature", "invalid_type")]),
        ("key-id-space", "a space in the key id", {"keyId": "a b"}, [("$.keyId", "invalid_format")]),
    ):
        yield upstream_test(
            f"wrapper-{name}", comment, "Wrapper", canonicalize(usual | changes), "malformed_signed_envelope", issues
        )
    for member in ("envelope", "algorithm", "keyId", "signature"):
        without = canonicalize({name: value for name, value in usual.items() if name != member})
        yield upstream_test(
            f"wrapper-no-{member.lower()}",
            "left out",
            "Wrapper",
            without,
            "malformed_signed_envelope",
            [(f"$.{member}", "missing")],
        )


def texts() -> Iterator[Test]:
    """Text that has no single reading."""
    usual = canonicalize(wrapper(envelope()))
    for name, comment, text in (
        (
            "name-twice",
            "a content digest twice, the last counts",
            usual.replace(b'"contentDigest":', b'"contentDigest":"x","contentDigest":', 1),
        ),
        (
            "name-twice-escaped",
            "once escaped",
            usual.replace(b'"contentDigest":', b'"content\\u0044igest":"x","contentDigest":', 1),
        ),
        ("wrapper-twice", "a key id twice", usual.replace(b'"keyId":', b'"keyId":"a","keyId":', 1)),
        ("envelope-twice", "two envelopes", usual.replace(b'"envelope":', b'"envelope":{},"envelope":', 1)),
        ("trailing-text", "a second document", usual + b"{}"),
        ("byte-order-mark", "before the document", b"\xef\xbb\xbf" + usual),
        ("not-utf-8", "a byte that begins nothing", usual.replace(b"event-4711", b"event-\xff", 1)),
        ("cut-off", "the last brace is missing", usual[:-1]),
        ("nothing", "no text", b""),
    ):
        yield upstream_test(f"text-{name}", comment, "TwoReadings", text, "malformed_signed_envelope", [])
    for name, text in (("list", b"[]"), ("null", b"null"), ("number", b"1")):
        yield upstream_test(f"text-{name}", "no object", "Wrapper", text, "malformed_signed_envelope", [])


def structures() -> Iterator[Test]:
    """What upstream's closed schema does not take."""
    changes: tuple[tuple[str, str, Callable[[Members], object], list[tuple[str, str]]], ...] = (
        (
            "unknown-field",
            "a memory namespace of its own",
            lambda it: it.update(namespace="team/build"),
            [("$.namespace", "unknown_field")],
        ),
        ("actor-null", "null is not absent", lambda it: it.update(actor=None), [("$.actor", "invalid_type")]),
        (
            "action-space",
            "a space behind the action",
            lambda it: it.update(action="memory.commit-validated "),
            [("$.action", "unsupported_value")],
        ),
        (
            "digest-capital",
            "capital digits",
            lambda it: it.update(contentDigest=it["contentDigest"].upper().replace("SHA", "sha")),
            [("$.contentDigest", "invalid_format")],
        ),
        (
            "time-zone",
            "an offset for Z",
            lambda it: it.update(occurredAt="2026-09-21T14:14:20.000+00:00"),
            [("$.occurredAt", "invalid_format")],
        ),
        (
            "time-leap",
            "a second 60",
            lambda it: it.update(occurredAt="2026-09-21T14:14:60.000Z"),
            [("$.occurredAt", "invalid_format")],
        ),
        (
            "time-micro",
            "microseconds",
            lambda it: it.update(occurredAt="2026-09-21T14:14:20.000000Z"),
            [("$.occurredAt", "invalid_format")],
        ),
        ("no-expiry", "which a commit must have", lambda it: it.pop("expiresAt"), [("$.expiresAt", "missing")]),
        (
            "no-request",
            "which a commit must have",
            lambda it: it.pop("requestDigest"),
            [("$.requestDigest", "missing")],
        ),
        (
            "no-memory",
            "an empty list, which is not every memory namespace",
            lambda it: it.update(resourceRefs=[]),
            [("$.resourceRefs", "invalid_type")],
        ),
        (
            "owner",
            "memory is not policy's",
            lambda it: it["authoritativeSource"].update(authority="ruflo.policy", sourceType="ruflo.policy/a"),
            [("$.authoritativeSource.authority", "invalid_authority")],
        ),
        (
            "identity",
            "a subject of no namespace of identities",
            lambda it: it["subject"].update(namespace="user"),
            [("$.subject.namespace", "identity_namespace_required")],
        ),
        (
            "privacy",
            "a class that there is not",
            lambda it: it.update(privacyClass="P4"),
            [("$.privacyClass", "unsupported_value")],
        ),
    )
    for name, comment, change, issues in changes:
        yield upstream_test(f"structure-{name}", comment, "Structure", signed(change), "invalid_envelope", issues)
    for name, members in (("list", []), ("text", "a")):
        text = canonicalize(wrapper(envelope()) | {"envelope": members})
        yield upstream_test(
            f"structure-{name}", "no object", "Structure", text, "invalid_envelope", [("$", "invalid_type")]
        )
