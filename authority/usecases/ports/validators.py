"""What judges proposed content, and what it is compared with."""

from collections.abc import Sequence
from typing import Protocol

from authority.domain.likeness import Traits
from authority.domain.material import Alike, Material
from authority.domain.references import Instant, PrincipalRef, TenantRef
from authority.domain.validation import Finding, Profile


class Validators(Protocol):
    """The validators that this process can ask, by profiles."""

    def profile(self, name: str) -> Profile | None:
        """The profile, when this process has it."""
        ...

    async def traits(
        self, profile: Profile, content: bytes, media_type: str, subject_refs: Sequence[str]
    ) -> Traits | None:
        """What the profile's validators compare contents by; None when it could not be made."""
        ...

    async def judge(self, profile: Profile, material: Material) -> tuple[Finding, ...]:
        """A finding of every validator, in the profile's order.

        Raises nothing: of one that fails, hangs or answers garbage the finding is `review`, with the reason
        `validator_failed` or `validator_timeout`.
        """
        ...


class Likenesses(Protocol):
    """Finds living records by what contents are compared by."""

    async def alike(
        self,
        tenant: TenantRef,
        memory_namespace: str,
        traits: Traits,
        *,
        reader: PrincipalRef,
        now: Instant,
        corrects: str = "",
    ) -> Alike:
        """The records of the memory namespace that are much alike, or assert another value of the same.

        Compared with are records that are visible to the reader now and whose validation kept their traits; the one
        that is to be corrected is left out.
        """
        ...
