"""Which texts are SPIFFE ids, and what a credential is named by."""

import pytest

from authority.domain.credential import Credential, CredentialForm
from authority.domain.principal_link import in_order
from authority.domain.references import PrincipalRef
from authority.domain.spiffe import poses_as_spiffe, trust_domain_of


@pytest.mark.parametrize(
    ("text", "domain"),
    [
        ("spiffe://harbour.example/svc", "harbour.example"),
        ("spiffe://harbour.example/ns/a_b/SA/c-d.e", "harbour.example"),
        ("spiffe://h/x", "h"),
        ("spiffe://harbour.example", None),
        ("spiffe://harbour.example/", None),
        ("spiffe://harbour.example/svc/", None),
        ("spiffe://harbour.example//svc", None),
        ("spiffe://harbour.example/./svc", None),
        ("spiffe://harbour.example/../svc", None),
        ("spiffe://harbour.example/s%76c", None),
        ("spiffe://harbour.example/svc?x", None),
        ("spiffe://harbour.example/svc#x", None),
        ("spiffe://harbour.example/svc\n", None),
        ("spiffe://harbour.example/svcé", None),
        ("spiffe://user@harbour.example/svc", None),
        ("spiffe://harbour.example:443/svc", None),
        ("spiffe://Harbour.example/svc", None),
        ("spiffe:///svc", None),
        ("SPIFFE://harbour.example/svc", None),
        ("https://harbour.example/svc", None),
        ("spiffe://h/" + "x" * 2048, None),
        ("", None),
    ],
)
def test_a_spiffe_id_is_exactly_that(text: str, domain: str | None) -> None:
    assert trust_domain_of(text) == domain


@pytest.mark.parametrize("text", ["spiffe://a/b", "SpIfFe://a/b", "CN=spiffe://a/b,O=x", "urn:spiffe:x"])
def test_what_poses_as_one_is_found(text: str) -> None:
    assert poses_as_spiffe(text)
    assert not poses_as_spiffe(text.replace(":", ""))


def test_credentials_are_named_apart_by_form_issuer_and_text() -> None:
    # given texts that would be one if they were joined, or if their form or issuer did not count
    credentials = [
        Credential(CredentialForm.TOKEN, "a", "bc"),
        Credential(CredentialForm.TOKEN, "ab", "c"),
        Credential(CredentialForm.TOKEN, "abc"),
        Credential(CredentialForm.SUBJECT, "abc"),
        Credential(CredentialForm.SPIFFE, "abc"),
        Credential(CredentialForm.SPKI, "abc"),
    ]
    assert len({it.id for it in credentials}) == len(credentials)
    # and one is named as it is for ever: rows hold it
    assert credentials[4].id == "sha256:9cc508ce1782493b6b73b24e1a039d2872c6ff056183ab1d8d288338076aadac"


def test_a_pair_has_one_order() -> None:
    one, other = PrincipalRef("a", "z"), PrincipalRef("a", "b")
    assert in_order(one, other) == in_order(other, one) == (other, one)
