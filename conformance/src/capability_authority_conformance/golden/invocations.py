"""`invocations.json`: proofs of calls, and the calls that they are good for (semantics §2)."""

from collections.abc import Callable
from typing import Any, Final

from capability_authority.offline import pae, payload_type_of, sha256, sign, timestamp
from capability_authority.v1.statements_pb2 import Invocation, Signature, SignedStatement
from capability_authority_conformance.golden import wire
from capability_authority_conformance.golden.form import Flag, Group, Test, VectorFile
from capability_authority_conformance.golden.published_keys import published, published_key
from capability_authority_conformance.golden.samples import AUDIENCE, NOW_MS, REQUEST, SAMPLES, TENANT

__all__ = ["invocations"]

_FLAGS: Final = (
    Flag("Fits", "BASIC", "A proof that is good for its call.", "Nobody can call."),
    Flag(
        "Freshness",
        "REPLAY",
        "A read is fresh for 60 seconds, as the opening of a stream is, and a mutation for 5 minutes; the last "
        "millisecond no longer. The future has 30 seconds of grace.",
        "A proof that was overheard is used later.",
    ),
    Flag("AnotherCall", "REPLAY", "A proof for another RPC, audience or request.", "A proof is used for another call."),
    Flag("AnotherCaller", "CONFUSION", "A proof that names somebody else than its key.", "One calls as another."),
    Flag("Signature", "FORGERY", "A proof that the registered key did not sign.", "Anyone calls as anyone."),
    Flag("Shape", "AMBIGUITY", "Bytes that are no Invocation, or one that none can say.", "A reader guesses."),
)

_HOLDER: Final = SAMPLES["invocation"]
_READ: Final = "/capability_authority.v1.CapabilityService/GetCommitReceipt"
_COMMIT: Final = "/capability_authority.v1.CapabilityService/CommitValidated"
_STREAM: Final = "/capability_authority.v1.CapabilityService/StreamCommitValidated"
_ISSUED_MS: Final = NOW_MS + 2_000
_SKEW_MS: Final = 30_000
_READ_FRESH_MS: Final = 60_000
_MUTATION_FRESH_MS: Final = 300_000
_LIVES: Final = {"read": _READ_FRESH_MS, "stream": _READ_FRESH_MS, "mutation": _MUTATION_FRESH_MS}
_METHODS: Final = {"read": _READ, "stream": _STREAM, "mutation": _COMMIT}


def invocations() -> VectorFile:
    """The file."""
    sample = _message()
    return VectorFile(
        "invocations",
        "Proofs as they travel in `capability-authority-proof-bin`, each with the call that it came with.",
        _FLAGS,
        (
            _group("Proofs that fit their call", _fitting()),
            _group("Proofs that are not fresh", _stale()),
            _group("Proofs for another call", _for_others()),
            _group("Proofs of another caller, or another signer", _by_others()),
            _group("What is no proof", [*_misshapen(), *_torn(sample)]),
        ),
    )


def _group(about: str, tests: list[Test]) -> Group:
    invocation = _message()
    shared = {
        "key": published("holder"),
        "tenant": {"namespace": TENANT.namespace, "id": TENANT.id},
        "principal": {"namespace": invocation.principal.namespace, "id": invocation.principal.id},
    }
    return Group(about, tests, shared)


def _message(change: Callable[[Any], object] | None = None) -> Invocation:
    """The sample's message, changed in place."""
    message = Invocation()
    message.CopyFrom(_HOLDER.message)  # type: ignore[arg-type]  # it is one
    if change is not None:
        change(message)
    return message


def _of_method(kind: str) -> Callable[[Any], object]:
    return lambda terms: setattr(terms, "method", _METHODS[kind])


def _fitting() -> list[Test]:
    edges = [
        _test(
            f"{kind}-{name}",
            comment,
            "Freshness",
            _proof(_of_method(kind)),
            None,
            now_ms=_ISSUED_MS + after_ms,
            kind=kind,
        )
        for kind, life in _LIVES.items()
        for name, comment, after_ms in (
            ("now", "in the millisecond of its making", 0),
            ("last", "in its last millisecond", life - 1),
            ("early", "30 s before its making, by this clock", -_SKEW_MS),
        )
    ]
    return [
        _test("invocation", "the statement of this name in statements.json", "Fits", _HOLDER.statement(), None),
        _test("longest-nonce", "32 bytes", "Fits", _proof(lambda it: setattr(it, "nonce", bytes(range(32)))), None),
        _test(
            "empty-request",
            "a request of no bytes has a digest too",
            "Fits",
            _proof(lambda it: setattr(it, "request_digest", sha256(b""))),
            None,
            request=b"",
        ),
        *edges,
    ]


def _stale() -> list[Test]:
    return [
        _test(
            f"{kind}-{name}",
            comment,
            "Freshness",
            _proof(_of_method(kind)),
            "issue_time",
            now_ms=_ISSUED_MS + after_ms,
            kind=kind,
        )
        for kind, life in _LIVES.items()
        for name, comment, after_ms in (
            ("stale", "in the millisecond in which it ends", life),
            ("long-stale", "a day later", 86_400_000),
            ("too-early", "a millisecond beyond the grace", -_SKEW_MS - 1),
        )
    ]


def _for_others() -> list[Test]:
    right = _HOLDER.statement()
    return [
        _test("other-request", "another byte", "AnotherCall", right, "request_digest", request=REQUEST[:-1] + b"2"),
        _test("longer-request", "one byte more", "AnotherCall", right, "request_digest", request=REQUEST + b"\0"),
        _test("no-request", "none", "AnotherCall", right, "request_digest", request=b""),
        _test(
            "equal-request",
            "other bytes that say the same: a length in two bytes (D13)",
            "AnotherCall",
            right,
            "request_digest",
            request=REQUEST[:1] + wire.varint(REQUEST[1], size=2) + REQUEST[2:],
        ),
        _test("other-audience", "another service", "AnotherCall", right, "audience", audience="search.example"),
        _test("audience-case", "another case", "AnotherCall", right, "audience", audience="Memory.example"),
        _test("audience-prefix", "the same and more", "AnotherCall", right, "audience", audience=AUDIENCE + "/a"),
        _test(
            "no-audience", "none in the proof", "AnotherCall", _proof(lambda it: it.ClearField("audience")), "audience"
        ),
        _test("other-method", "another RPC", "AnotherCall", right, "method", method=_COMMIT, kind="mutation"),
        _test("method-case", "another case", "AnotherCall", right, "method", method=_READ.lower()),
        _test(
            "method-bare",
            "no package and service in the proof",
            "AnotherCall",
            _proof(lambda it: setattr(it, "method", "GetCommitReceipt")),
            "method",
        ),
        _test(
            "method-without-slash",
            "no slash before it in the proof",
            "AnotherCall",
            _proof(lambda it: setattr(it, "method", _READ[1:])),
            "method",
        ),
        _test(
            "digest-of-digits",
            "the digest of the request's hexadecimal digits",
            "AnotherCall",
            _proof(lambda it: setattr(it, "request_digest", sha256(REQUEST.hex().encode()))),
            "request_digest",
        ),
    ]


def _by_others() -> list[Test]:
    right = _HOLDER.statement()
    forged = SignedStatement(payload_type=right.payload_type, payload=right.payload)
    forged.signature.key_id = right.signature.key_id
    forged.signature.signature = published_key("stranger").sign(pae(right.payload_type, right.payload))
    bare = SignedStatement()
    bare.CopyFrom(forged)
    bare.signature.signature = published_key("holder").sign(right.payload)
    unsigned = SignedStatement()
    unsigned.CopyFrom(forged)
    unsigned.signature.signature = b""
    return [
        _test(
            "other-principal",
            "of the same namespace",
            "AnotherCaller",
            _proof(lambda it: setattr(it.principal, "id", "other")),
            "principal",
        ),
        _test(
            "other-principal-namespace",
            "the same id in another namespace",
            "AnotherCaller",
            _proof(lambda it: setattr(it.principal, "namespace", "ruflo-agent")),
            "principal",
        ),
        _test(
            "other-tenant",
            "of the same namespace",
            "AnotherCaller",
            _proof(lambda it: setattr(it.tenant, "id", "other")),
            "principal",
        ),
        _test(
            "other-tenant-namespace",
            "the same id in another namespace",
            "AnotherCaller",
            _proof(lambda it: setattr(it.tenant, "namespace", "meta-llm-account")),
            "principal",
        ),
        _test(
            "by-a-stranger",
            "signed by another key, under its own name",
            "Signature",
            sign(_HOLDER.message, published_key("stranger")),
            "key_unknown",
        ),
        _test("forged", "signed by another key, under this one's name", "Signature", forged, "signature_invalid"),
        _test("not-encoded", "signed over the payload alone", "Signature", bare, "signature_invalid"),
        _test("unsigned", "no signature", "Signature", unsigned, "signature_invalid"),
    ]


def _misshapen() -> list[Test]:
    """Well signed, and nothing that an Invocation can say."""
    changes: tuple[tuple[str, str, Callable[[Any], object]], ...] = (
        ("nonce-short", "15 bytes", lambda it: setattr(it, "nonce", bytes(15))),
        ("nonce-long", "33 bytes", lambda it: setattr(it, "nonce", bytes(33))),
        ("nonce-empty", "no bytes", lambda it: it.ClearField("nonce")),
        ("digest-short", "31 bytes", lambda it: setattr(it, "request_digest", bytes(31))),
        ("digest-empty", "no bytes", lambda it: it.ClearField("request_digest")),
        ("no-issue-time", "absent, which is not 1970", lambda it: it.ClearField("issue_time")),
        ("issue-time-before-1970", "a millisecond before", lambda it: it.issue_time.CopyFrom(timestamp(-1))),
        ("no-tenant", "absent, which is not every tenant", lambda it: it.ClearField("tenant")),
        ("tenant-id-empty", "empty, which is not every tenant", lambda it: it.tenant.ClearField("id")),
        ("no-principal", "absent", lambda it: it.ClearField("principal")),
        ("principal-line-feed", "a line feed behind the id", lambda it: setattr(it.principal, "id", "committer\n")),
    )
    return [_test(name, comment, "Shape", _proof(change), "unreadable") for name, comment, change in changes]


def _torn(message: Invocation) -> list[Test]:
    right = _HOLDER.statement().SerializeToString(deterministic=True)
    payload = message.SerializeToString(deterministic=True)
    half = wire.field(7, wire.field(1, 1) + wire.field(2, 500_000))
    shapes = (
        ("unknown-field", "a field behind the payload's", _signed_bytes(payload + wire.field(8, 1))),
        ("half-a-millisecond", "an issue time finer than a millisecond", _signed_bytes(payload + half)),
        ("field-twice", "an audience twice, the last counts", _signed_bytes(wire.field(3, b"other") + payload)),
        (
            "another-kind",
            "an evidence claim",
            SAMPLES["evidence-claim"].statement().SerializeToString(deterministic=True),
        ),
        ("two-proofs", "one behind the other", right + right),
        ("trailing-byte", "a zero behind", right + b"\0"),
        ("cut-off", "the last byte is missing", right[:-1]),
        ("nothing", "no bytes", b""),
        ("text", "no protobuf at all", b"Bearer proof"),
    )
    return [_test_bytes(f"torn-{name}", comment, "Shape", data, "unreadable") for name, comment, data in shapes]


def _signed_bytes(payload: bytes) -> bytes:
    key, payload_type = published_key("holder"), payload_type_of(Invocation)
    signature = Signature(key_id=key.public_key.key_id, signature=key.sign(pae(payload_type, payload)))
    statement = SignedStatement(payload_type=payload_type, payload=payload, signature=signature)
    return statement.SerializeToString(deterministic=True)


def _proof(change: Callable[[Any], object]) -> SignedStatement:
    return sign(_message(change), published_key("holder"))


def _test(name: str, comment: str, flag: str, proof: SignedStatement, reason: str | None, **call: Any) -> Test:  # noqa: ANN401
    return _test_bytes(name, comment, flag, proof.SerializeToString(deterministic=True), reason, **call)


def _test_bytes(  # noqa: PLR0913 - a row of a table
    name: str,
    comment: str,
    flag: str,
    proof: bytes,
    reason: str | None,
    *,
    audience: str = AUDIENCE,
    method: str | None = None,
    request: bytes = REQUEST,
    kind: str = "read",
    now_ms: int = NOW_MS + 3_000,
) -> Test:
    inputs = {
        "proof": proof.hex(),
        "call": {
            "audience": audience,
            "method": method or _METHODS[kind],
            "request": request.hex(),
            "kind": kind,
        },
        "now_ms": now_ms,
    }
    return Test(name, comment, (flag,), inputs, reason)
