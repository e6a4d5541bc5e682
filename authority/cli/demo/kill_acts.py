"""The service is killed in the middle of a commit, and asked again: what happens, act by act."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from authority.bootstrap.embedded import furnish
from authority.bootstrap.operator import Operator, open_operator
from authority.cli.child import Child
from authority.cli.demo_tenants import DemoTenants
from authority.cli.endpoint import endpoint_of
from authority.cli.failures import Refused
from authority.cli.ready import Ready, ready
from authority.config import Settings
from authority.embedded.demo import load_tenants
from authority.postgres.standstill import Standstill, standing_still
from authority.usecases.administer import CommitCounts
from capability_authority.client import AuthorityError, CapabilityAuthority, Committed, RetryPolicy

WITHIN_S: Final = 20.0
"""Whatever is waited for takes a fraction of a second."""
_SOON_S: Final = 0.01


@dataclass(frozen=True, slots=True)
class Told:
    """One step of the story, and the counts after it where they were looked at."""

    step: str
    text: str
    counts: CommitCounts | None = None
    begins: bool = False
    """Whether an act begins with it."""


@dataclass(frozen=True, slots=True)
class Act:
    """One kill, and how it came out."""

    firm: str
    goes_on: bool
    """Whether the database went on with what it was sent, or lost it with the connection."""
    after_kill: CommitCounts
    retried: Committed
    again: Committed
    counts: CommitCounts

    @property
    def defects(self) -> list[str]:
        """What is not as it must be."""
        landed = CommitCounts(consumed_capabilities=1, receipts=1, records=1, events=1)
        nothing = CommitCounts(consumed_capabilities=0, receipts=0, records=0, events=0)
        first, second = (one.receipt.statement.SerializeToString() for one in (self.retried, self.again))
        found = {
            "the database did something else with what it was sent": self.after_kill
            != (landed if self.goes_on else nothing),
            "the retry was answered as if something else had happened": self.retried.replayed != self.goes_on,
            "the second retry was no replay": not self.again.replayed,
            "the receipts are not the same bytes": first != second,
            "not exactly one of each": self.counts != landed,
        }
        return [defect for defect, holds in found.items() if holds]


@dataclass(slots=True)
class Stage:
    """An authority whose service can be killed without its servers."""

    settings: Settings
    folder: Path
    tell: Callable[[Told], None]
    operator: Operator
    child: Child

    async def act(self, firm: str, *, goes_on: bool) -> Act:
        """Kills the service amid a commit of the firm, starts it again, and asks twice with the same key."""
        async with ready(self.folder, firm) as made:
            await self._kill_amid_a_commit(made, firm, goes_on=goes_on)
            after_kill = await self._counts(firm)
            what = "goes on with what it was sent, and has nobody to answer" if goes_on else "is cut off, and undoes it"
            self.tell(Told("meanwhile", f"the database {what}", after_kill))
            await asyncio.to_thread(self.start_again)
            self.tell(Told("restart", f"process {self.child.pid} serves at {self.child.address}"))
            retried = await made.holder.commit(made.capability, content=made.content, timeout=WITHIN_S)
            how = "replayed, with the receipt that nobody got" if retried.replayed else "committed, with a receipt"
            self.tell(Told("retry", f"with the same key: {how}, {retried.receipt_id}"))
            again = await made.holder.commit(made.capability, content=made.content, timeout=WITHIN_S)
            act = Act(firm, goes_on, after_kill, retried, again, await self._counts(firm))
            same = "byte for byte the same" if again.receipt.statement == retried.receipt.statement else "ANOTHER"
            self.tell(Told("retry", f"once more: the receipt is {same}", act.counts))
            return act

    async def _kill_amid_a_commit(self, made: Ready, firm: str, *, goes_on: bool) -> None:
        assert self.settings.admin_database_url is not None
        async with standing_still(self.settings.admin_database_url.get_secret_value()) as still:
            running = asyncio.create_task(_commit_once(made))
            try:
                await _until(lambda: _stands(still, running), "the commit does not reach the database")
                text = f"one of {firm} is inside the database's call: its receipt is written, its event is not yet"
                self.tell(Told("commit", text, await self._counts(firm), begins=True))
                await asyncio.to_thread(self.child.kill)
                error = await running
            finally:
                running.cancel()
            doubt = "outcome unknown, ask again with the same key" if error.outcome_unknown else str(error)
            self.tell(Told("kill -9", f"process {self.child.pid} is gone; its caller is told: {doubt}"))
            if goes_on:
                await still.go_on()
            else:
                await still.break_off()
            await _until(lambda: self._came_to_rest(still, firm, goes_on=goes_on), "the database does not go on")

    async def _came_to_rest(self, still: Standstill, firm: str, *, goes_on: bool) -> bool:
        counts = await self._counts(firm)
        return not await still.standing() and (counts.receipts > 0 or not goes_on)

    def start_again(self) -> None:
        """Starts the service where the other was."""
        self.child = start(self.settings, self.folder)

    async def _counts(self, firm: str) -> CommitCounts:
        (ref,) = (tenant.ref for tenant in load_tenants() if tenant.tenant == firm)
        return await self.operator.administration.count_commits(ref)


async def play(settings: Settings, folder: Path, tell: Callable[[Told], None]) -> list[Act]:
    """Both acts, on servers that run already and a folder of their own. Raises Refused."""
    version = await furnish(settings)
    child = await asyncio.to_thread(start, settings, folder)
    async with open_operator(settings) as operator:
        stage = Stage(settings, folder, tell, operator, child)
        try:
            port = int(settings.listen.rpartition(":")[2])
            tenants = DemoTenants(operator, folder, endpoint_of(settings, port), version)
            await tenants.ensure(load_tenants())
            tell(Told("serve", f"process {child.pid} serves at {child.address}; PostgreSQL and Valkey run beside it"))
            return [
                await stage.act("harbour-books", goes_on=True),
                await stage.act("lantern-software", goes_on=False),
            ]
        except AuthorityError as error:
            raise Refused(f"the story broke off: {error}") from error
        finally:
            await asyncio.to_thread(stage.child.end)


def start(settings: Settings, folder: Path) -> Child:
    """The service alone, on servers that are not its own. Raises Refused."""
    urls = {
        "AUTHORITY_DATABASE_URL": settings.database_url.get_secret_value(),
        "AUTHORITY_REDIS_URL": settings.redis_url.get_secret_value(),
        "AUTHORITY_KEYS": str(settings.keys),
        "AUTHORITY_LISTEN": settings.listen,
        "AUTHORITY_ISSUER": settings.issuer,
        "AUTHORITY_AUDIENCE": settings.audience,
    }
    return Child.start([], folder / "serve.log", urls)


async def _commit_once(made: Ready) -> AuthorityError:
    """What the caller of a commit is told that is sent once, as by a program that does not try again."""
    caller = CapabilityAuthority.connect(credentials=made.holder.credentials, retries=RetryPolicy(attempts=1))
    async with caller:
        try:
            await caller.commit(made.capability, content=made.content, timeout=WITHIN_S * 4)
        except AuthorityError as error:
            return error
    raise Refused("the commit was answered, though its service was killed")


async def _stands(still: Standstill, running: "asyncio.Task[AuthorityError]") -> bool:
    if running.done():
        raise Refused(f"the commit never stood still: {running.result()}")
    return len(await still.standing()) == 1


async def _until(holds: Callable[[], Awaitable[bool]], otherwise: str) -> None:
    try:
        async with asyncio.timeout(WITHIN_S):
            while not await holds():  # noqa: ASYNC110 - a database tells nobody of what its backends wait for
                await asyncio.sleep(_SOON_S)
    except TimeoutError:
        raise Refused(f"{otherwise} within {WITHIN_S:.0f} s") from None
