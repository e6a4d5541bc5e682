"""Verifying a whole chain of grants without a server (semantics §6).

    chain = verify_grant_chain([root, child], key_set, now_ms=now_ms, use=GrantUse(action="memory.propose", …),
                               revocations=feed.view(now_ms=now_ms, maximum_age_ms=60_000))

Whoever verifies has the chain, the key set of the issuer that it pins, and, where a withdrawal has to end a grant
within seconds, the feed of revocations. That the presenter has the credential which the last block binds is asked over
the verifier's own channel: `GrantChain.holder_key` names it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from capability_authority.offline.digests import to_wire
from capability_authority.offline.errors import (
    GrantExceeded,
    GrantExpired,
    GrantMalformed,
    GrantNotYetValid,
    KeyRefused,
    SignatureInvalid,
)
from capability_authority.offline.instants import instant_ms
from capability_authority.offline.key_set import KeySet
from capability_authority.offline.keys import PublicKey
from capability_authority.offline.narrowing import (
    AMOUNTS,
    FLAGS,
    MAX_DEPTH_OF_DELEGATION,
    SELECTORS,
    require_narrower,
    require_shape,
)
from capability_authority.offline.revocations import RevocationView
from capability_authority.offline.selectors import selects
from capability_authority.offline.statements import digest_of, open_statement, read_payload
from capability_authority.offline.verification import verify_as
from capability_authority.v1.statements_pb2 import Grant, SignedStatement
from capability_authority.v1.types_pb2 import PrincipalRef

__all__ = ["GrantChain", "GrantUse", "verify_grant_chain"]

MAX_CHAIN_BYTES: Final = 32 * 1024
"""Of the payloads of a chain, together (semantics §10)."""
NOT_BEFORE_SKEW_MS: Final = 30_000
"""How far the verifier's clock may be behind; there is no such grace for expiry (semantics §3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantUse:
    """What one use needs. None, 0 and False need nothing of that dimension, which is then not asked of the grant."""

    action: str
    audience: str
    resource: str | None = None
    read_memory_namespace: str | None = None
    write_memory_namespace: str | None = None
    tool: str | None = None
    provider: str | None = None
    model: str | None = None
    usd_micros: int = 0
    tokens: int = 0
    latency_ms: int = 0
    concurrency: int = 0
    uses: int = 1
    """A grant with no uses allows nothing at all. What was spent before is not known offline."""
    network: bool = False
    destructive: bool = False


@dataclass(frozen=True, slots=True)
class GrantChain:
    """A chain that holds: root first, the presented grant last."""

    blocks: tuple[Grant, ...]
    digests: tuple[bytes, ...]
    """Statement digests, which name the blocks: 32 bytes each."""

    @property
    def presented(self) -> Grant:
        """The grant that was presented."""
        return self.blocks[-1]

    @property
    def subject(self) -> PrincipalRef:
        """Whose rights are used; whether it has them is asked elsewhere."""
        return self.presented.subject

    @property
    def actors(self) -> tuple[PrincipalRef, ...]:
        """Who acts for the subject: every holder, root first, whoever presents the grant last."""
        return (*self.presented.actor_chain, self.presented.holder)

    @property
    def holder_key(self) -> str:
        """The id of the credential that the presenter has to prove: `sha256:…`."""
        return to_wire(self.presented.holder_key)


def verify_grant_chain(
    chain: Sequence[SignedStatement],
    key_set: KeySet,
    *,
    now_ms: int,
    use: GrantUse | None = None,
    revocations: RevocationView | None = None,
) -> GrantChain:
    """Verify a grant with all its ancestors, root first and the presented one last; what they say.

    Each block is verified every time: signed by a grant key of the issuer, or, where it was made offline, by the key
    that its parent binds; no wider than its parent in any dimension; current at `now_ms`, in milliseconds since 1970.
    With `use` every block must allow it. With `revocations`, what a feed has told (`RevocationFeed.view`), no block, no
    holder, no holder's key, nor the subject may have been withdrawn: so a withdrawn ancestor ends its descendants.

    What cannot be known here: what was spent of a budget, and what the subject may do by itself.

    Raises as `verify_as`, and `GrantMalformed`, `GrantExceeded` with its `dimension`, `GrantNotYetValid`,
    `GrantExpired`.
    """
    _require_size(chain)
    blocks: list[Grant] = []
    digests: list[bytes] = []
    for statement in chain:
        parent = blocks[-1] if blocks else None
        block, digest = _open(statement, key_set, parent, revocations), digest_of(statement)
        require_shape(block)
        if parent is None:
            _require_root(block)
        else:
            require_narrower(parent, digests[-1], block)
        if revocations is not None:
            revocations.require_standing(block, digest=digest)
        blocks.append(block)
        digests.append(digest)
    for block in blocks:
        _require_current(block, now_ms)
        if use is not None:
            _require_allowed(block, use)
    return GrantChain(tuple(blocks), tuple(digests))


def _open(
    statement: SignedStatement, key_set: KeySet, parent: Grant | None, revocations: RevocationView | None
) -> Grant:
    """The block, once it is signed by whoever may make it. What it says before that decides only whose key is tried."""
    claimed = read_payload(statement.payload_type, statement.payload, Grant)
    if parent is None or not claimed.HasField("delegated_by"):
        return verify_as(statement, key_set, Grant, revocations=revocations)
    try:
        key = PublicKey(parent.holder_public_key)
    except KeyRefused as refused:
        raise SignatureInvalid(
            expected="a signature by the parent's holder", presented=f"a parent bound to no key that signs: {refused}"
        ) from None
    if statement.signature.key_id != key.key_id:
        raise SignatureInvalid(
            expected=f"a signature by {key.key_id}, which the parent binds", presented=statement.signature.key_id
        )
    return open_statement(statement, expected=Grant, keys=lambda _: key)


def _require_size(chain: Sequence[SignedStatement]) -> None:
    if not 1 <= len(chain) <= 1 + MAX_DEPTH_OF_DELEGATION:
        raise GrantMalformed(
            "chain", expected=f"1 to {1 + MAX_DEPTH_OF_DELEGATION} grants, root first", presented=f"{len(chain)}"
        )
    size = sum(len(statement.payload) for statement in chain)
    if size > MAX_CHAIN_BYTES:
        raise GrantMalformed("chain", expected=f"at most {MAX_CHAIN_BYTES} bytes of payloads", presented=f"{size}")


def _require_root(root: Grant) -> None:
    for name in ("parent_digest", "delegated_by", "actor_chain"):
        said = root.HasField("delegated_by") if name == "delegated_by" else bool(getattr(root, name))
        if said:
            raise GrantExceeded(name, expected="a root, which nothing comes before", presented=f"a grant with {name}")


def _require_current(grant: Grant, now_ms: int) -> None:
    begin, end = instant_ms(grant.not_before_time), instant_ms(grant.expire_time)
    if now_ms < begin - NOT_BEFORE_SKEW_MS:
        raise GrantNotYetValid(expected=f"a grant that is good at {now_ms} ms", presented=f"one from {begin} ms on")
    if now_ms >= end:
        raise GrantExpired(expected=f"a grant that is good at {now_ms} ms", presented=f"one until {end} ms")


_NEEDS: Final = dict(
    zip(
        SELECTORS,
        ("resource", "read_memory_namespace", "write_memory_namespace", "tool", "provider", "model"),
        strict=True,
    )
)


def _require_allowed(grant: Grant, use: GrantUse) -> None:
    for dimension, need in (("audiences", use.audience), ("actions", use.action)):
        if need not in getattr(grant, dimension).names:
            raise GrantExceeded(dimension, expected=f"{dimension} with {need}", presented="others")
    for dimension, need_of in _NEEDS.items():
        name: str | None = getattr(use, need_of)
        if name is not None and not selects(getattr(grant, dimension).names, name):
            raise GrantExceeded(dimension, expected=f"{dimension} that select {name}", presented="others")
    for dimension in AMOUNTS:
        if getattr(use, dimension) > getattr(grant, dimension).most:
            raise GrantExceeded(
                dimension,
                expected=f"{getattr(use, dimension)} of {dimension}",
                presented=f"at most {getattr(grant, dimension).most}",
            )
    for dimension in FLAGS:
        if getattr(use, dimension) and not getattr(grant, dimension).allowed:
            raise GrantExceeded(dimension, expected=f"{dimension} to be allowed", presented="it is not")
