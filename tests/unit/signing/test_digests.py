"""Digests, fingerprints and the form of content, as the use cases ask for them."""

import asyncio
import hashlib
from dataclasses import fields, replace
from enum import Enum
from typing import Any

import pytest

from authority.domain.capability import FINGERPRINTED, CommitCapability, Presentation
from authority.domain.proposal import Cost, ProposalRevision
from authority.domain.references import PrincipalRef, TenantRef
from authority.signing.codec.capability import encode_capability
from capability_authority.offline import capability_fingerprint, to_wire
from tests.unit.signing import samples
from tests.unit.signing.conftest import Room

PRESENTATION = Presentation(
    content=b"{}",
    content_digest=samples.CAPABILITY.content_digest,
    media_type=samples.CAPABILITY.media_type,
    evidence_digests=samples.CAPABILITY.evidence_digests,
    commit_idempotency_key=samples.CAPABILITY.commit_idempotency_key,
)


def others(value: Any) -> list[Any]:
    """Values of the same type that differ, among them, for references and costs, in one part only."""
    match value:
        case TenantRef() | PrincipalRef() | Cost():
            parts = [(field.name, other) for field in fields(value) for other in others(getattr(value, field.name))]
            return [replace(value, **{name: other}) for name, other in parts]
        case Enum():
            return [other for other in type(value) if other is not value]
        case tuple():
            return [(), (*value, value[0]), *[(other, *value[1:]) for other in others(value[0])]]
        case bytes():
            return [bytes(32)]
        case str():
            return [value + "x"]
        case _:
            return [value + 1, None] if value > 2**32 else [value + 1]


@pytest.mark.parametrize("field", [field.name for field in fields(ProposalRevision)])
def test_the_proposal_digest_covers_every_field(room: Room, field: str) -> None:
    # Given revisions that differ in one field only
    digest = room.reader.proposal_digest(samples.PROPOSAL)
    changed = [other for other in others(getattr(samples.PROPOSAL, field)) if (field, other) != ("create_time", None)]

    # Then their digests differ
    digests = {room.reader.proposal_digest(replace(samples.PROPOSAL, **{field: other})) for other in changed}
    assert len(digests | {digest}) == len(changed) + 1
    assert room.reader.proposal_digest(samples.PROPOSAL) == digest


@pytest.mark.parametrize("field", [field.name for field in fields(CommitCapability)])
def test_d14_the_fingerprint_covers_the_stated_terms_and_no_other(room: Room, field: str) -> None:
    # Given capabilities, and what is presented with them, that differ in one term only
    first = room.reader.fingerprint(samples.CAPABILITY, PRESENTATION)
    other = others(getattr(samples.CAPABILITY, field))[0]
    terms = replace(samples.CAPABILITY, **{field: other})
    presented = {field: other} if field in {"content_digest", "media_type", "evidence_digests"} else {}

    # Then the fingerprint is another one just when the term is among those it is made of
    second = room.reader.fingerprint(terms, replace(PRESENTATION, **presented))
    assert (second != first) == (field in FINGERPRINTED)


def test_the_fingerprint_is_the_one_that_clients_reckon(room: Room) -> None:
    assert room.reader.fingerprint(samples.CAPABILITY, PRESENTATION) == capability_fingerprint(
        encode_capability(samples.CAPABILITY),
        content_digest=to_wire(PRESENTATION.content_digest),
        media_type=PRESENTATION.media_type,
        evidence_digests=[to_wire(digest) for digest in PRESENTATION.evidence_digests],
    )


def test_the_content_digest_is_sha_256_of_the_exact_bytes(room: Room) -> None:
    assert room.reader.content_digest(b'{"a":1}') == hashlib.sha256(b'{"a":1}').digest()


CONTENTS: tuple[tuple[bytes, str, str | None], ...] = (
    (b'{"a":[1,"x"],"b":null}', "application/json", None),
    (b'{"b":1,"a":2}', "application/json", "not_canonical"),
    (b'{"a":1,"a":1}', "application/json", "duplicate_key"),
    (b'{"a":NaN}', "application/json", "not_json"),
    (b"9007199254740992", "application/json", "integer_out_of_range"),
    (b'"\\u0000"', "application/json", "nul"),
    (b'"\xff"', "application/json", "bad_utf8"),
    (b"[" * 33 + b"]" * 33, "application/json", "too_deep"),
    (b"", "application/json", "not_json"),
    (b" plain \n text", "text/plain", None),
    ("grün".encode(), "text/plain", None),
    (b"a\x00b", "text/plain", "nul"),
    (b"\xff\xfe", "text/plain", "bad_utf8"),
    (b"\xed\xa0\x80", "text/plain", "bad_utf8"),
    (b"x", "text/html", "unsupported_media_type"),
    (b"x", "Text/Plain", "unsupported_media_type"),
    (b"{}", "", "unsupported_media_type"),
)


@pytest.mark.parametrize(("content", "media_type", "problem"), CONTENTS)
async def test_the_form_of_content_is_judged_by_its_media_type(
    room: Room, content: bytes, media_type: str, problem: str | None
) -> None:
    assert await room.reader.content_problem(content, media_type) == problem


async def test_a_large_document_is_judged_without_stopping_the_others(room: Room) -> None:
    # given a document whose judging takes long, then others have their turn meanwhile, and it is refused all the same
    large = b"[" + b"1.5," * 30_000 + b"1.50]"
    judging = asyncio.create_task(room.reader.content_problem(large, "application/json"))
    turns = 0
    while not judging.done():
        await asyncio.sleep(0)
        turns += 1
    assert turns > 10
    assert await judging == "not_canonical"
