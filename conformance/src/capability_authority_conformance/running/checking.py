"""Holds what was saved to each other (suite.proto: Check)."""

from capability_authority.offline import PAYLOAD_CLASSES, OfflineError, verify_as
from capability_authority_conformance.running.context import StepFailed, Story
from capability_authority_conformance.running.judging import equal, misfits_of_fields
from capability_authority_conformance.running.statements import statement_of
from capability_authority_conformance.substitution import looked_up, replaced
from capability_authority_conformance.v1.suite_pb2 import Check
from capability_authority_conformance.values import Json, of_struct, shown

__all__ = ["KINDS", "checked"]

KINDS = {message.DESCRIPTOR.name: message for message in PAYLOAD_CLASSES.values()}
"""Payload messages by their names."""


def checked(check: Check, story: Story) -> None:
    """Raises `StepFailed` with everything that does not hold, `NothingThere` for a name without a value."""
    got = [*_unequal(check, story), *_undifferent(check, story), *_unfit(check, story), *_unverified(check, story)]
    if got:
        raise StepFailed(["what was saved holds together"], got)


def _unequal(check: Check, story: Story) -> list[str]:
    values = {name: looked_up(name, story.names) for name in check.equal}
    first = next(iter(values.values()), None)
    return [] if all(equal(value, first) for value in values.values()) else [f"not equal: {_each(values)}"]


def _undifferent(check: Check, story: Story) -> list[str]:
    values = {name: looked_up(name, story.names) for name in check.different}
    seen = [value for value in values.values() if list(values.values()).count(value) > 1]
    return [f"not different: {_each(values)}"] if seen else []


def _each(values: dict[str, Json]) -> str:
    return ", ".join(f"{name} = {shown(value)}" for name, value in values.items())


def _unfit(check: Check, story: Story) -> list[str]:
    lines: list[str] = []
    for reference, expected in of_struct(check.fields).items():
        name, _, path = reference.partition(".")
        below = misfits_of_fields({path or ".": replaced(expected, story.names)}, looked_up(name, story.names))
        lines.extend(f"{name}.{line}" for line in below)
    return lines


def _unverified(check: Check, story: Story) -> list[str]:
    lines = []
    for reference, kind in check.verifies.items():
        statement = statement_of(looked_up(reference, story.names))
        try:
            verify_as(statement, story.run.identity.key_set, KINDS[kind])
        except OfflineError as error:
            lines.append(f"{reference} does not verify as {kind}: {type(error).__name__}: {error}")
    return lines
