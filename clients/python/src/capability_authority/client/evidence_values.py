"""What the verbs of EvidenceService answer."""

from dataclasses import dataclass
from datetime import UTC, datetime

from capability_authority.client.credentials import Reference
from capability_authority.client.words import word_of
from capability_authority.v1 import evidence_service_pb2, types_pb2
from capability_authority.v1.statements_pb2 import SignedStatement

__all__ = ["Evidence"]


@dataclass(frozen=True, slots=True, repr=False)
class Evidence:
    """A piece of evidence as the authority keeps it; proposals name it by `digest`."""

    message: evidence_service_pb2.Evidence
    """All of it."""

    def __repr__(self) -> str:
        """Short: the content may be large."""
        return f"<Evidence {self.digest}, {self.state}>"

    @property
    def digest(self) -> str:
        """Of the bytes, wherever they are kept."""
        return self.message.digest

    @property
    def media_type(self) -> str:
        """Of the bytes."""
        return self.message.media_type

    @property
    def content(self) -> bytes | None:
        """The bytes; None where they are only referred to, and in the answer to `put_evidence`."""
        return self.message.content if self.message.WhichOneof("kept") == "content" else None

    @property
    def reference(self) -> str | None:
        """URI of where the bytes are kept; None where that is the authority."""
        return self.message.reference if self.message.WhichOneof("kept") == "reference" else None

    @property
    def state(self) -> str:
        """What a person said of it: "pending", "approved" or "rejected"."""
        return word_of(evidence_service_pb2.EvidenceState, self.message.state)

    @property
    def visibility(self) -> str:
        """Who may know of it; the words of `Visibility`."""
        return word_of(types_pb2.Visibility, self.message.visibility)

    @property
    def put_by(self) -> Reference:
        """Who put it."""
        return Reference(self.message.put_by.namespace, self.message.put_by.id)

    @property
    def signed_by(self) -> Reference | None:
        """Who vouched for it; None when nobody did."""
        if not self.message.HasField("signed_by"):
            return None
        return Reference(self.message.signed_by.namespace, self.message.signed_by.id)

    @property
    def claim(self) -> SignedStatement | None:
        """By which statement."""
        return self.message.claim if self.message.HasField("claim") else None

    @property
    def put_time(self) -> datetime:
        """When it was put, in UTC."""
        return self.message.put_time.ToDatetime(tzinfo=UTC)
