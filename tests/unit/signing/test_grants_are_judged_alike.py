"""The rule of what is narrower stands twice, in the service's domain and in the client's offline package: they agree.

The domain is apart from everything that reads bytes, and the client from the service; so neither can use the other's.
"""

from collections.abc import Sequence
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from authority.domain.grant import (
    ACTIONS,
    AMOUNT_DIMENSIONS,
    EXACT_DIMENSIONS,
    FLAG_DIMENSIONS,
    SELECTOR_DIMENSIONS,
    Grant,
)
from authority.domain.grant_chain import exceeded_dimension
from authority.domain.grant_use import GrantUse, judge_grant_time, judge_use
from authority.domain.reasons import Reason
from authority.domain.references import DAY, Instant
from authority.domain.refusal import Refusal, highest
from authority.domain.selectors import covers, select
from authority.domain.shape import is_selector
from authority.domain.statement import IssuerKey, KeyPurpose, KeyState, Statement
from authority.signing.codec.grant import encode_grant
from authority.signing.key_folder import KeyFolder
from authority.signing.key_ring import KeyRing
from authority.signing.statements import StatementReader
from authority.usecases.grants.chains import GrantChains
from capability_authority import offline
from capability_authority.offline import (
    GrantExceeded,
    GrantExpired,
    GrantMalformed,
    GrantNotYetValid,
    KeyRecord,
    KeySet,
    PrivateKey,
    SignatureInvalid,
    StatementError,
    narrowing,
    selectors,
    sign,
    verify_grant_chain,
)
from capability_authority.v1 import statements_pb2
from capability_authority.v1.types_pb2 import KEY_PURPOSE_GRANT, KEY_STATE_ACTIVE
from tests.unit.domain.grants import ISSUER, NOW
from tests.unit.domain.random_grants import NAMES, SELECTORS, USES, chains
from tests.unit.signing import samples

GRANT_KEY = PrivateKey.from_seed(samples.digest(99))
KEYS = [PrivateKey.from_seed(samples.digest(number)) for number in range(8)]
KEY_SET = KeySet.of(
    ISSUER, KeyRecord(public_key=GRANT_KEY.public_key, purpose=KEY_PURPOSE_GRANT, state=KEY_STATE_ACTIVE)
)


def reader() -> StatementReader:
    """A reader that knows the one grant key."""
    ring = KeyRing(KeyFolder(Path("absent")))
    public_key = GRANT_KEY.public_key
    ring.replace((IssuerKey(public_key.key_id, public_key.raw, KeyPurpose.GRANT, KeyState.ACTIVE, NOW),))
    return StatementReader(ring)


CHAINS = GrantChains(reader(), ISSUER)

OF_REASON = {
    GrantMalformed: Reason.MALFORMED,
    GrantExceeded: Reason.GRANT_EXCEEDED,
    GrantNotYetValid: Reason.NOT_YET_VALID,
    GrantExpired: Reason.EXPIRED,
    SignatureInvalid: Reason.SIGNATURE_INVALID,
}


def test_both_sides_know_the_same_words() -> None:
    assert narrowing.ACTIONS == ACTIONS
    assert (narrowing.EXACT, narrowing.SELECTORS) == (EXACT_DIMENSIONS, SELECTOR_DIMENSIONS)
    assert (narrowing.AMOUNTS, narrowing.FLAGS) == (AMOUNT_DIMENSIONS, FLAG_DIMENSIONS)
    assert [each.name for each in fields(offline.GrantUse)] == [each.name for each in fields(GrantUse)]
    assert [each.name for each in fields(Grant)] == [each.name for each in statements_pb2.Grant.DESCRIPTOR.fields]


@given(wider=st.lists(SELECTORS, max_size=3), one=SELECTORS | NAMES | st.text("t/.*1", max_size=6))
def test_selectors_reach_the_same(wider: list[str], one: str) -> None:
    assert selectors.is_selector(one) == is_selector(one)
    assert selectors.covers(wider, one) == covers(wider, one)
    assert selectors.selects(wider, one) == select(wider, one)


def sayable(terms: Grant) -> Grant:
    """As a payload can say it: there is no depth below 0."""
    return replace(terms, delegation_depth=max(terms.delegation_depth, 0))


@st.composite
def presented(draw: st.DrawFn) -> list[statements_pb2.Grant]:
    """A random chain as messages: its blocks name each other as they were drawn, but for one that may be tampered with.

    Hand-overs are the authority's or a holder's.
    """
    messages: list[statements_pb2.Grant] = []
    digest = b""
    for number, terms in enumerate(map(sayable, draw(chains()))):
        key = KEYS[number].public_key
        is_offline = number > 0 and draw(st.booleans())
        bound = replace(
            terms,
            holder_key=key.thumbprint,
            holder_public_key=key.raw,
            parent_digest=digest,
            issuer="" if is_offline else ISSUER,
            delegated_by=terms.actor_chain[-1] if is_offline else None,
        )
        message = encode_grant(bound)
        messages.append(message)
        digest = offline.statement_digest(GRANT_TYPE, message.SerializeToString(deterministic=True))
    return messages


GRANT_TYPE = offline.payload_type_of(statements_pb2.Grant)

TAMPERINGS: tuple[tuple[str, Any], ...] = (
    ("nonce", b"short"),
    ("correlation_id", "a b"),
    ("delegation_depth", 9),
    ("issuer", ""),
    ("issuer", "another"),
    ("holder_public_key", b""),
    ("holder_public_key", bytes(32)),
    ("policy_version", bytes(32)),
    ("policy_version", b""),
    ("parent_digest", bytes(32)),
    ("parent_digest", b"x"),
    ("holder_key", bytes(32)),
)


def signed_chain(messages: Sequence[statements_pb2.Grant]) -> list[statements_pb2.SignedStatement]:
    """Each signed by whoever may, as it says itself."""
    return [
        sign(message, KEYS[number - 1] if message.HasField("delegated_by") else GRANT_KEY)
        for number, message in enumerate(messages)
    ]


def by_the_service(
    chain: Sequence[statements_pb2.SignedStatement], use: GrantUse | None, now: Instant
) -> Refusal | None:
    """What the service says of the chain."""
    *ancestors, grant = (
        Statement(each.payload_type, each.payload, each.signature.key_id, each.signature.signature) for each in chain
    )
    opened = CHAINS.open(grant, ancestors)
    if isinstance(opened, Refusal):
        return opened
    times = highest(judge_grant_time(block.terms, now) for block in opened)
    return CHAINS.judge(opened) or (times if use is None else judge_use(opened, use, now))


def by_the_client(
    chain: Sequence[statements_pb2.SignedStatement], use: GrantUse | None, now: Instant
) -> StatementError | None:
    """What the client says of the chain."""
    need = None if use is None else offline.GrantUse(**{each.name: getattr(use, each.name) for each in fields(use)})
    try:
        verify_grant_chain(chain, KEY_SET, now_ms=now, use=need)
    except StatementError as refused:
        return refused
    return None


@given(data=st.data(), messages=presented(), use=st.none() | USES, tenths=st.integers(-5, 25))
def test_whatever_one_side_refuses_the_other_refuses(
    data: st.DataObject, messages: list[statements_pb2.Grant], use: GrantUse | None, tenths: int
) -> None:
    # Given a random chain, often as it should be, sometimes with one field that is not
    if data.draw(st.integers(0, 3)) == 0:
        name, value = data.draw(st.sampled_from(TAMPERINGS))
        setattr(data.draw(st.sampled_from(messages)), name, value)
    chain = signed_chain(messages)
    now = Instant(NOW + tenths * (DAY // 10))

    # When both judge it, then both take it or both refuse it: of several refusals the service tells the highest, the
    # client the first
    service, client = by_the_service(chain, use, now), by_the_client(chain, use, now)
    event(f"refused by the service: {service.reason.name if service else 'no'}")
    assert (service is None) == (client is None), (service, client)


@given(data=st.data(), messages=presented())
def test_whatever_bytes_are_shown_both_refuse_or_take_them_and_raise_nothing_else(
    data: st.DataObject, messages: list[statements_pb2.Grant]
) -> None:
    # Given a chain of which some bytes are changed, or some blocks are dropped, doubled or put elsewhere
    chain = signed_chain(messages)
    if data.draw(st.booleans()):
        chain = [chain[at] for at in data.draw(st.lists(st.integers(0, len(chain) - 1), min_size=1, max_size=10))]
    else:
        part = data.draw(st.sampled_from(["payload", "signature"]))
        block = data.draw(st.sampled_from(chain))
        owner = block if part == "payload" else block.signature
        noise = bytearray(getattr(owner, part))
        at = data.draw(st.integers(0, len(noise) - 1))
        noise[at : at + data.draw(st.integers(0, 40))] = data.draw(st.binary(max_size=40))
        setattr(owner, part, bytes(noise))

    # Then each side has a verdict, and it is the same
    service, client = by_the_service(chain, None, NOW), by_the_client(chain, None, NOW)
    event(f"refused: {service is not None}")
    assert (service is None) == (client is None), (service, client)


@given(grants=chains())
def test_what_a_child_exceeds_is_named_alike(grants: list[Grant]) -> None:
    # Given each block below the one before, as a child that names it
    for parent, child in pairwise(map(sayable, grants)):
        named = replace(child, parent_digest=samples.digest(1))

        # When both judge it, then they name the same
        theirs = narrowing.exceeded_dimension(encode_grant(parent), named.parent_digest, encode_grant(named))
        assert theirs == exceeded_dimension(parent, named.parent_digest, named)


@given(grants=chains(), use=USES)
def test_what_a_use_exceeds_is_named_alike(grants: list[Grant], use: GrantUse) -> None:
    # Given one block that is well formed, of the authority's own making, and a use in its time
    root = replace(grants[0], issuer=ISSUER)
    chain = signed_chain([encode_grant(root)])
    now = root.not_before_time

    # When both judge it, then they name the same
    service, client = by_the_service(chain, use, now), by_the_client(chain, use, now)
    assert (service and service.facts.get("dimension")) == (client and getattr(client, "dimension", None))
    assert (service and service.reason) == (client and OF_REASON[type(client)])


@pytest.mark.parametrize("name", ["selectors", "narrowing"])
def test_each_side_says_that_there_is_another(name: str) -> None:
    assert "The service has the same rule in its own words" in (vars(offline)[name].__doc__ or "")
