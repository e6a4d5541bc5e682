"""Which certificates can be shown at all, and what each is known by."""

from dataclasses import replace

import pytest

from authority.domain.certificate import Certificate, credentials_of, spki
from authority.domain.credential import Credential, CredentialForm
from authority.domain.references import HOUR, Instant
from tests.unit.domain.terms import NOW

OURS = frozenset({"harbour.example"})
NAMED = Certificate(
    uris=("spiffe://harbour.example/svc",),
    subject="CN=svc",
    spki_digest=b"\x01" * 32,
    not_before_time=NOW,
    expire_time=Instant(NOW + HOUR),
    is_authority=False,
)
KNOWN_BY = (Credential(CredentialForm.SPIFFE, NAMED.uris[0]), spki(NAMED.spki_digest))


@pytest.mark.parametrize(("lasting", "counts"), [(-1, False), (0, True), (HOUR - 1, True), (HOUR, False)])
def test_e12_a_certificate_counts_from_its_beginning_until_its_very_end(lasting: int, *, counts: bool) -> None:
    assert credentials_of(NAMED, OURS, Instant(NOW + lasting)) == (KNOWN_BY if counts else None)


def test_a_certificate_without_a_spiffe_id_is_known_by_its_key_and_its_subject() -> None:
    by_subject = Credential(CredentialForm.SUBJECT, "CN=svc")
    for uris in ((), ("https://harbour.example",)):
        assert credentials_of(replace(NAMED, uris=uris), OURS, NOW) == (spki(NAMED.spki_digest), by_subject)
    assert credentials_of(replace(NAMED, uris=(), subject=""), OURS, NOW) == (spki(NAMED.spki_digest),)


@pytest.mark.parametrize(
    "wrong",
    [
        replace(NAMED, uris=NAMED.uris * 2),
        replace(NAMED, uris=(*NAMED.uris, "https://harbour.example")),
        replace(NAMED, uris=("spiffe://elsewhere.example/svc",)),
        replace(NAMED, uris=("Spiffe://harbour.example/svc",)),
        replace(NAMED, uris=(), subject="CN=spiffe://harbour.example/svc"),
        replace(NAMED, is_authority=True),
    ],
)
def test_what_is_two_or_poses_as_another_is_known_by_nothing(wrong: Certificate) -> None:
    assert credentials_of(wrong, OURS, NOW) is None
