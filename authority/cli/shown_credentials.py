"""How an operator names what a principal shows instead of a signature: a certificate or a bearer token."""

from pathlib import Path
from typing import Annotated, Final

import typer
from cryptography import x509

from authority.cli.failures import Misused
from authority.domain import limits
from authority.domain.certificate import spki
from authority.domain.credential import Credential, CredentialForm
from authority.domain.spiffe import poses_as_spiffe, trust_domain_of
from authority.signing.certificates import read_certificate

_SUBJECT_BYTES: Final = 1_024
_ISSUER_BYTES: Final = 1_024

Spiffe = Annotated[
    str | None,
    typer.Option(metavar="ID", help="It shows a client certificate with this SPIFFE id, as in spiffe://DOMAIN/PATH."),
]
CertificateFile = Annotated[
    Path | None,
    typer.Option(
        "--certificate",
        metavar="PEM",
        help="It shows a client certificate with the public key of this one, now and when it is renewed.",
    ),
]
Subject = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="It shows a client certificate with this subject, as in CN=loader,O=harbour."),
]
TokenSubject = Annotated[
    tuple[str, str] | None,
    typer.Option(metavar="ISSUER SUBJECT", help="It shows bearer tokens of this issuer for this subject."),
]


def shown_credential(
    spiffe: str | None, certificate: Path | None, subject: str | None, token_subject: tuple[str, str] | None
) -> Credential | None:
    """What is shown, None when nothing of the kind was named. Raises Misused for more than one, and for a wrong one."""
    if sum(value is not None for value in (spiffe, certificate, subject, token_subject)) > 1:
        raise Misused("name one of --spiffe, --certificate, --subject and --token-subject; `principals bind` adds more")
    if spiffe is not None:
        return _spiffe(spiffe)
    if certificate is not None:
        return _certificate(certificate)
    if subject is not None:
        return _subject(subject)
    return None if token_subject is None else _token(*token_subject)


def told(form: CredentialForm, shown: str, issuer: str) -> str:
    """The credential in words."""
    return f"{form.value} {shown}" + (f" of {issuer}" if issuer else "")


def _spiffe(text: str) -> Credential:
    if trust_domain_of(text) is None:
        raise Misused(f"--spiffe: {text!r} is no SPIFFE id; one is spiffe://TRUST-DOMAIN/PATH, without anything else")
    return Credential(CredentialForm.SPIFFE, text)


def _certificate(file: Path) -> Credential:
    try:
        return spki(read_certificate(file.read_bytes()).spki_digest)
    except OSError as error:
        raise Misused(f"--certificate: {file} cannot be read ({error.strerror})") from None
    except ValueError:
        raise Misused(f"--certificate: {file} holds no certificate in PEM") from None


def _subject(text: str) -> Credential:
    try:
        usual = x509.Name.from_rfc4514_string(text).rfc4514_string()
    except ValueError:
        usual = ""
    if not usual or len(text.encode()) > _SUBJECT_BYTES or poses_as_spiffe(text):
        raise Misused(f"--subject: {text!r} is no distinguished name of a subject; one is CN=loader,O=harbour")
    if usual != text:
        raise Misused(f"--subject: write it as certificates are read, which is {usual}")
    return Credential(CredentialForm.SUBJECT, text)


def _token(issuer: str, subject: str) -> Credential:
    if not 0 < len(issuer.encode()) <= _ISSUER_BYTES or not 0 < len(subject.encode()) <= limits.ID_BYTES:
        raise Misused(f"--token-subject: an issuer has 1 to {_ISSUER_BYTES} bytes, a subject to {limits.ID_BYTES}")
    return Credential(CredentialForm.TOKEN, subject, issuer)
