"""Who a person of a world is beside its key: certificates, tokens, and which persons are one."""

from dataclasses import dataclass

from authority.domain.credential import Credential, CredentialForm
from authority.domain.identity import Caller
from authority.domain.principal_link import LinkMethod, PrincipalLink, in_order
from authority.usecases.administer import OPERATOR
from tests.world.world import Person, World

TOKEN = Credential(CredentialForm.TOKEN, "svc-1", "https://login.example")
"""The subject of some issuer."""


@dataclass(frozen=True, slots=True)
class Shower(Person):
    """A person whose calls come by what it showed, and who holds that."""

    caller: Caller

    @property
    def key_id(self) -> str:
        """The id of what it showed."""
        return self.caller.key_id

    def calls(self) -> Caller:
        """A call of the person."""
        return self.caller


async def bind(world: World, person: Person, credential: Credential) -> None:
    """The person is known by the credential from now on."""
    await world.authority.store.credentials.add(world.tenant, person.ref, credential, world.now())


def link_of(world: World, one: Person, other: Person) -> PrincipalLink:
    """A link of the two as an operator would record it."""
    first, second = in_order(one.ref, other.ref)
    return PrincipalLink(
        tenant=world.tenant,
        first=first,
        second=second,
        method=LinkMethod.DIRECTORY,
        evidence="ticket 7",
        verified_by=OPERATOR,
        verify_time=world.now(),
    )


async def link(world: World, one: Person, other: Person) -> None:
    """The operator has verified that the two are one person."""
    await world.authority.store.principal_links.add(link_of(world, one, other))
