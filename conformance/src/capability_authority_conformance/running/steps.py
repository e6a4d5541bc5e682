"""Takes the steps of a case, one after the other, those of procedures among them."""

from collections.abc import Sequence

from google.protobuf.json_format import ParseError

from capability_authority.offline import OfflineError
from capability_authority_conformance.running.calling import called
from capability_authority_conformance.running.checking import checked
from capability_authority_conformance.running.context import StepFailed, Story, base_names
from capability_authority_conformance.running.making import made
from capability_authority_conformance.substitution import replaced
from capability_authority_conformance.v1.suite_pb2 import Step, Use
from capability_authority_conformance.values import of_struct, of_value

__all__ = ["taken"]


async def taken(steps: Sequence[Step], story: Story) -> None:
    """Take them all. Raises `StepFailed`, whose trail names the steps that led there."""
    for number, step in enumerate(steps, start=1):
        said = f"step {number}: {step.say or step.use.procedure or step.make.save}"
        try:
            await _taken(step, story)
        except (LookupError, OfflineError, ParseError, ValueError) as error:
            failure = StepFailed(["a step that can be taken"], [f"{error}"])
            failure.trail.insert(0, said)
            raise failure from error
        except StepFailed as failure:
            failure.trail.insert(0, said)
            raise


async def _taken(step: Step, story: Story) -> None:
    match step.WhichOneof("action"):
        case "call":
            await called(step.call, story)
        case "use":
            await _used(step.use, story)
        case "make":
            story.names[step.make.save] = made(step.make, story.names, story.run.callers)
        case "check":
            checked(step.check, story)
        case _:
            raise AssertionError("linted")


async def _used(use: Use, story: Story) -> None:
    """A procedure knows the base names and its parameters, and nothing else of who takes it."""
    procedure = story.run.procedures[use.procedure]
    base = {name: story.names[name] for name in ("run", "case")}
    names = {**base_names(story.run, ""), **base}
    given = of_struct(getattr(use, "with"))
    parameters = {
        name: replaced(given[name], story.names) if name in given else replaced(of_value(default), names)
        for name, default in procedure.parameters.items()
    }
    inner = Story(story.run, {**names, **parameters})
    before = inner.names.copy()
    await taken(procedure.steps, inner)
    saved = {name: value for name, value in inner.names.items() if name not in before or before[name] is not value}
    if use.save:
        saved = {here: inner.names[there] for here, there in use.save.items()}
    story.names.update(saved)
    story.used = inner.used
