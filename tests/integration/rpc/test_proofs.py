"""A call is authenticated by the bytes that were sent, before they are read (semantics §2)."""

from hashlib import sha256

import grpc
import pytest

from authority.domain.identity import Caller
from authority.domain.invocation import Call
from authority.domain.reasons import Reason
from authority.domain.refusal import Refusal
from authority.domain.verify import Here
from authority.rpc.current_call import current_caller
from authority.rpc.methods import METHODS, MethodKind
from authority.usecases.authenticate import Shown
from authority.usecases.read_key_set import PublishedKeySet
from tests.integration.rpc.running import (
    AUDIENCE,
    CALLER,
    GET_RECORD,
    ONE_RECORD,
    UUID,
    authenticate_anybody,
    running,
    use_cases,
)

KEY_SET = "/capability_authority.v1.CapabilityService/GetKeySet"
PROOF_ENTRY = "capability-authority-proof-bin"


class Gate:
    """Notes what it is asked to authenticate, and refuses."""

    def __init__(self) -> None:
        self.asked: list[tuple[list[bytes], Call]] = []
        self.shown: list[Shown] = []

    async def __call__(self, shown: Shown, call: Call) -> Caller | Refusal:
        """Never anybody."""
        self.asked.append((list(shown.proofs), call))
        self.shown.append(shown)
        return Refusal(Reason.CALLER_UNAUTHENTICATED)


@pytest.mark.parametrize("method", [name for name, kind in METHODS.items() if kind is not MethodKind.OPEN])
async def test_every_rpc_authenticates_before_it_reads(method: str) -> None:
    # Given bytes that are no request of any RPC, when they are sent.
    gate = Gate()
    async with running(use_cases(authenticate=gate)) as service:
        failure = await service.fail(method, b"\xff", metadata=((PROOF_ENTRY, b"p1"),))

    # Then the caller is unauthenticated, for that row stands above MALFORMED, and the call was told as it came.
    # The proof of a stream of requests is over no bytes: its items come later.
    kind = METHODS[method]
    is_read, opens_stream = kind is MethodKind.READ, kind.opens_stream
    digest = sha256(b"" if kind is MethodKind.STREAM else b"\xff").digest()
    assert failure.reason == "CALLER_UNAUTHENTICATED"
    assert gate.asked == [([b"p1"], Call(AUDIENCE, method, digest, is_read=is_read, opens_stream=opens_stream))]


@pytest.mark.parametrize("proofs", [[], [b"p1"], [b"p1", b"p2"], [b"p1", b"p1"], [bytes(range(256))]])
async def test_i06_every_proof_entry_is_shown_to_the_authenticator(proofs: list[bytes]) -> None:
    gate = Gate()
    async with running(use_cases(authenticate=gate)) as service:
        metadata = (("other-bin", b"x"), *((PROOF_ENTRY, proof) for proof in proofs), ("authorization", "Bearer x"))
        await service.fail(metadata=metadata)

    assert [asked for asked, _ in gate.asked] == [proofs]


async def test_the_digest_is_over_the_bytes_before_compression() -> None:
    gate = Gate()
    request = ONE_RECORD * 100
    async with running(use_cases(authenticate=gate)) as service:
        await service.fail(request=request, compression=grpc.Compression.Gzip)

    assert gate.asked[0][1].request_digest == sha256(request).digest()


async def test_i05_the_digest_is_over_the_bytes_and_not_over_their_meaning() -> None:
    # Given two encodings of one request: the signer signs what it sends.
    gate = Gate()
    async with running(use_cases(authenticate=gate)) as service:
        await service.fail(request=ONE_RECORD)
        await service.fail(request=ONE_RECORD + ONE_RECORD)

    digests = [call.request_digest for _, call in gate.asked]
    assert digests == [sha256(ONE_RECORD).digest(), sha256(ONE_RECORD + ONE_RECORD).digest()]


async def test_the_use_case_gets_the_authenticated_caller_and_the_request() -> None:
    seen: list[object] = []

    async def get_record(*given: object, with_unvalidated: bool) -> Refusal:
        seen.extend((*given, with_unvalidated, current_caller()))
        return Refusal(Reason.NOT_FOUND)

    async with running(use_cases(authenticate=authenticate_anybody, get_record=get_record)) as service:
        await service.fail()

    assert seen == [CALLER, UUID, False, CALLER]


async def test_malformed_is_told_before_the_use_case_judges_the_proof() -> None:
    async with running(use_cases()) as service:
        failure = await service.fail(GET_RECORD, b"\x0a\x01*")

    assert failure.reason == "MALFORMED"
    assert failure.violation == ("record_id", "must be a lowercase UUID")


async def test_the_key_set_needs_no_proof() -> None:
    async def get_key_set() -> PublishedKeySet:
        return PublishedKeySet(Here("issuer", AUDIENCE), (), ("type",), "1.2.3")

    async with running(use_cases(authenticate=Gate(), get_key_set=get_key_set)) as service:
        answer = await service.call(KEY_SET, b"", metadata=())

    assert b"issuer" in answer


async def test_an_rpc_without_a_kind_is_served_to_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    # Given an RPC whose line was forgotten.
    monkeypatch.delitem(METHODS, GET_RECORD)

    async with running(use_cases()) as service:
        failure = await service.fail()

    assert failure.reason == "INTERNAL"
