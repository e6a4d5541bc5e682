"""An external authority on policy, with keys of its own, and what it signs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from authority.domain.decision import COMMIT_ACTION, DecisionOutcome, DecisionReceipt
from authority.domain.proposal import StoredProposal
from authority.domain.references import HOUR, after
from authority.domain.statement import Statement
from authority.domain.validation import SignedValidation
from authority.signing.codec.decision import encode_decision
from authority.usecases.external_authorities import NewExternalAuthority
from capability_authority.offline import PrivateKey, sign
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

    def decides(
        self,
        world: World,
        proposal: StoredProposal,
        validation: SignedValidation,
        outcome: DecisionOutcome = DecisionOutcome.ALLOW,
        **changed: object,
    ) -> Statement:
        """A decision on the service committing the revision, signed; with terms changed as said."""
        revision, now = proposal.revision, world.now()
        receipt = DecisionReceipt(
            decision_id=world.authority.ids.new(),
            issuer=self.issuer,
            tenant=revision.tenant,
            memory_namespace=revision.memory_namespace,
            holder=world.service.ref,
            action=COMMIT_ACTION,
            proposal_id=revision.proposal_id,
            proposal_revision=revision.revision,
            proposal_digest=proposal.digest,
            validation_receipt_digest=validation.digest,
            approval_references=(),
            policy_version=bytes(32),
            outcome=outcome,
            determining_policies=("group-rule",),
            sequence=1,
            decide_time=now,
            expire_time=after(now, HOUR),
            correlation_id="",
        )
        signed = sign(encode_decision(replace(receipt, **changed)), self.key)  # type: ignore[arg-type]  # terms by name
        signature = signed.signature
        return Statement(signed.payload_type, signed.payload, signature.key_id, signature.signature)


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
