"""Proves who commits by a signed envelope of upstream, in place of an Invocation (semantics §5).

The envelope is judged before the content's form is, which costs more: who proves nothing has nothing done for it. What
is cheap comes first, so that a stranger's envelope asks the database for a key only when it is for exactly this commit.
"""

from dataclasses import dataclass

from authority.domain.action_envelope import NOT_BY_HOLDER, ActionProof, OpenedEnvelope, judge_envelope
from authority.domain.capability import CommitCapability, OpenedCapability
from authority.domain.identity import Caller
from authority.domain.refusal import Refusal
from authority.usecases.authenticate import Authenticate, Shown
from authority.usecases.commit import CommitRequest
from authority.usecases.ports import ActionEnvelopes, Clock, KeyNames, Statements


@dataclass(frozen=True, slots=True)
class Proven:
    """Who commits, and what proves it."""

    caller: Caller
    proof: ActionProof


@dataclass(frozen=True, slots=True)
class ProveByEnvelope:
    """Changes nothing: whatever becomes of the commit, the envelope is used up by nothing but its success.

    Each wait may be cancelled, or be the last thing that this process does, for nothing was sent yet. What may happen
    after is the same as without an envelope: `postgres/committer.py` asks the same plan again, with its envelope.
    """

    authenticate: Authenticate
    statements: Statements
    envelopes: ActionEnvelopes
    names: KeyNames
    clock: Clock

    async def __call__(self, shown: Shown, request: CommitRequest, presented: bytes) -> Proven | Refusal:
        """The holder of the capability, when one of its active keys signed an envelope for exactly this commit.

        Refusals: CALLER_UNAUTHENTICATED when what the call shows beside it does not hold, or names another; MALFORMED
        for the capability; PROOF_INVALID `proof` with the condition of the envelope that does not hold.
        """
        bearer = await self.authenticate.bearer(shown)
        if isinstance(bearer, Refusal):
            return bearer
        capability = self.statements.open_capability(request.capability)
        if isinstance(capability, Refusal):
            return capability
        proven = await self._prove(capability, request, presented)
        if isinstance(proven, Refusal):
            return proven
        caller = await self.authenticate.agreed(shown, proven.caller, bearer)
        return caller if isinstance(caller, Refusal) else Proven(caller, proven.proof)

    async def _prove(self, capability: OpenedCapability, request: CommitRequest, presented: bytes) -> Proven | Refusal:
        envelope = await self.envelopes.read_from_stranger(presented)
        if isinstance(envelope, Refusal):
            return envelope
        terms = capability.terms
        fingerprint = self.statements.fingerprint(terms, request.presentation)
        refusal = judge_envelope(envelope.says, terms, fingerprint, self.clock.now())
        return refusal or await self._signer(envelope, terms)

    async def _signer(self, envelope: OpenedEnvelope, terms: CommitCapability) -> Proven | Refusal:
        """Of another principal's key no more is told than of one that there is not (case I07).

        Nor whether it is the name of the key that is wrong, or the signature: nobody has vouched for the capability
        yet, so that a stranger could ask with one of its own making whom in any tenant which key belongs to.
        """
        key = await self.names.key_called(terms.tenant, envelope.key_name)
        is_holders = key is not None and key.principal.ref == terms.holder
        if key is None or not is_holders or not self.envelopes.is_signed_by(envelope, key.public_key):
            return NOT_BY_HOLDER
        caller = Caller(key.principal, key.key_id, proof=None, one_use=False)
        return Proven(caller, ActionProof(envelope, key.key_id))
