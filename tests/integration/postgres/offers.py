"""What the use case would hand to the store that issues: offers of capabilities on grounds of a world."""

import hashlib
from dataclasses import replace

from authority.domain.capability import Presentation
from authority.domain.plan import Claim
from authority.domain.references import after
from authority.domain.refusal import Refusal
from authority.usecases.ports import Offer, RequestMark, Spend
from tests.world.world import Issued, World

LIFETIME_MS = 60_000


def offer_of(
    world: World,
    example: Issued,
    key: str,
    request_id: str,
    *,
    verdict: Refusal | None = None,
    meaning: str = "",
    spend: Spend | None = None,
) -> Offer:
    """An offer like the one that `example` came of, under this key and request id: signed, or refused.

    Under a grant when it spends. Two offers are one request when proposal, key and `meaning` are the same.
    """
    now, authority = world.now(), world.authority
    terms = replace(
        example.capability.terms,
        capability_id=authority.ids.new(),
        commit_idempotency_key=key,
        not_before_time=now,
        expire_time=after(now, LIFETIME_MS),
        grant_digest=spend.grant_digest if spend else b"",
    )
    presentation = Presentation(
        example.ground.proposal.content, terms.content_digest, terms.media_type, terms.evidence_digests, key
    )
    said = f"{terms.proposal_id} {key} {meaning}"
    return Offer(
        RequestMark(world.tenant, example.holder.ref, request_id, hashlib.sha256(said.encode()).digest()),
        Claim(terms.tenant, terms.holder, key, authority.reader.fingerprint(terms, presentation)),
        verdict or authority.signer.sign_capability(terms),
        spend,
    )
