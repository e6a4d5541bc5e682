"""Bad input over the wire: proposals whose content or fields are not what the contract allows."""

from typing import Any
from uuid import uuid4

import pytest
from google.protobuf.timestamp_pb2 import Timestamp

from capability_authority.v1.memory_service_pb2 import CorrectRecordRequest
from capability_authority.v1.types_pb2 import Cost
from tests.installation.requests import commit_of, digests, proposal_of
from tests.installation.storage import Storage
from tests.installation.team import Team
from tests.installation.wire import LIMIT_EXCEEDED, MALFORMED, Wire, assert_bad_shape

MIB = 1024 * 1024
YEAR_10000 = 253_402_300_800


def _deep(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def _json(content: bytes) -> dict[str, Any]:
    return {"content": content, "media_type": "application/json"}


BAD_CONTENT: dict[str, dict[str, Any]] = {
    "c11_nul_in_text": {"content": b"a\0b"},
    "c11_nul_in_json": _json(b'{"a":"\\u0000"}'),
    "c12_lone_high_surrogate": _json(b'{"a":"\\ud800"}'),
    "c12_lone_low_surrogate": _json(b'{"a":"\\udc00"}'),
    "c12_surrogate_in_utf8": _json(b'{"a":"\xed\xa0\x80"}'),
    "d03_negative_zero": _json(b'{"a":-0}'),
    "d03_needless_fraction": _json(b'{"a":1.0}'),
    "d03_exponent": _json(b'{"a":1e2}'),
    "d04_above_2_53": _json(b'{"a":9007199254740993}'),
    "d04_below_2_53": _json(b'{"a":-9007199254740992}'),
    "d06_duplicate_keys": _json(b'{"a":1,"a":2}'),
    "d06_duplicate_keys_escaped": _json(b'{"a":1,"\\u0061":2}'),
    "d06_duplicate_keys_nested": _json(b'[{"b":{"a":1,"a":1}}]'),
    "d02_keys_by_code_point": _json('{"\uff20":1,"\U0001f600":1}'.encode()),
    "keys_out_of_order": _json(b'{"b":1,"a":2}'),
    "white_space": _json(b'{"a": 1}'),
    "byte_order_mark": _json(b'\xef\xbb\xbf{"a":1}'),
    "nan": _json(b'{"a":NaN}'),
    "infinity": _json(b'{"a":-Infinity}'),
    "unclosed": _json(b'{"a":'),
    "two_documents": _json(b"{}{}"),
    "bad_utf8_in_text": {"content": b"caf\xe9"},
    "bad_utf8_in_json": _json(b'{"a":"caf\xe9"}'),
    "d16_deep": _json(_deep(33)),
    "d16_abyss": _json(_deep(500_000)),
    "empty": {"content": b""},
}


@pytest.mark.parametrize("bad", BAD_CONTENT)
async def test_content_of_a_bad_form_is_malformed_wherever_it_comes(
    team: Team, proposer: Wire, holder: Wire, storage: Storage, bad: str
) -> None:
    # Given a capability for other content
    ready, before = await team.ready(), storage.dump()
    # When content of a bad form is proposed, is to correct something, and is presented
    words = {"media_type": "text/plain"} | BAD_CONTENT[bad]
    correction = CorrectRecordRequest(request_id="r", record_id=str(uuid4()), **words)
    proposing = await proposer.refused("CreateProposal", proposal_of(**BAD_CONTENT[bad]))
    correcting = await proposer.refused("CorrectRecord", correction)
    committing = await holder.refused("CommitValidated", commit_of(ready, **BAD_CONTENT[bad]))
    # Then all are malformed, before anything is looked for or consumed
    assert_bad_shape(proposing, MALFORMED, "content")
    assert_bad_shape(correcting, MALFORMED, "content")
    assert_bad_shape(committing, MALFORMED, "presentation.content")
    assert storage.dump() == before


def _at(seconds: int, nanos: int = 0) -> Timestamp:
    return Timestamp(seconds=seconds, nanos=nanos)


BAD_PROPOSALS: dict[str, tuple[dict[str, Any], str, str]] = {
    "over_long_request_id": ({"request_id": "k" * 129}, LIMIT_EXCEEDED, "request_id"),
    "over_long_namespace": ({"memory_namespace": "n" * 257}, LIMIT_EXCEEDED, "memory_namespace"),
    "over_long_correlation_id": ({"correlation_id": "c" * 257}, LIMIT_EXCEEDED, "correlation_id"),
    "over_long_source": ({"source_refs": ["ok", "s" * 513]}, LIMIT_EXCEEDED, "source_refs[1]"),
    "d16_content_over_the_limit": ({"content": b"x" * (MIB + 1)}, LIMIT_EXCEEDED, "content"),
    "no_such_proposal_id": ({"proposal_id": "no-uuid"}, MALFORMED, "proposal_id"),
    "media_type": ({"media_type": "text/html"}, MALFORMED, "media_type"),
    "no_media_type": ({"media_type": ""}, MALFORMED, "media_type"),
    "no_memory_type": ({"memory_type": 0}, MALFORMED, "memory_type"),
    "unknown_memory_type": ({"memory_type": 99}, MALFORMED, "memory_type"),
    "unknown_visibility": ({"visibility": 99}, MALFORMED, "visibility"),
    "unknown_profile": ({"validator_profile": "lenient"}, MALFORMED, "validator_profile"),
    "c11_nul_in_a_source": ({"source_refs": ["a\0b"]}, MALFORMED, "source_refs[0]"),
    "newline_in_a_subject": ({"subject_refs": ["client:7\n"]}, MALFORMED, "subject_refs[0]"),
    "too_many_sources": ({"source_refs": ["s"] * 65}, LIMIT_EXCEEDED, "source_refs"),
    "very_many_sources": ({"source_refs": ["s"] * 500_000}, LIMIT_EXCEEDED, "source_refs"),
    "too_much_evidence": ({"evidence_digests": digests(65)}, LIMIT_EXCEEDED, "evidence_digests"),
    "d10_evidence_twice": ({"evidence_digests": digests(2) + digests(1)}, MALFORMED, "evidence_digests[2]"),
    "evidence_in_capitals": ({"evidence_digests": ["sha256:" + "A" * 64]}, MALFORMED, "evidence_digests[0]"),
    "evidence_cut_short": ({"evidence_digests": [digests(1)[0][:-1]]}, MALFORMED, "evidence_digests[0]"),
    "too_many_costs": ({"costs": [Cost(stage="s")] * 33}, LIMIT_EXCEEDED, "costs"),
    "very_many_costs": ({"costs": [Cost(stage="s")] * 200_000}, LIMIT_EXCEEDED, "costs"),
    "c15_negative_cost": ({"costs": [Cost(stage="s", usd_micros=-(2**63))]}, MALFORMED, "costs[0].usd_micros"),
    "c15_before_1970": ({"valid_from_time": _at(-1)}, MALFORMED, "valid_from_time"),
    "c15_year_10000": ({"record_expire_time": _at(YEAR_10000)}, MALFORMED, "record_expire_time"),
    "c15_infinity": ({"valid_until_time": _at(2**63 - 1)}, MALFORMED, "valid_until_time"),
    "below_a_millisecond": ({"valid_from_time": _at(1, 1)}, MALFORMED, "valid_from_time"),
    "a_second_of_nanoseconds": ({"valid_from_time": _at(1, 1_000_000_000)}, MALFORMED, "valid_from_time"),
    "negative_nanoseconds": ({"valid_from_time": _at(1, -1_000_000)}, MALFORMED, "valid_from_time"),
    "ends_before_it_begins": (
        {"valid_from_time": _at(20), "valid_until_time": _at(20)},
        MALFORMED,
        "valid_until_time",
    ),
}


@pytest.mark.parametrize("bad", BAD_PROPOSALS)
async def test_a_bad_proposal_is_refused_by_its_field(proposer: Wire, storage: Storage, bad: str) -> None:
    changed, reason, field = BAD_PROPOSALS[bad]
    before = storage.dump()
    assert_bad_shape(await proposer.refused("CreateProposal", proposal_of(**changed)), reason, field)
    assert storage.dump() == before
