"""The client: everything a holder, proposer or reviewer asks of an authority."""

import os
from dataclasses import replace
from typing import Final, Self

from capability_authority.client.channel import TlsRoots
from capability_authority.client.credentials import BearerToken, Credentials
from capability_authority.client.proofs import Prover
from capability_authority.client.retries import RetryPolicy
from capability_authority.client.verbs.audit import AuditVerbs
from capability_authority.client.verbs.capabilities import CapabilityVerbs
from capability_authority.client.verbs.commits import CommitVerbs
from capability_authority.client.verbs.evidence import EvidenceVerbs
from capability_authority.client.verbs.exports import ExportVerbs
from capability_authority.client.verbs.grants import GrantVerbs
from capability_authority.client.verbs.interop import InteropVerbs
from capability_authority.client.verbs.issuing import IssuingVerbs
from capability_authority.client.verbs.memory import MemoryVerbs
from capability_authority.client.verbs.policies import PolicyVerbs
from capability_authority.client.verbs.proposals import ProposalVerbs
from capability_authority.client.verbs.reviews import ReviewVerbs
from capability_authority.client.verbs.unvalidated import UnvalidatedVerbs

__all__ = ["DEFAULT_RETRIES", "DEFAULT_TIMEOUT", "CapabilityAuthority"]

DEFAULT_TIMEOUT: Final = 10.0
"""Seconds for a call, all attempts and waits included."""
DEFAULT_RETRIES: Final = RetryPolicy()


class CapabilityAuthority(
    ProposalVerbs,
    ReviewVerbs,
    PolicyVerbs,
    GrantVerbs,
    IssuingVerbs,
    CapabilityVerbs,
    CommitVerbs,
    MemoryVerbs,
    EvidenceVerbs,
    UnvalidatedVerbs,
    ExportVerbs,
    InteropVerbs,
    AuditVerbs,
):
    """An async client of one authority, as one principal.

        async with CapabilityAuthority.connect() as authority:
            proposal = await authority.get_proposal(proposal_id)
            validation = await authority.validate(proposal)

    Every attempt of a call is signed anew over exactly the bytes that are sent; attempts of one call share its request
    id or commit key, so that whatever happens, it happens once. One client serves any number of concurrent calls of one
    event loop.
    """

    @classmethod
    def connect(
        cls,
        target: str | None = None,
        *,
        credentials: Credentials | str | os.PathLike[str] | None = None,
        tls: TlsRoots | None = None,
        retries: RetryPolicy = DEFAULT_RETRIES,
        timeout: float = DEFAULT_TIMEOUT,
        pinned_key_ids: frozenset[str] | None = None,
        bearer_token: BearerToken | None = None,
    ) -> Self:
        """A client to be entered with `async with`; only then a channel is made.

        `credentials` are given, or read from a file, or from the file that `AUTHORITY_CREDENTIALS` names. `target`,
        "host:port" or "unix:PATH", is theirs unless given, and so are `tls` and `bearer_token`. Without TLS it must be
        127.0.0.1, [::1] or a Unix socket. The issuer is the one that the credentials pin; `pinned_key_ids`, known by
        another road, narrow trust to these of its keys. `timeout` is in seconds, for each call, all its attempts
        included.

        Raises `CredentialsRefused`, `PlaintextRefused`.
        """
        known = _credentials(credentials)
        if bearer_token is not None:
            known = replace(known, bearer_token=bearer_token)
        return cls(
            prover=Prover(known),
            target=known.target if target is None else target,
            tls=known.tls if tls is None else tls,
            retries=retries,
            timeout=timeout,
            pinned_key_ids=pinned_key_ids,
        )


def _credentials(given: Credentials | str | os.PathLike[str] | None) -> Credentials:
    if isinstance(given, Credentials):
        return given
    return Credentials.from_environment() if given is None else Credentials.from_file(given)
