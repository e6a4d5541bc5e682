"""The command `authority provision`."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from authority.bootstrap.operator import Operator
from authority.cli.arguments import AsJson, DataFolder
from authority.cli.failures import Refused
from authority.cli.operating import operate
from authority.cli.output import emit, say
from authority.cli.provision.document import SetUp, refused
from authority.cli.provision.looking import look_for
from authority.cli.provision.problems import problems_of
from authority.cli.provision.things import Thing
from authority.cli.tables import table


def provision(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A set-up document: JSON, UTF-8.", exists=True, dir_okay=False)
    ],
    *,
    data: DataFolder = None,
    as_json: AsJson = False,
) -> None:
    """Make what a set-up document asks for: tenants with memory namespaces, principals and memberships.

    The document is SetUp of conformance/proto/…/setup.proto, as the conformance suite writes it. What is there already
    is left as it is, so that a second time changes nothing; what is there otherwise is named, and no tenant is changed.
    """
    document = SetUp.read(file)
    if problems := problems_of(document):
        raise refused(file, problems)
    things = operate(data, lambda operator: _make(operator, document))
    if as_json:
        emit([{"tenant": it.tenant, "what": it.what, "name": it.name, "made": it.make is not None} for it in things])
        return
    table(("TENANT", "WHAT", "NAME", ""), ((it.tenant, it.what, it.name, _word(it)) for it in things))
    made = sum(thing.make is not None for thing in things)
    say(f"made {made}, and {len(things) - made} were there" if made else "nothing changed: all of it was there")


async def _make(operator: Operator, document: SetUp) -> Sequence[Thing]:
    """Looks at everything first, then makes what is missing, each as one act with its audit event.

    Whatever is made when this ends half way, or beside another who provisions the same, is found as it should be the
    next time. Bundles are loaded in any case: they decide nothing, and a remedy may name one. Raises Refused for what
    is there otherwise, with no tenant changed.
    """
    things = await look_for(operator, document)
    for policy in things:
        if policy.make and not policy.tenant:
            await policy.make()
    if differences := [f"{_place(thing)}: {said}" for thing in things for said in thing.differences]:
        raise Refused(
            "\n  ".join(("this is there otherwise than the document says, and no tenant was changed:", *differences))
        )
    for thing in things:
        if thing.make and thing.tenant:
            await thing.make()
    return things


def _place(thing: Thing) -> str:
    return f"{thing.what} {thing.name} of {thing.tenant}"


def _word(thing: Thing) -> str:
    return "made" if thing.make else "was there"
