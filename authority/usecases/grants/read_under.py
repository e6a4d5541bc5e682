"""Whose eyes a read is made with: the caller's, or those of the subject of a grant that it presents (semantics §6)."""

from dataclasses import dataclass

from authority.domain.grant import GrantAction
from authority.domain.grant_use import GrantUse
from authority.domain.identity import Caller, Right, require
from authority.domain.reasons import Reason
from authority.domain.references import PrincipalRef
from authority.domain.refusal import Refusal
from authority.domain.verify import Here
from authority.usecases.admit import Admit
from authority.usecases.grants.act_under import ActUnderGrant
from authority.usecases.grants.presented import PresentedGrant
from authority.usecases.ports import Clock, RequestMark


@dataclass(frozen=True, slots=True)
class Presented:
    """A grant as a read presents it, and what is told if a block of it is met for the first time."""

    grant: PresentedGrant
    mark: RequestMark


@dataclass(frozen=True, slots=True)
class ReadUnderGrant:
    """Judged anew for each call. Each spends a use of the grant, whatever it finds: see `ActUnderGrant.spend_read`."""

    admit: Admit
    act: ActUnderGrant
    clock: Clock
    here: Here

    async def reader(
        self, caller: Caller, presented: Presented | None, memory_namespace: str, resource: str | None = None
    ) -> PrincipalRef | Refusal:
        """Who reads. A grant gives nothing that its subject lacks: the subject's own right, and what it is shown.

        Refusals: NOT_ALLOWED without the right to read, of the caller or of the subject; with a grant all that it is
        refused for, GRANT_EXCEEDED and BUDGET_EXHAUSTED with their `dimension` among them. What is refused here has
        spent nothing.
        """
        if refusal := await self.admit(caller):
            return refusal
        if presented is None:
            return require(caller, Right.READ) or caller.ref
        delegation = await self.act(caller, presented.grant, presented.mark)
        if isinstance(delegation, Refusal):
            return delegation
        if not delegation.subject.may(Right.READ):
            return Refusal(Reason.NOT_ALLOWED)
        use = GrantUse(
            action=GrantAction.MEMORY_RECALL.value,
            audience=self.here.audience,
            resource=resource,
            read_memory_namespace=memory_namespace,
        )
        refusal = delegation.judge(use, self.clock.now())
        return refusal or await self.act.spend_read(delegation, GrantAction.MEMORY_RECALL) or delegation.subject.ref
