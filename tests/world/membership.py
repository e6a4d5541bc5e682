"""Channels and teams of a world: who joins and leaves them."""

from typing import TypedDict

from authority.domain.membership import SCOPED, Scope
from authority.domain.proposal import Visibility
from tests.world.world import Person, World

CREW = Scope(Visibility.TEAM, "crew")
PORT = Scope(Visibility.CHANNEL, "port")


class SaidOfScope(TypedDict):
    """For whom a proposal is, among all that is said of it."""

    visibility: Visibility
    visibility_scope: str


async def join(world: World, person: Person, *scopes: Scope) -> None:
    """The operator makes the person a member."""
    for scope in scopes:
        await world.authority.store.membership_administration.add_membership(
            world.tenant, person.ref, scope, world.now()
        )


async def leave(world: World, person: Person, *scopes: Scope) -> None:
    """The operator ends the person's membership."""
    for scope in scopes:
        await world.authority.store.membership_administration.remove_membership(
            world.tenant, person.ref, scope, world.now()
        )


def for_scope(scope: Scope) -> SaidOfScope:
    """What is said of a proposal that is for the members of a channel or team."""
    return {"visibility": scope.kind, "visibility_scope": scope.id}


def of_visibility(visibility: Visibility) -> SaidOfScope:
    """What is said of a proposal of this visibility; its scope is the crew or the port."""
    scopes = {scope.kind: scope for scope in (CREW, PORT)}
    none: SaidOfScope = {"visibility": visibility, "visibility_scope": ""}
    return for_scope(scopes[visibility]) if visibility in SCOPED else none
