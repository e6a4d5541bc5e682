"""Whatever a request holds, decoding answers with a value or with a refusal of its shape, and alters no text."""

from collections.abc import Callable
from typing import Any

import pytest
from google.protobuf.message import Message
from hypothesis import example, given
from hypothesis import strategies as st

from authority.domain.reasons import Reason
from authority.rpc.convert.values import identifier, key
from authority.rpc.interceptors.reading import read_strictly
from authority.rpc.refused import Refused
from tests.unit.rpc.requests import RPCS, refusal_of

SHAPE = {Reason.MALFORMED, Reason.LIMIT_EXCEEDED}
ASCII_RULE = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._:@+/-")

near_ids = st.text(st.sampled_from("aZ09._:@+/- \t\n\r\0\u200b\u200d\ufeff\u00a0éK\u212a*|%"), max_size=12)
hostile_ids = st.one_of(near_ids, st.text(max_size=300), st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._:@+/-]{0,300}"))


@given(hostile_ids)
@example("")
@example("k1\n")
@example("k1 ")
@example("k\u200b1")
@example("-k")
@example("x" * 257)
def test_a09_an_id_is_taken_as_it_is_or_refused(text: str) -> None:
    good = 0 < len(text) <= 256 and set(text) <= ASCII_RULE and text[0].isalnum()

    refusal = refusal_of(lambda: identifier(text, "field"))

    if good:
        assert refusal is None
        assert identifier(text, "field") == text
    else:
        assert refusal is not None
        assert refusal.reason in SHAPE
        assert refusal.facts["field"] == "field"


@given(st.text(st.sampled_from("ab.-"), min_size=120, max_size=140))
def test_g16_keys_have_at_most_128_bytes(text: str) -> None:
    good = len(text) <= 128 and text[0].isalnum()
    if good:
        assert key(text, "field") == text
    else:
        with pytest.raises(Refused):
            key(text, "field")


def _decode(name: str, raw: bytes) -> object:
    rpc = RPCS[name]
    return rpc.decode(read_strictly(type(rpc.good).FromString, raw))


@given(name=st.sampled_from(sorted(RPCS)), raw=st.binary(max_size=200))
def test_f07_random_bytes_are_refused_by_shape_or_decoded(name: str, raw: bytes) -> None:
    refusal = refusal_of(lambda: _decode(name, raw))

    assert refusal is None or refusal.reason in SHAPE


@given(
    name=st.sampled_from(sorted(RPCS)),
    cuts=st.tuples(st.integers(0, 10_000), st.integers(0, 10_000)),
    middle=st.binary(max_size=12),
)
def test_f07_mutated_requests_are_refused_by_shape_or_decoded(name: str, cuts: tuple[int, int], middle: bytes) -> None:
    good = RPCS[name].good.SerializeToString()
    start, end = sorted(cut % (len(good) + 1) for cut in cuts)

    refusal = refusal_of(lambda: _decode(name, good[:start] + middle + good[end:]))

    assert refusal is None or refusal.reason in SHAPE


def _text_fields(message: Message, prefix: str = "") -> list[str]:
    found = []
    for field, value in message.ListFields():
        if field.type == field.TYPE_STRING and not field.is_repeated:
            found.append(prefix + field.name)
        if field.type == field.TYPE_MESSAGE and not field.is_repeated:
            found += _text_fields(value, f"{prefix}{field.name}.")
    return found


TEXT_FIELDS = [(name, path) for name, rpc in sorted(RPCS.items()) for path in _text_fields(rpc.good)]
NAMES = [(name, path) for name, path in TEXT_FIELDS if path.rpartition(".")[2] not in {
    "at_least_as_fresh_as", "citing_ref", "cursor", "note", "page_token", "payload_type", "query", "replay_key",
    "subject",
}]  # fmt: skip
"""The texts of requests that name one thing: what the caller chose or was told, byte for byte."""
MAY_BE_ABSENT = {
    ("CreateProposal", "proposal_id"),
    ("CreateProposal", "correlation_id"),
    ("CreateProposal", "validator_profile"),
    ("CreateProposal", "visibility_scope"),
    ("CorrectRecord", "correlation_id"),
    ("CorrectRecord", "validator_profile"),
    ("CorrectRecord", "visibility_scope"),
    ("IssueGrant", "correlation_id"),
    ("IssueGrant", "policy_version"),
    ("ExchangeGrant", "correlation_id"),
    # What a use does not name it does not need: a grant of nothing there allows it, and it is used for nothing there.
    ("VerifyGrant", "use.resource"),
    ("VerifyGrant", "use.read_memory_namespace"),
    ("VerifyGrant", "use.write_memory_namespace"),
    ("VerifyGrant", "use.tool"),
    ("VerifyGrant", "use.provider"),
    ("VerifyGrant", "use.model"),
    ("PutEvidence", "visibility_scope"),
    ("ListAuditEvents", "filter.correlation_id"),
    ("ListAuditEvents", "filter.kind"),
    ("WatchAuditEvents", "filter.correlation_id"),
    ("WatchAuditEvents", "filter.kind"),
    ("WriteUnvalidatedRecord", "correlation_id"),
    ("WriteUnvalidatedRecord", "visibility_scope"),
}
"""None of them says whose things are meant: that is the tenant of the caller, and a memory namespace that is named."""
MAY_HOLD_ANY_TEXT = {"at_least_as_fresh_as", "cursor", "query", "note", "page_token", "replay_key"}


def _with_text(name: str, path: str, change: Callable[[str], str]) -> Message:
    """A good request of the RPC, one text of which is changed."""
    request = RPCS[name].copy()
    *above, last = path.split(".")
    holder: Any = request
    for step in above:
        holder = getattr(holder, step)
    setattr(holder, last, change(getattr(holder, last)))
    return request


def _refused_field(name: str, request: Message) -> str | None:
    refusal = refusal_of(lambda: RPCS[name].decode(request))
    return None if refusal is None else refusal.facts["field"]


@pytest.mark.parametrize(("name", "path"), NAMES)
def test_g01_what_names_one_thing_names_neither_all_nor_the_first(name: str, path: str) -> None:
    # Given a good request, in which one name is blank, a pattern, or has something around it
    for text in (" ", "\t", "*", "%", "_", "?", ".*", "/", "{}", " x", "x ", "x,y", "x|y"):
        # When it is decoded, then it is refused for that
        assert _refused_field(name, _with_text(name, path, lambda _, text=text: text)) == path, repr(text)  # type: ignore[misc] # mypy cannot infer the default
    # And without the name it is refused as well, unless the contract says what that means
    absent = None if (name, path) in MAY_BE_ABSENT else path
    assert _refused_field(name, _with_text(name, path, lambda _: "")) == absent


@given(place=st.sampled_from(TEXT_FIELDS), text=st.text(st.sampled_from("\0\x01\t\r\n\u200b\ufeff\u2028"), min_size=1))
def test_c11_no_text_field_takes_invisible_characters(place: tuple[str, str], text: str) -> None:
    # Given a good request, one text of which has invisible characters after it.
    name, path = place
    request = _with_text(name, path, lambda good: good + text)

    # When it is decoded, then that text is refused by its path, unless any text may stand there, save NUL in words.
    if path in MAY_HOLD_ANY_TEXT and not (path in {"note", "query"} and "\0" in text):
        assert RPCS[name].decode(request)
        return
    with pytest.raises(Refused) as refused:
        RPCS[name].decode(request)
    assert refused.value.refusal.facts["field"] == path
    assert text not in str(refused.value.refusal.facts)
