"""Which requests under one request id are the same request."""

import pytest

from authority.rpc.convert.marks import request_mark
from authority.rpc.refused import Refused
from capability_authority.v1 import proposal_service_pb2 as pb
from tests.unit.rpc.requests import CALLER, UUID


def _digest(request: pb.ValidateProposalRequest | pb.DecideProposalRequest) -> bytes:
    return request_mark(CALLER, request).digest


def test_d13_another_encoding_of_one_request_has_the_same_digest() -> None:
    # Given one request as protobuf writes it, with a field written twice, with a long varint, and with a long tag.
    plain = pb.ValidateProposalRequest(request_id="r1", proposal_id=UUID, revision=2)
    raw = plain.SerializeToString()
    variants = [b"\x18\x07" + raw, raw.replace(b"\x18\x02", b"\x18\x82\x00"), raw.replace(b"\x18\x02", b"\x98\x00\x02")]
    assert len({raw, *variants}) == 4

    # When each is read, then all of them mean the same.
    digests = {_digest(pb.ValidateProposalRequest.FromString(variant)) for variant in variants}

    assert digests == {_digest(plain)}


def test_the_request_id_is_told_beside_the_digest_and_not_inside() -> None:
    marks = [
        request_mark(CALLER, pb.ValidateProposalRequest(request_id=request_id, proposal_id=UUID, revision=2))
        for request_id in ("r1", "r2")
    ]

    assert [mark.request_id for mark in marks] == ["r1", "r2"]
    assert marks[0].digest == marks[1].digest


@pytest.mark.parametrize("other", [{"revision": 3}, {"proposal_id": UUID.replace("1", "2")}])
def test_another_request_has_another_digest(other: dict[str, object]) -> None:
    one = pb.ValidateProposalRequest(request_id="r1", proposal_id=UUID, revision=2)
    two = pb.ValidateProposalRequest(**{"request_id": "r1", "proposal_id": UUID, "revision": 2} | other)  # type: ignore[arg-type] # fields by name

    assert _digest(one) != _digest(two)


def test_d11_equal_bytes_of_two_rpcs_are_two_requests() -> None:
    validate = pb.ValidateProposalRequest(request_id="r1", proposal_id=UUID, revision=2)
    decide = pb.DecideProposalRequest(request_id="r1", proposal_id=UUID, revision=2)
    assert validate.SerializeToString() == decide.SerializeToString()

    assert _digest(validate) != _digest(decide)


def test_g16_an_oversized_request_id_is_refused() -> None:
    with pytest.raises(Refused):
        request_mark(CALLER, pb.ValidateProposalRequest(request_id="r" * 129))
