"""Presents capabilities to a real authority, and tells what it says of each."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

from authority.cli.output import Json
from authority.cli.ready import Ready
from capability_authority.client import AuthorityError, CapabilityAuthority, CommitItem
from capability_authority.client.presentations import PreparedCommit
from capability_authority.client.rpcs import RPCS

_DETAILS: Final = ("term", "field", "problem")
_REASON: Final = "ERROR_REASON_"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the authority said of one capability."""

    accepted: bool
    reason: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)

    @property
    def details(self) -> str:
        """Which term, field or problem it names."""
        return ": ".join(self.facts[name] for name in _DETAILS if name in self.facts)

    def document(self) -> dict[str, Json]:
        """For machines."""
        return {"accepted": self.accepted, "reason": self.reason or None, "facts": dict(self.facts)}


@dataclass(frozen=True, slots=True)
class Tried:
    """What was tampered with, how, and how that was answered."""

    what: str
    change: str
    answer: Answer


Present: TypeAlias = Callable[[Message], Awaitable[Answer]]
"""Presents one capability, a SignedStatement. Raises AuthorityError when no answer of the authority itself came."""


def verifying(authority: CapabilityAuthority) -> Present:
    """Asks VerifyCapability, which changes nothing."""
    rpc = RPCS["VerifyCapability"]

    async def present(capability: Message) -> Answer:
        try:
            said = _read(await authority.call(rpc.name, rpc.request_class(capability=capability)))
        except AuthorityError as error:
            return _refused(error)
        if said["verdict"] == "VERDICT_GRANTED":
            return Answer(accepted=True)
        return Answer(accepted=False, reason=said["reason"].removeprefix(_REASON), facts=said.get("facts", {}))

    return present


def committing(ready: Ready) -> Present:
    """Commits with it, the content and all else being as they should."""
    prepared = PreparedCommit.of(CommitItem(ready.capability, content=ready.content)).request

    async def present(capability: Message) -> Answer:
        request = type(prepared)()
        request.CopyFrom(prepared)
        request.capability.CopyFrom(capability)  # type: ignore[arg-type] # a SignedStatement
        return await _commit(ready, request)

    return present


async def presented_otherwise(ready: Ready) -> AsyncIterator[Tried]:
    """Commits with the untouched capability, while what is presented with it is not what it binds."""
    capability, content = ready.capability, ready.content
    evidence = list(ready.proposal.message.evidence_digests)
    items = (
        ("content", "one byte changed", CommitItem(capability, content=content.replace(b"14 days", b"15 days"))),
        ("media type", "text/plain", CommitItem(capability, content=content, media_type="text/plain")),
        ("evidence", "in another order", CommitItem(capability, content=content, evidence_digests=evidence[::-1])),
        ("commit key", "another", CommitItem(capability, content=content, commit_idempotency_key="another")),
    )
    for what, change, item in items:
        yield Tried(f"presented {what}", change, await _commit(ready, PreparedCommit.of(item).request))


async def _commit(ready: Ready, request: Message) -> Answer:
    try:
        await ready.holder.call("CommitValidated", request)
    except AuthorityError as error:
        return _refused(error)
    return Answer(accepted=True)


def _refused(error: AuthorityError) -> Answer:
    """A refusal is an answer; a connection that broke is none."""
    if not error.reason:
        raise error
    return Answer(accepted=False, reason=error.reason, facts=dict(error.metadata))


def _read(message: Message) -> Any:  # noqa: ANN401 - the generated type, which this room does not see
    return MessageToDict(message, preserving_proto_field_name=True)
