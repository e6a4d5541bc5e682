"""What a caller says of a memory, whether it proposes it, corrects another by it, or writes it without validation."""

from dataclasses import dataclass

from authority.domain.identity import Caller
from authority.domain.membership import SCOPED, Scope, scope_problem
from authority.domain.proposal import Cost, Visibility
from authority.domain.reasons import Reason
from authority.domain.references import Instant
from authority.domain.refusal import Refusal, malformed
from authority.usecases.ports import Memberships


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidMemory:
    """Content and what it is about, whose shape was judged. Where it comes from cannot be said: that is stamped."""

    content: bytes
    media_type: str
    source_refs: tuple[str, ...]
    subject_refs: tuple[str, ...]
    visibility: Visibility | None
    """None for what the memory namespace has."""
    visibility_scope: str
    """Id of the channel or team; empty for private and workspace."""
    valid_from_time: Instant | None
    valid_until_time: Instant | None
    record_expire_time: Instant | None
    correlation_id: str
    costs: tuple[Cost, ...]


async def judge_scope(memberships: Memberships, caller: Caller, visibility: Visibility, scope: str) -> Refusal | None:
    """MALFORMED for a scope that does not go with the visibility, NOT_ALLOWED for one that the caller is no member of.

    So nobody puts anything before a channel or a team that is not its own. Judged before anything is kept: who is
    removed in between did it a moment earlier. What members see is judged whenever they read.
    """
    if problem := scope_problem(visibility, scope):
        return malformed("visibility_scope", problem)
    if visibility not in SCOPED:
        return None
    is_member = await memberships.is_member(caller.tenant, caller.ref, Scope(visibility, scope))
    return None if is_member else Refusal(Reason.NOT_ALLOWED, {"field": "visibility_scope"})
