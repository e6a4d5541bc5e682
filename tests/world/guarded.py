"""Memory namespaces whose least profile is more than the baseline, and what is proposed there."""

from typing import Final, Unpack

from authority.domain.proposal import StoredProposal
from authority.usecases.administer import NewMemoryNamespace
from authority.usecases.ports import RecordedValidation
from tests.world.world import PERMIT_ALL, Said, World, must

GUARDED: Final = "guarded-notes"
LONG: Final = "The bakery on Quay Street files its VAT return quarterly, by the tenth of the second month after it."
"""Long enough to be like another text."""
LEAKED: Final = "Backups use AKIAIOSFODNN7EXAMPLE since Monday."
"""Fails for secrets: the key is the one of AWS's own documentation."""


async def make_guarded(world: World, least_profile: str = "guarded", name: str = GUARDED) -> None:
    """A memory namespace with this least profile, in which everything validated may be committed."""
    new = NewMemoryNamespace(
        tenant=world.tenant, name=name, policy_version=await world.load(PERMIT_ALL), least_profile=least_profile
    )
    await world.authority.store.administration.add_namespace(new, world.now())


async def judged(world: World, content: str | bytes, **said: Unpack[Said]) -> RecordedValidation:
    """What the validators of the guarded memory namespace say of a new proposal."""
    return must(await world.validate(await proposed(world, content, **said)))


async def proposed(world: World, content: str | bytes, **said: Unpack[Said]) -> StoredProposal:
    """A proposal in the guarded memory namespace."""
    raw = content.encode() if isinstance(content, str) else content
    said.setdefault("memory_namespace", GUARDED)
    return await world.proposed(raw, **said)


async def recorded(world: World, content: str | bytes, **said: Unpack[Said]) -> str:
    """The id of a record in the guarded memory namespace."""
    raw = content.encode() if isinstance(content, str) else content
    said.setdefault("memory_namespace", GUARDED)
    _, answer = await world.committed(raw, **said)
    return answer.receipt.record_id


def said_of(recorded_validation: RecordedValidation) -> dict[str, str]:
    """The reasons of a receipt, by validator."""
    return {one.validator: one.reason for one in recorded_validation.signed.receipt.findings if one.reason}
