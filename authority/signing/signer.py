"""Signs with the authority's keys, each for its one purpose (semantics §3)."""

from google.protobuf.message import Message

from authority.domain.capability import CommitCapability, OpenedCapability
from authority.domain.decision import DecisionReceipt, SignedDecision
from authority.domain.grant import Grant, OpenedGrant
from authority.domain.plan import CommitReceipt
from authority.domain.reasons import Reason
from authority.domain.references import Instant, TenantRef
from authority.domain.refusal import Refusal
from authority.domain.revocation import FeedEnd, FeedItem
from authority.domain.statement import KeyPurpose, KeyState, Statement
from authority.domain.validation import SignedValidation, ValidationReceipt
from authority.signing.codec.attestation import KeyAttestation, encode_attestation
from authority.signing.codec.capability import encode_capability
from authority.signing.codec.decision import encode_decision
from authority.signing.codec.grant import encode_grant
from authority.signing.codec.receipt import encode_receipt
from authority.signing.codec.revocation import encode_heartbeat, encode_revocation
from authority.signing.codec.validation import encode_validation
from authority.signing.key_ring import KeyRing
from authority.signing.statements import StatementReader
from authority.usecases.ports import NoSigningKey
from capability_authority.offline import digest_of, sha256, sign, statement_digest


class KeyedSigner:
    """Implements the port `Signer`. What it signs the reader of the same process need not verify again.

    Every method but `attestation` raises `NoSigningKey`.
    """

    def __init__(self, ring: KeyRing, reader: StatementReader, issuer: str) -> None:
        self._ring = ring
        self._reader = reader
        self._issuer = issuer

    def sign_capability(self, terms: CommitCapability) -> OpenedCapability:
        """The capability's statement."""
        message = encode_capability(terms)
        statement, digest = self._sign(message, KeyPurpose.CAPABILITY, terms.tenant, terms.memory_namespace)
        return OpenedCapability(statement, digest, terms)

    def sign_validation(self, receipt: ValidationReceipt) -> SignedValidation:
        """The validation receipt's statement."""
        message = encode_validation(receipt)
        statement, digest = self._sign(message, KeyPurpose.VALIDATION, receipt.tenant, receipt.memory_namespace)
        return SignedValidation(receipt, statement, digest)

    def sign_decision(self, receipt: DecisionReceipt) -> SignedDecision:
        """The decision receipt's statement."""
        message = encode_decision(receipt)
        statement, digest = self._sign(message, KeyPurpose.DECISION, receipt.tenant, receipt.memory_namespace)
        return SignedDecision(receipt, statement, digest)

    def sign_grant(self, terms: Grant) -> OpenedGrant:
        """The grant's statement: a key for every memory namespace signs it, since a grant can name several."""
        statement, digest = self._sign(encode_grant(terms), KeyPurpose.GRANT, terms.tenant, "")
        return OpenedGrant(statement, digest, terms)

    def sign_receipt(self, receipt: CommitReceipt) -> Statement:
        """The commit receipt's statement."""
        terms = receipt.capability
        statement, _ = self._sign(encode_receipt(receipt), KeyPurpose.RECEIPT, terms.tenant, terms.memory_namespace)
        return statement

    def sign_revocation(self, tenant: TenantRef, item: FeedItem) -> Statement:
        """The item's statement in the feed of the tenant: the same bytes from whoever has the key."""
        return self._sign_for_feed(encode_revocation(self._issuer, tenant, item), tenant)

    def sign_heartbeat(self, end: FeedEnd) -> Statement:
        """The statement that says how far the feed goes."""
        return self._sign_for_feed(encode_heartbeat(self._issuer, end), end.tenant)

    def _sign_for_feed(self, message: Message, tenant: TenantRef) -> Statement:
        private_key = self._ring.signing_key(KeyPurpose.REVOCATION, tenant, "")
        # Nobody presents these here: there is nothing to remember.
        signed = sign(message, private_key)
        return Statement(signed.payload_type, signed.payload, signed.signature.key_id, signed.signature.signature)

    def attestation(self, tenant: TenantRef, statement: Statement, now: Instant) -> Statement | None:
        """A KeyAttestation by the current receipt key when the key of this commit receipt was revoked since.

        None for a key that still counts, for anything but a receipt of this tenant that its key truly signed, and when
        no receipt key can sign: the receipt must reach its holder all the same.
        """
        signer = self._ring.find(statement.key_id)
        if signer is None or signer.key.state is not KeyState.REVOKED:
            return None
        receipt = self._reader.open_receipt(statement)
        if isinstance(receipt, Refusal) or receipt.capability.tenant != tenant:
            return None
        memory_namespace = receipt.capability.memory_namespace
        refusal = self._reader.judge_signature(statement, KeyPurpose.RECEIPT, tenant, memory_namespace)
        if refusal is None or refusal.reason is not Reason.KEY_REVOKED:
            return None
        try:
            return self._attest(tenant, memory_namespace, statement, now)
        except NoSigningKey:
            return None

    def _attest(self, tenant: TenantRef, memory_namespace: str, statement: Statement, now: Instant) -> Statement:
        attestation = KeyAttestation(
            issuer=self._issuer,
            tenant=tenant,
            statement_digest=statement_digest(statement.payload_type, statement.payload),
            signature_digest=sha256(statement.signature),
            key_id=statement.key_id,
            attest_time=now,
        )
        made, _ = self._sign(encode_attestation(attestation), KeyPurpose.RECEIPT, tenant, memory_namespace)
        return made

    def _sign(
        self, message: Message, purpose: KeyPurpose, tenant: TenantRef, memory_namespace: str
    ) -> tuple[Statement, bytes]:
        private_key = self._ring.signing_key(purpose, tenant, memory_namespace)
        signed = sign(message, private_key)
        statement = Statement(signed.payload_type, signed.payload, signed.signature.key_id, signed.signature.signature)
        digest = digest_of(signed)
        self._reader.remember(statement, digest)
        return statement, digest
