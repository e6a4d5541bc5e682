"""Grants: made, handed on, spent from and revoked, with what must come of it."""

from dataclasses import dataclass, replace

from authority.domain.identity import PrincipalKind
from authority.domain.reasons import Reason
from authority.domain.references import DAY, MINUTE
from tests.model.committing import Way
from tests.model.notes import Held, Lent
from tests.model.remembering import Remembering
from tests.world.granting import Granted, Granting
from tests.world.world import Person, must, reason_of


@dataclass(frozen=True, slots=True)
class Terms:
    """How much is lent, for how long, and how it is handed on: not at all, by the authority, or offline."""

    uses: int
    concurrency: int
    brief: bool
    handed: str


class Lending(Remembering):
    """What is done with grants. Their subject is the world's service, which is never withdrawn."""

    async def lent(self, holder: Person, other: Person, terms: Terms) -> list[Lent]:
        """A root for the holder, and a child of it for the other; as far as the keys to bind are not withdrawn."""
        granting, policy = Granting(self.world), self.notes.policy
        answer = await granting.issue(
            holder,
            uses=terms.uses,
            concurrency=terms.concurrency,
            lifetime_ms=20 * MINUTE if terms.brief else DAY,
        )
        gone = {str(holder.ref), holder.key_id} & self.notes.withdrawn
        self.agree("a grant", Reason.NOT_ALLOWED if gone else None, reason_of(answer))
        if gone:
            return []
        root = Granted((must(answer).grant,), holder)
        self.notes.tell("grant.issue", self.world.admin.ref, _name(root), "active")
        digest = root.grant.digest
        kept = Lent(root, {digest: terms.uses}, {digest: terms.concurrency}, (holder,), policy)
        child = await self._handed_on(kept, other, terms) if terms.handed else None
        return [kept, child] if child else [kept]

    async def _handed_on(self, parent: Lent, other: Person, terms: Terms) -> Lent | None:
        granting = Granting(self.world)
        if terms.handed == "offline":
            child = granting.delegated(parent.granted, other)
        else:
            answer = await granting.exchange(parent.granted, other)
            gone = {str(other.ref), other.key_id} & self.notes.withdrawn
            self.agree("an exchange", Reason.NOT_ALLOWED if gone else None, reason_of(answer))
            if gone:
                return None
            child = Granted((*parent.granted.chain, must(answer).grant), other)
            self.notes.tell("grant.exchange", parent.granted.holder.ref, _name(child), "active")
        digest = child.grant.digest
        return replace(
            parent,
            granted=child,
            uses={**parent.uses, digest: terms.uses},
            concurrency={**parent.concurrency, digest: terms.concurrency},
            holders=(*parent.holders, other),
        )

    async def made_ready_under(self, lent: Lent, by: PrincipalKind, fact: bytes, way: Way) -> list[Held]:
        """The whole way, for the grant's holder, whose capabilities are issued under it."""
        holder = lent.granted.holder
        return await self.brought_on(await self.proposed(by, fact), by, holder, way, lent)

    async def grant_revoked(self, lent: Lent, *, root: bool) -> None:
        """By the admin, who presents it: one that nobody has met yet, too."""
        granted = Granted(lent.granted.chain[:1], lent.holders[0]) if root else lent.granted
        answer = must(await Granting(self.world).revoke(granted, presented=granted.presented))
        first = granted.grant.digest not in self.notes.grants_revoked
        self.agree("a grant was revoked before", first, not answer.replayed)
        self.meet(granted, self.world.admin)
        if first:
            self.notes.grants_revoked.add(granted.grant.digest)
            self.notes.tell("grant.revoke", self.world.admin.ref, _name(granted), "revoked")


def _name(granted: Granted) -> str:
    return f"sha256:{granted.grant.digest.hex()}"
