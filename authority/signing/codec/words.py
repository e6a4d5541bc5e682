"""Closed vocabularies: domain enums and the proto enums that stand for them in payloads."""

from enum import Enum
from typing import TYPE_CHECKING, Generic, TypeVar

from authority.domain.decision import DecisionOutcome
from authority.domain.identity import PrincipalKind
from authority.domain.proposal import MemoryType, Provenance, Visibility
from authority.domain.revocation import RevokedKind
from authority.domain.statement import KeyPurpose
from authority.domain.validation import ValidationOutcome
from authority.signing.codec.fields import Misshapen
from capability_authority.v1 import statements_pb2, types_pb2

if TYPE_CHECKING:
    from google.protobuf.internal.enum_type_wrapper import _EnumTypeWrapper

Word = TypeVar("Word", bound=Enum)
Number = TypeVar("Number", bound=int)


class Vocabulary(Generic[Word, Number]):
    """Both directions between a domain enum and its proto enum, whose names are the domain's after a prefix.

    Built when the module is loaded, and fails there when the contract lacks a word of the domain.
    """

    def __init__(self, words: type[Word], numbers: "_EnumTypeWrapper[Number]") -> None:
        prefix = numbers.Name(numbers.values()[0]).removesuffix("UNSPECIFIED")
        self._numbers = {word: numbers.Value(prefix + word.name) for word in words}
        self._words = {number: word for word, number in self._numbers.items()}

    def encode(self, word: Word) -> Number:
        """The number that stands for the word."""
        return self._numbers[word]

    def decode(self, number: Number, path: str) -> Word:
        """The word. Unspecified is none."""
        word = self._words.get(number)
        if word is None:
            raise Misshapen(path, "must be specified")
        return word


DECISION_OUTCOMES = Vocabulary(DecisionOutcome, types_pb2.DecisionOutcome)
KEY_PURPOSES = Vocabulary(KeyPurpose, types_pb2.KeyPurpose)
MEMORY_TYPES = Vocabulary(MemoryType, types_pb2.MemoryType)
PRINCIPAL_KINDS = Vocabulary(PrincipalKind, types_pb2.PrincipalKind)
PROVENANCES = Vocabulary(Provenance, types_pb2.Provenance)
REVOKED_KINDS = Vocabulary(RevokedKind, statements_pb2.RevokedKind)
VALIDATION_OUTCOMES = Vocabulary(ValidationOutcome, types_pb2.ValidationOutcome)
VISIBILITIES = Vocabulary(Visibility, types_pb2.Visibility)
