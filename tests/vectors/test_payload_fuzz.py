"""The payloads that the differential fuzz is made of: the same ones everywhere, of every kind, and of both verdicts."""

import json
from collections import Counter

import pytest

from capability_authority.offline import PAYLOAD_CLASSES, encode, read_payload
from capability_authority_conformance.golden.payload_fuzz import main, verdicts

COUNT = 2_000


def test_the_same_seed_gives_the_same_payloads() -> None:
    first = list(verdicts(1, 100))

    assert list(verdicts(1, 100)) == first
    assert list(verdicts(2, 100)) != first


def test_every_kind_is_read_and_refused() -> None:
    seen = Counter((verdict["payload_type"], verdict["accepted"]) for verdict in verdicts(1, COUNT))

    assert set(seen) == {(payload_type, accepted) for payload_type in PAYLOAD_CLASSES for accepted in (True, False)}
    assert COUNT / 4 < sum(count for (_, accepted), count in seen.items() if accepted) < COUNT / 2


def test_what_is_read_is_written_again_as_it_was() -> None:
    for verdict in verdicts(3, COUNT):
        payload, payload_type = bytes.fromhex(verdict["payload"]), verdict["payload_type"]
        if verdict["accepted"]:
            assert encode(read_payload(payload_type, payload, PAYLOAD_CLASSES[payload_type])) == payload


def test_a_line_is_printed_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--count", "20", "--seed", "4"]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line) for line in lines] == list(verdicts(4, 20))
