"""ADR-328, test 8: a proposal with changed content after validation is rejected."""

import unicodedata
from collections.abc import Callable

import pytest

from capability_authority.client import BindingMismatch, Malformed, NotValidated
from capability_authority.offline import canonical_content
from tests.installation.installation import NAMESPACE
from tests.installation.storage import Storage
from tests.installation.team import Team, refused

RECIPE = "Café owners open at 8.\nThey close at 6.\n"


def _text(content: str) -> bytes:
    return content.encode()


def _json(content: str) -> bytes:
    return canonical_content({"note": content, "weight": 1})


CHANGES: dict[str, Callable[[str], str]] = {
    "one_byte": lambda text: text.replace("8", "9"),
    "nfd": lambda text: unicodedata.normalize("NFD", text),
    "trailing_newline": lambda text: text + "\n",
    "no_trailing_newline": lambda text: text.removesuffix("\n"),
    "crlf": lambda text: text.replace("\n", "\r\n"),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize(("written", "media_type"), [(_text, "text/plain"), (_json, "application/json")])
async def test_adr328_08_g13_content_changed_after_validation_is_rejected(
    team: Team, storage: Storage, written: Callable[[str], bytes], media_type: str, change: str
) -> None:
    # Given validated content
    ready = await team.ready(written(RECIPE), media_type=media_type)
    changed = written(CHANGES[change](RECIPE))
    assert changed != ready.content
    before = storage.dump()
    # When other bytes are presented
    refusal = await refused(team.commit(ready, content=changed), BindingMismatch)
    # Then the digest tells, nothing is consumed or stored, and the validated bytes can still be committed (A04)
    assert refusal.term == "content_digest"
    assert storage.dump() == before
    record = await team.user.get_record((await team.commit(ready)).record_id)
    assert record.content == ready.content
    storage.assert_whole()


@pytest.mark.parametrize("appended", [b"\n", b"\r\n", b" "])
async def test_adr328_08_g13_json_that_is_no_longer_canonical_is_rejected(
    team: Team, storage: Storage, appended: bytes
) -> None:
    # Given validated JSON
    ready = await team.ready({"note": RECIPE})
    before = storage.dump()
    # When the same document is presented in another spelling
    refusal = await refused(team.commit(ready, content=ready.content + appended), Malformed)
    # Then it is refused for its form, and nothing else happened
    assert refusal.field == "presentation.content"
    assert storage.dump() == before
    assert not (await team.commit(ready)).replayed
    storage.assert_whole()


async def test_adr328_08_a_newer_revision_makes_the_older_capability_useless(team: Team, storage: Storage) -> None:
    # Given a capability for a revision
    ready = await team.ready("Version one.")
    proposal = ready.ground.proposal
    # When its proposer changes the proposal
    newer = await team.user.propose(
        memory_namespace=NAMESPACE, memory_type="durable_fact", content="Version two.", proposal_id=proposal.proposal_id
    )
    # Then neither the old nor the new content can be committed with it
    assert newer.revision == 2
    await refused(team.commit(ready), NotValidated)
    refusal = await refused(team.commit(ready, content="Version two."), BindingMismatch)
    assert refusal.term == "content_digest"
    # And the new revision goes its own way
    assert not (await team.commit(await team.issue(await team.allowed(newer)))).replayed
    storage.assert_whole()
