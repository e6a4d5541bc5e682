"""Which requests under one request id are the same request."""

import pytest
from google.protobuf.message import Message

from authority.rpc.convert.marks import request_mark
from authority.rpc.current_call import set_traceparent
from authority.rpc.methods import METHODS, MethodKind
from authority.rpc.refused import Refused
from authority.usecases.ports import RequestMark
from capability_authority.v1 import proposal_service_pb2 as pb
from tests.unit.rpc.requests import CALLER, RPCS, UUID

MARKED = [name for name, rpc in RPCS.items() if "request_id" in rpc.good.DESCRIPTOR.fields_by_name]
TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def _mark(name: str, request: Message) -> RequestMark:
    """As the RPC makes it of a request."""
    copy = type(request)()
    copy.CopyFrom(request)
    mark = getattr(RPCS[name].decode(copy), "mark", None)
    assert isinstance(mark, RequestMark)
    return mark


def _without(request: Message, field: str) -> Message:
    copy = type(request)()
    copy.CopyFrom(request)
    copy.ClearField(field)
    return copy


def _alone(request: Message, field: str) -> bytes:
    """What the message is on the wire with this field alone."""
    copy = type(request)()
    copy.CopyFrom(request)
    for other, _ in request.ListFields():
        if other.name != field:
            copy.ClearField(other.name)
    return copy.SerializeToString()


def test_every_mutation_is_marked_but_commits_and_batches_which_have_keys_of_their_own() -> None:
    mutations = {name.rpartition("/")[2] for name, kind in METHODS.items() if kind is MethodKind.MUTATION}
    assert mutations - {*MARKED} == {"CommitValidated", "BatchCommitValidated", "BatchIssueCapabilities"}


@pytest.mark.parametrize("name", MARKED)
def test_d13_d14_another_encoding_or_another_trace_makes_the_same_request(name: str) -> None:
    # Given a good request, and its bytes with the fields in the reverse order and one of them written twice
    good = RPCS[name].copy()
    parts = [_alone(good, field.name) for field, _ in reversed(good.ListFields())]
    twice = type(good)(request_id="another").SerializeToString()
    other = twice + b"".join(parts)
    assert other != good.SerializeToString()
    # When they come in another trace, then it is the same request
    first = _mark(name, good)
    set_traceparent(TRACEPARENT)
    again = _mark(name, type(good).FromString(other))
    set_traceparent("")
    assert (again.request_id, again.digest) == (first.request_id, first.digest)
    assert (first.trace_id, again.trace_id) == ("", TRACEPARENT.split("-")[1])


@pytest.mark.parametrize("name", MARKED)
def test_a12_every_field_that_may_be_left_out_is_part_of_the_request(name: str) -> None:
    good = RPCS[name].copy()
    digests, fields = {_mark(name, good).digest}, 0
    for field, _ in good.ListFields():
        try:
            digests.add(_mark(name, _without(good, field.name)).digest)
        except Refused:
            continue
        fields += 1
    assert len(digests) == 1 + fields


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
