"""What verifying a delegated grant costs, beside a raw Ed25519 verification in the same run."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from time import process_time_ns
from typing import Final

from authority.domain.grant import Grant
from authority.domain.grant_use import GrantUse, judge_use
from authority.domain.references import DAY, Instant, PrincipalRef, TenantRef, after
from authority.domain.refusal import Refusal
from authority.domain.statement import IssuerKey, KeyPurpose, KeyState, Statement
from authority.signing.codec.grant import encode_grant
from authority.signing.key_folder import KeyFolder
from authority.signing.key_ring import KeyRing
from authority.signing.statements import StatementReader
from authority.usecases.grants.chains import GrantChains
from bench.figures import Figure, figure_of, significant
from bench.stage import Stage
from bench.work import WentWrong
from capability_authority.offline import KeyRecord, KeySet, PrivateKey, pae, parse_statement, sign, verify_grant_chain
from capability_authority.v1.statements_pb2 import SignedStatement
from capability_authority.v1.types_pb2 import KEY_PURPOSE_GRANT, KEY_STATE_ACTIVE

_TIMES: Final = 1_000
"""Verifications of a round, of each kind."""
_ISSUER: Final = "bench"
_NOW: Final = Instant(1_800_000_000_000)
_USE: Final = GrantUse(action="memory.propose", audience="memory", write_memory_namespace="team/notes")


def measure_grants(stage: Stage) -> Iterator[Figure]:
    """CPU of this process, so that what else the machine does counts for nothing."""
    verifying = _Verifying()
    kinds = {
        "raw": verifying.raw,
        "warm": verifying.warm,
        "first_sight": verifying.first_sight,
        "offline": verifying.offline,
    }
    spent: dict[str, list[float]] = {name: [] for name in kinds}
    for _ in range(stage.options.rounds):
        for name, verify in kinds.items():
            spent[name].append(_us_each(verify))
    ratios = [warm / raw for warm, raw in zip(spent["warm"], spent["raw"], strict=True)]
    each_us = {f"{name}_us": significant(min(times)) for name, times in spent.items()}
    yield figure_of(stage.named("grant_chain_vs_ed25519"), ratios, {"blocks": 2, "times": _TIMES, **each_us})


def _us_each(verify: Callable[[], None]) -> float:
    began = process_time_ns()
    for _ in range(_TIMES):
        verify()
    return (process_time_ns() - began) / _TIMES / 1_000


class _Verifying:
    """One two-block chain: a root that the authority made, and a child that its holder made offline."""

    def __init__(self) -> None:
        self._grant_key, holder_key = PrivateKey.generate(), PrivateKey.generate()
        root = _root(holder_key)
        root_statement = sign(encode_grant(root), self._grant_key)
        digest = sha256(pae(root_statement.payload_type, root_statement.payload)).digest()
        child_statement = sign(encode_grant(_child(root, digest)), holder_key)
        self._sent = [each.SerializeToString() for each in (root_statement, child_statement)]
        self._chains = self._fresh()
        record = KeyRecord(public_key=self._grant_key.public_key, purpose=KEY_PURPOSE_GRANT, state=KEY_STATE_ACTIVE)
        self._key_set = KeySet.of(_ISSUER, record)
        self._signature, self._signed = (
            root_statement.signature.signature,
            pae(root_statement.payload_type, root_statement.payload),
        )

    def raw(self) -> None:
        """What the library needs for one signature, and nothing else."""
        if not self._grant_key.public_key.verify(self._signature, self._signed):
            raise WentWrong("a good signature was refused")

    def warm(self) -> None:
        """As the service does for each use of a grant that it has met: the whole chain, and the use."""
        self._judge(self._chains)

    def first_sight(self) -> None:
        """As the service does for a grant that it has never met."""
        self._judge(self._fresh())

    def offline(self) -> None:
        """As a client does, which remembers nothing."""
        verify_grant_chain([parse_statement(each) for each in self._sent], self._key_set, now_ms=_NOW)

    def _judge(self, chains: GrantChains) -> None:
        root, child = (_statement(SignedStatement.FromString(each)) for each in self._sent)
        chain = chains.open(child, (root,))
        if isinstance(chain, Refusal) or chains.judge(chain) or judge_use(chain, _USE, _NOW):
            raise WentWrong("a good chain was refused")

    def _fresh(self) -> GrantChains:
        ring = KeyRing(KeyFolder(Path("absent")))
        public_key = self._grant_key.public_key
        ring.replace((IssuerKey(public_key.key_id, public_key.raw, KeyPurpose.GRANT, KeyState.ACTIVE, _NOW),))
        return GrantChains(StatementReader(ring), _ISSUER)


def _statement(sent: SignedStatement) -> Statement:
    return Statement(sent.payload_type, sent.payload, sent.signature.key_id, sent.signature.signature)


def _root(holder_key: PrivateKey) -> Grant:
    """A grant with a few names in every dimension."""
    selectors, amount = ("team/*", "shared/notes", "public/*"), 1_000
    return Grant(
        issuer=_ISSUER,
        delegated_by=None,
        tenant=TenantRef("bench", "t1"),
        subject=PrincipalRef("users", "u1"),
        actor_chain=(),
        holder=PrincipalRef("services", "s1"),
        holder_key=holder_key.public_key.thumbprint,
        audiences=("memory",),
        actions=("memory.propose", "memory.recall"),
        resources=selectors,
        read_memory_namespaces=selectors,
        write_memory_namespaces=selectors,
        tools=selectors,
        providers=selectors,
        models=selectors,
        usd_micros=amount,
        tokens=amount,
        latency_ms=amount,
        concurrency=amount,
        uses=amount,
        network=True,
        destructive=False,
        not_before_time=_NOW,
        expire_time=after(_NOW, DAY),
        delegation_depth=2,
        policy_version=bytes(32),
        parent_digest=b"",
        correlation_id="bench",
        nonce=os.urandom(16),
        holder_public_key=holder_key.public_key.raw,
    )


def _child(root: Grant, digest: bytes) -> Grant:
    return replace(
        root,
        issuer="",
        delegated_by=root.holder,
        actor_chain=(root.holder,),
        holder=PrincipalRef("agents", "a1"),
        holder_key=bytes(32),
        holder_public_key=b"",
        actions=("memory.propose",),
        write_memory_namespaces=("team/notes",),
        uses=10,
        delegation_depth=1,
        parent_digest=digest,
    )
