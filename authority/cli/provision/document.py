"""The set-up document: JSON in the shape of SetUp in the conformance suite's `setup.proto`.

Written down here once more, for the service knows nothing of the suite that judges it. Names are protobuf's JSON names
or those of the proto file; what protobuf leaves out because it is empty may be left out here.
"""

import json
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated, Final, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    StrictBool,
    StringConstraints,
    ValidationError,
)
from pydantic.alias_generators import to_camel

from authority.cli.failures import Refused
from authority.cli.output import printable
from authority.domain.identity import PrincipalKind, Right
from authority.domain.key_alias import ALIAS_RULE, is_key_alias
from authority.domain.membership import Scope
from authority.domain.proposal import Visibility
from authority.domain.record import Mode
from authority.domain.references import PrincipalRef, TenantRef
from authority.domain.shape import ID_RULE, is_id
from authority.policy.plain import PlainRule

DOCUMENT_BYTES: Final = 1024 * 1024
"""Room for more principals than a suite needs."""
_TOLD: Final = 20
"""Problems: whoever has more of them has made one mistake, many times."""

Word = TypeVar("Word", bound=Enum)


def _id(text: str) -> str:
    if not is_id(text):
        raise ValueError(f"must be {ID_RULE}")
    return text


def _alias(text: str) -> str:
    if not is_key_alias(text):
        raise ValueError(f"must be {ALIAS_RULE}")
    return text


def _named(prefix: str, words: type[Word]) -> BeforeValidator:
    """Reads a value of an enum of the proto file: the prefix and the word's name. One that is unspecified is none."""

    def read(text: object) -> Word:
        for word in words:
            if text == f"{prefix}_{word.name}":
                return word
        raise ValueError(f"must be one of {', '.join(f'{prefix}_{word.name}' for word in words)}")

    return BeforeValidator(read)


Id = Annotated[str, AfterValidator(_id)]
Hex = Annotated[str, StringConstraints(pattern=r"^([0-9a-f]{2})*$", max_length=256)]


class _Part(BaseModel):
    """Takes no field that it does not know: a misspelt one would be a right that nobody has."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, alias_generator=to_camel, validate_by_name=True, validate_by_alias=True
    )


class MemoryNamespacePart(_Part):
    """A memory namespace."""

    name: Id
    mode: Annotated[Mode, _named("MODE", Mode)]
    privileged: StrictBool = False
    policy: Annotated[PlainRule, _named("POLICY_RULE", PlainRule)]


class PrincipalPart(_Part):
    """A principal with its first key. `name` is what the document calls it; the authority keeps no such name."""

    name: Id
    namespace: Id
    id: Id
    kind: PrincipalKind
    rights: tuple[Right, ...] = ()
    public_key: Hex
    proof: Hex
    revoked: StrictBool = False
    key_aliases: tuple[Annotated[str, AfterValidator(_alias)], ...] = ()

    @property
    def ref(self) -> PrincipalRef:
        """What the authority calls it."""
        return PrincipalRef(self.namespace, self.id)

    @property
    def raw_key(self) -> bytes:
        """The public key."""
        return bytes.fromhex(self.public_key)

    @property
    def raw_proof(self) -> bytes:
        """The proof that its holder has the private key."""
        return bytes.fromhex(self.proof)


class MembershipPart(_Part):
    """A channel or team with all its members."""

    scope: Literal["channel", "team"]
    id: Id
    members: tuple[Id, ...] = ()

    @property
    def whole(self) -> Scope:
        """The channel or team."""
        return Scope(Visibility(self.scope), self.id)


class TenantPart(_Part):
    """A tenant and all that is to be there of it."""

    namespace: Id
    id: Id
    memory_namespaces: tuple[MemoryNamespacePart, ...] = ()
    principals: tuple[PrincipalPart, ...] = ()
    memberships: tuple[MembershipPart, ...] = ()

    @property
    def ref(self) -> TenantRef:
        """What the authority calls it."""
        return TenantRef(self.namespace, self.id)

    def principal(self, name: str) -> PrincipalPart | None:
        """The principal that the document calls so."""
        return next((principal for principal in self.principals if principal.name == name), None)


class SetUp(_Part):
    """Everything that is to be there."""

    tenants: tuple[TenantPart, ...] = ()

    @classmethod
    def read(cls, file: Path) -> Self:
        """The document in the file. Raises Refused, with the place of everything that is wrong in its form; OSError."""
        with file.open("rb") as opened:
            data = opened.read(DOCUMENT_BYTES + 1)
        if len(data) > DOCUMENT_BYTES:
            raise Refused(f"{file} has more than {DOCUMENT_BYTES:,} bytes, which is the most that is read")
        try:
            document = cls.model_validate_json(data)
        except ValidationError as error:
            raise refused(file, list(_told(error))) from None
        if twice := _named_twice(data):
            raise refused(file, [f"{name}: stands twice in one object" for name in twice])
        return document


def refused(file: Path, problems: list[str]) -> Refused:
    """The refusal of a document, a line for each problem, of which a document can have half a million."""
    told = [printable(problem) for problem in problems[:_TOLD]]
    more = [f"and {len(problems) - _TOLD:,} more"] if len(problems) > _TOLD else []
    return Refused("\n  ".join((f"{file} is no set-up that can be made, and nothing was:", *told, *more)))


def _named_twice(data: bytes) -> list[str]:
    """The names that one object of the document has twice: readers do not agree on which of the two counts."""
    found: list[str] = []

    def look(pairs: list[tuple[str, object]]) -> None:
        found.extend(name for name, times in Counter(name for name, _ in pairs).items() if times > 1)

    json.loads(data, object_pairs_hook=look)
    return found


def _told(error: ValidationError) -> Iterator[str]:
    for found in error.errors(include_url=False, include_input=False):
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in found["loc"]).lstrip(".")
        sentence = found["msg"].removeprefix("Value error, ")
        yield f"{place}: {sentence}" if place else sentence
