"""An external authority on policy, with keys of its own, and what it signs."""

from collections.abc import Sequence
from dataclasses import dataclass

from authority.usecases.external_authorities import NewExternalAuthority
from capability_authority.offline import PrivateKey
from tests.world.world import NAMESPACE, World

ISSUER = "policy.group.example"


@dataclass(frozen=True, slots=True)
class External:
    """An external authority and the key that it signs with."""

    issuer: str
    key: PrivateKey

    @property
    def key_id(self) -> str:
        """Of its key."""
        return self.key.public_key.key_id


async def configured(
    world: World, issuer: str = ISSUER, *, required: bool = False, namespaces: Sequence[str] = (NAMESPACE,)
) -> External:
    """An operator lets an external authority with a new key have a say."""
    key = PrivateKey.generate()
    new = NewExternalAuthority(
        tenant=world.tenant,
        issuer=issuer,
        memory_namespaces=tuple(namespaces),
        required=required,
        public_keys=(key.public_key.raw,),
    )
    await world.authority.store.external_authorities.put(new, world.now())
    return External(issuer, key)
