"""What changes around a commit: withdrawals, policy, keys, and processes that end."""

from dataclasses import dataclass

import pytest

from authority.domain.identity import RIGHTS_BY_KIND, PrincipalKind, Right
from authority.domain.record import Mode
from authority.domain.refusal import Refusal
from authority.domain.statement import KeyPurpose
from authority.policy.bundle import bundle_version, default_bundle
from authority.signing.rotation import Scope, generate
from authority.usecases.administer import OPERATOR, NotThere
from tests.model.batching import Batching
from tests.model.notes import Burial, Held
from tests.model.player import DEFAULT_POLICY
from tests.world.world import NAMESPACE, PERMIT_ALL, Person

POLICIES = {
    DEFAULT_POLICY: default_bundle(),
    "open": PERMIT_ALL,
    "closed": '@id("closed")\nforbid (principal, action, resource);\n',
}


@dataclass(frozen=True, slots=True)
class Rotation:
    """How an issuer key is exchanged: whether the old one is revoked, and whether the process is told at once."""

    purpose: KeyPurpose
    revoked: bool
    compromised: bool
    told: bool


class Withdrawing(Batching):
    """What operators do, and what happens to servers."""

    async def appointed(self, kind: PrincipalKind) -> Person:
        """A new holder."""
        rights = RIGHTS_BY_KIND[kind] | {Right.COMMIT}
        holder = await self.world.register(kind, f"holder-{self.request_id()}", rights)
        self.notes.tell("principal.add", OPERATOR, str(holder.ref), "active")
        return holder

    async def revoked(self, holder: Person, *, key_alone: bool) -> None:
        """Withdraws the holder or its key, and finds neither a second time."""
        subject = holder.key_id if key_alone else str(holder.ref)
        if subject in self.notes.withdrawn:
            with pytest.raises(NotThere):
                await self._revoke(holder, key_alone=key_alone)
            return
        await self._revoke(holder, key_alone=key_alone)
        self.notes.withdrawn.add(subject)
        self.notes.tell("principal_key.revoke" if key_alone else "principal.revoke", OPERATOR, subject, "revoked")

    async def _revoke(self, holder: Person, *, key_alone: bool) -> None:
        administration, tenant = self.world.authority.store.administration, self.world.tenant
        if key_alone:
            await administration.revoke_principal_key(tenant, holder.key_id, self.world.now())
        else:
            await administration.revoke_principal(tenant, holder.ref, self.world.now())

    async def capability_revoked(self, held: Held, by: Person, request_id: str) -> None:
        """RevokeCapability: the first time stands, whoever asks again."""
        foretold = self.foretelling.of_revocation(held, by, request_id)
        answer = await self.world.revoke(held.issued, by=by, request_id=request_id)
        self.agree("revoke", foretold, answer.reason if isinstance(answer, Refusal) else answer)
        if isinstance(answer, Refusal):
            return
        self.notes.answered[by.ref, request_id] = held.capability_id
        if not answer.replayed:
            self.notes.revoked[held.capability_id] = answer.revoke_time
            self.notes.tell("capability.revoke", by.ref, held.capability_id, "revoked")

    async def rotated(self, how: Rotation) -> None:
        """A new key signs from now on, as soon as the process is told."""
        authority, now = self.world.authority, self.world.now()
        key = generate(authority.folder, how.purpose, now, Scope(self.world.tenant))
        old, self.notes.signing[how.purpose] = self.notes.signing[how.purpose], key.key_id
        retired = await authority.store.administration.add_issuer_key(key, now)
        self.agree("the keys that retire", [old], list(retired))
        self.notes.tell("issuer_key.add", OPERATOR, key.key_id, "active")
        self.notes.tell("issuer_key.retire", OPERATOR, old, "retiring")
        if how.revoked:
            await authority.store.administration.revoke_issuer_key(old, now if how.compromised else None, now)
            self.notes.withdrawn.add(old)
            self.notes.tell("issuer_key.revoke", OPERATOR, old, "revoked")
        if how.told:
            await self.keys_learned()

    async def keys_learned(self) -> None:
        """The process reads the issuer keys again, as it does every few seconds."""
        await self.world.authority.learn_keys()
        self.notes.learn_keys()

    async def governed(self, policy: str, mode: Mode) -> None:
        """Puts the memory namespace under a policy and into a mode, which concerns unvalidated writes alone."""
        version, administration = await self.world.load(POLICIES[policy]), self.world.authority.store.administration
        await administration.activate_policy(self.world.tenant, NAMESPACE, version, self.world.now())
        await administration.set_mode(self.world.tenant, NAMESPACE, mode, self.world.now())
        self.notes.policy = policy
        subject = f"sha256:{bundle_version(POLICIES[policy]).hex()}"
        self.notes.tell("policy.activate", OPERATOR, NAMESPACE, subject)
        self.notes.tell("memory_namespace.mode", OPERATOR, NAMESPACE, mode.value)

    async def buried(self, fact: bytes) -> None:
        """A tombstone: what was decided before it stays away for ever."""
        digest = self.world.authority.reader.content_digest(fact)
        await self.world.authority.store.behind.bury(self.world.tenant, NAMESPACE, digest)
        self.notes.buried.setdefault(fact, []).append(Burial(self.notes.next_moment()))

    async def redis_flushed(self) -> None:
        """Redis forgets everything, leases too."""
        await self.stage.flush_redis()
        self.notes.running.clear()

    async def crashed(self) -> None:
        """The process ends, and another begins."""
        await self.stage.crash()
        self.notes.learn_keys()
