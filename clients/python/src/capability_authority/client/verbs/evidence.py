"""Verbs of EvidenceService: put what proposals rest on, and read it by digest."""

from typing import Unpack

from capability_authority.client.call_options import CallOptions
from capability_authority.client.connection import Connection
from capability_authority.client.content import Content, content_bytes
from capability_authority.client.evidence_values import Evidence
from capability_authority.client.grant_values import HeldGrant
from capability_authority.client.words import Visibility, visibility_number
from capability_authority.offline import sha256, sign, timestamp
from capability_authority.v1 import evidence_service_pb2 as pb
from capability_authority.v1.statements_pb2 import EvidenceClaim, SignedStatement
from capability_authority.v1.types_pb2 import PrincipalRef, TenantRef

__all__ = ["EvidenceVerbs"]


class EvidenceVerbs(Connection):
    """Evidence by digest. An operator enters what a person decides on it: no verb does."""

    async def put_evidence(
        self,
        content: Content | None = None,
        *,
        media_type: str | None = None,
        reference: str = "",
        digest: str = "",
        visibility: Visibility | None = None,
        visibility_scope: str = "",
        claim: SignedStatement | None = None,
        request_id: str = "",
        **options: Unpack[CallOptions],
    ) -> Evidence:
        """Put evidence: its content, or the `reference` (a URI) and `digest` of bytes that are kept elsewhere.

        Without `visibility` it is private. `claim` vouches for it: `vouch_for` makes the caller's own. The same put
        again is answered with the first, so is a retry. Raises `ValueError` for neither or both of content and
        reference, and `AuthorityError`: `NotAllowed` without the right `propose` and for what holds a secret,
        `IdempotencyConflict` when something else stands under the digest, `BindingMismatch`, `SignatureInvalid` and
        `IssuerUnknown` for a claim that does not hold.
        """
        if (content is None) == (not reference):
            raise ValueError("give either content or a reference")
        request = pb.PutEvidenceRequest(
            request_id=request_id,
            media_type=media_type or "",
            visibility=visibility_number(visibility),
            visibility_scope=visibility_scope,
            claim=claim,
        )
        if content is None:
            request.reference.CopyFrom(pb.PutEvidenceRequest.Reference(uri=reference, digest=digest))
        else:
            request.content, request.media_type = content_bytes(content, media_type)
        return Evidence((await self._send(request, pb.PutEvidenceResponse, **options)).evidence)

    async def read_evidence(
        self, digest: str, *, grant: HeldGrant | None = None, **options: Unpack[CallOptions]
    ) -> Evidence:
        """Read evidence with its content or reference.

        Under a `grant` for `evidence.read` that the caller holds, what its subject may read is read.

        Raises `AuthorityError`: `NotFound` for what is absent, not visible to the caller, or not approved yet unless
        the caller put it or may decide.
        """
        request = pb.ReadEvidenceRequest(
            digest=digest,
            grant=None if grant is None else grant.statement,
            grant_ancestors=() if grant is None else grant.ancestors,
        )
        return Evidence((await self._send(request, pb.ReadEvidenceResponse, **options)).evidence)

    def vouch_for(self, content: Content, *, media_type: str | None = None) -> SignedStatement:
        """The caller's own claim, signed with its key, that it made exactly these bytes; calls nobody.

        A tool whose approved evidence is vouched for by itself proposes tool results. Raises as `content_bytes`, and
        `CredentialsRefused` for credentials without a key.
        """
        data, kind = content_bytes(content, media_type)
        credentials = self._prover.credentials
        claim = EvidenceClaim(
            tenant=TenantRef(namespace=credentials.tenant.namespace, id=credentials.tenant.id),
            signer=PrincipalRef(namespace=credentials.principal.namespace, id=credentials.principal.id),
            content_digest=sha256(data),
            media_type=kind,
            create_time=timestamp(self._prover.now_ms()),
        )
        return sign(claim, credentials.signing_key)
