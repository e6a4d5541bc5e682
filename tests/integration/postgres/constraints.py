r"""What every named constraint of the schema means, and a row that trips it: a copy of a good row, changed so.

A copy without a change has the key of the row that it copies. Changes are in JSON's words: bytes as text `\x…`.
"""

from dataclasses import dataclass, field

NEW_ID = "ffffffff-0000-4000-8000-000000000000"
NO_DIGEST = "\\x" + "00" * 32
OTHER_DIGEST = "\\x" + "11" * 32
BAD_DIGEST = "\\x00"
BY_A_PERSON = "decided_by is not null"
BY_POLICY = "decided_by is null"
EVIDENCE: dict[str, object] = {"digest": NO_DIGEST, "content": None, "reference": "vault:7"}
"""Another piece of evidence, which is referred to."""
DECIDED: dict[str, object] = {
    "state": "approved",
    "decided_by": "test|admin",
    "decide_time": "2027-01-01T00:00:00Z",
}
VOUCHED: dict[str, object] = {
    "signed_by": "test|agent",
    "payload_type": "",
    "payload": "",
    "key_id": "",
    "signature": "",
}
SECOND_USE: dict[str, object] = {"uses": 2, "uses_before": 1, "tokens_before": 0, "usd_micros_before": 0}
"""Of a grant that was used once, for nothing."""
FIRST_USE: str = "action = 'memory.commit-validated' and uses = 1"
"""That use, when it was to issue."""


@dataclass(frozen=True)
class Trip:
    """How to trip a constraint, and what it is there for."""

    table: str
    meaning: str
    changes: dict[str, object] = field(default_factory=dict)
    copied: str = "true"
    """Which row is copied: a condition."""


TRIPS: dict[str, Trip] = {
    # --- what belongs to no tenant
    "policy_version_key": Trip("policy_version", "a bundle is loaded once"),
    "policy_version_is_a_digest": Trip("policy_version", "a version is a SHA-256", {"version": BAD_DIGEST}),
    "issuer_key_key": Trip("issuer_key", "a key has one purpose and one scope"),
    "issuer_key_is_ed25519": Trip("issuer_key", "a key is 32 bytes", {"public_key": BAD_DIGEST}),
    "issuer_key_purpose_known": Trip("issuer_key", "the purposes are closed", {"purpose": "holder"}),
    "issuer_key_state_known": Trip("issuer_key", "the states are closed", {"state": "gone"}),
    "issuer_key_compromise_is_revoked": Trip(
        "issuer_key", "a compromised key is revoked", {"compromised_since_time": "2027-01-01T00:00:00Z"}
    ),
    # --- who else has a say on policy
    "external_authority_named_once": Trip("external_authority", "an issuer is one authority"),
    "external_authority_has_a_say_somewhere": Trip(
        "external_authority", "absent never means everywhere", {"issuer": "new", "memory_namespaces": []}
    ),
    "external_key_one_owner": Trip("external_key", "a key belongs to one of them"),
    "external_key_of_authority": Trip(
        "external_key", "it belongs to one that is configured", {"key_id": NO_DIGEST, "issuer": "nobody"}
    ),
    "external_key_is_ed25519": Trip("external_key", "a key is 32 bytes long", {"public_key": BAD_DIGEST}),
    "external_key_state_known": Trip("external_key", "the states are closed", {"state": "resting"}),
    "external_key_revoked_has_time": Trip("external_key", "what is revoked has a time", {"state": "revoked"}),
    # --- memory namespaces
    "memory_namespace_key": Trip("memory_namespace", "a memory namespace is made once"),
    "memory_namespace_policy_loaded": Trip(
        "memory_namespace", "its policy is loaded", {"name": "new", "policy_version": NO_DIGEST}
    ),
    "memory_namespace_mode_known": Trip("memory_namespace", "the modes are closed", {"mode": "off"}),
    "memory_namespace_visibility_known": Trip(
        "memory_namespace", "the visibilities are closed", {"default_visibility": "world"}
    ),
    "memory_namespace_name_short": Trip("memory_namespace", "a name is never empty", {"name": ""}),
    # --- principals
    "principal_key_": Trip("principal", "a principal is registered once"),
    "principal_kind_known": Trip("principal", "the kinds are closed", {"kind": "robot"}),
    "principal_state_known": Trip("principal", "the states are closed", {"state": "away"}),
    "principal_rights_known": Trip("principal", "the rights are closed", {"rights": ["root"]}),
    "principal_agents_never_commit": Trip(
        "principal", "agents and models never commit (ADR-328 test 7)", {"kind": "agent", "rights": ["commit"]}
    ),
    "principal_key_one_owner": Trip("principal_key", "a key belongs to one principal"),
    "principal_key_of_principal": Trip(
        "principal_key", "a key's owner is registered", {"key_id": NO_DIGEST, "principal": "test|nobody"}
    ),
    "principal_key_is_ed25519": Trip("principal_key", "a key that signs is 32 bytes", {"public_key": BAD_DIGEST}),
    "principal_key_state_known": Trip("principal_key", "the states are closed", {"state": "away"}),
    "principal_key_form_known": Trip("principal_key", "the forms are closed", {"form": "thumbprint", "shown": "x"}),
    "principal_key_says_what_is_shown": Trip(
        "principal_key", "a key that signs shows nothing, a certificate something", {"shown": "spiffe://harbour/x"}
    ),
    "token_identity_one_owner": Trip("token_identity", "a subject of an issuer belongs to one principal"),
    "token_identity_of_principal": Trip(
        "token_identity", "its owner is registered", {"identity_id": NO_DIGEST, "principal": "test|nobody"}
    ),
    "token_identity_is_a_digest": Trip("token_identity", "an identity is a SHA-256", {"identity_id": BAD_DIGEST}),
    "token_identity_state_known": Trip("token_identity", "the states are closed", {"state": "away"}),
    "token_identity_short": Trip("token_identity", "neither text is empty", {"subject": ""}),
    # --- which principals are one person
    "principal_link_key": Trip("principal_link", "a link has one number"),
    "principal_link_of_principal": Trip(
        "principal_link", "the first is registered", {"link_number": 9, "principal": "a|nobody", "state": "verified"}
    ),
    "principal_link_to_principal": Trip(
        "principal_link", "the second is registered", {"link_number": 9, "other": "z|nobody", "state": "verified"}
    ),
    "principal_link_in_order": Trip("principal_link", "a pair has one order", {"principal": "z|last"}),
    "principal_link_method_known": Trip("principal_link", "the methods are closed", {"method": "same name"}),
    "principal_link_has_evidence": Trip("principal_link", "a link says where it can be looked up", {"evidence": ""}),
    "principal_link_state_known": Trip("principal_link", "the states are closed", {"state": "guessed"}),
    "principal_link_revoked_has_time": Trip(
        "principal_link", "what is revoked says since when", {"revoke_time": "2027-01-01T00:00:00Z"}
    ),
    "principal_link_one_verified": Trip("principal_link", "a pair is linked once", {"link_number": 9}),
    # --- aggregates
    "aggregate_made_once": Trip("aggregate", "a name stands for one aggregate for ever"),
    "aggregate_of_enough_tenants": Trip(
        "aggregate", "a figure rests on three tenants at least", {"name": "new", "least_tenants": 2}
    ),
    "aggregate_of_others": Trip(
        "aggregate", "nobody asks for figures that it is in", {"name": "new", "tenant": "test|one"}
    ),
    "aggregate_named": Trip("aggregate", "an aggregate has a name that a grant can give", {"name": ""}),
    "aggregate_reviewed": Trip("aggregate", "somebody saw to privacy", {"name": "new", "reviewed_by": ""}),
    "aggregate_state_known": Trip("aggregate", "the states are closed", {"name": "new", "state": "away"}),
    "aggregate_removed_has_time": Trip("aggregate", "removed is what has a time", {"name": "new", "state": "removed"}),
    # --- channels and teams
    "membership_told_once": Trip("membership", "a principal is in a channel or team once"),
    "membership_of_principal": Trip("membership", "a member is registered", {"principal": "test|nobody"}),
    "membership_scope_kind_known": Trip("membership", "the kinds of scopes are closed", {"scope_kind": "world"}),
    "membership_scope_named": Trip("membership", "a channel or team has a name", {"scope_id": ""}),
    "membership_state_known": Trip("membership", "the states are closed", {"state": "away"}),
    "membership_removed_has_time": Trip("membership", "removed is what has a time", {"state": "removed"}),
    # --- requests
    "request_used_once": Trip("request", "a request id stands for one request"),
    "request_id_short": Trip("request", "a request id is never empty", {"request_id": ""}),
    # --- proposals
    "proposal_head_key": Trip("proposal_head", "a proposal has one head"),
    "proposal_head_state_known": Trip(
        "proposal_head", "the states are closed", {"state": "superseded", "receipt_id": None}
    ),
    "proposal_head_committed_has_receipt": Trip(
        "proposal_head", "committed is what has a receipt", {"state": "committed", "receipt_id": None}
    ),
    "proposal_head_withdrawn_has_time": Trip(
        "proposal_head", "withdrawn is what has a time", {"state": "withdrawn", "receipt_id": None}
    ),
    "proposal_head_corrects_a_record": Trip(
        "proposal_head",
        "what it corrects is a record of its tenant",
        {"proposal_id": NEW_ID, "supersedes_record_id": NEW_ID},
    ),
    "proposal_revision_key": Trip("proposal", "a revision is kept once"),
    "proposal_of_head": Trip("proposal", "a revision has a head", {"proposal_id": NEW_ID}),
    "proposal_in_memory_namespace": Trip(
        "proposal", "its memory namespace exists", {"revision": 9, "memory_namespace": "nowhere"}
    ),
    "proposal_scope_of_channel_or_team": Trip(
        "proposal", "only a channel or team has a scope", {"revision": 9, "visibility_scope": "crew"}
    ),
    "proposal_by_principal": Trip("proposal", "its proposer is registered", {"revision": 9, "proposer": "test|nobody"}),
    "proposal_revision_positive": Trip("proposal", "revisions count from 1", {"revision": 0}),
    "proposal_content_bounded": Trip(
        "proposal", "content is never empty", {"content": "\\x", "content_digest": "\\x" + "e3b0c442" + "00" * 28}
    ),
    "proposal_content_digest_fits": Trip("proposal", "the digest is the content's", {"content_digest": NO_DIGEST}),
    "proposal_digest_is_a_digest": Trip("proposal", "a digest is a SHA-256", {"digest": BAD_DIGEST}),
    # --- receipts of validators, persons and policy
    "validation_receipt_key": Trip("validation_receipt", "a receipt is kept once"),
    "validation_receipt_of_revision": Trip(
        "validation_receipt", "it is of a revision", {"digest": NO_DIGEST, "revision": 9}
    ),
    "validation_receipt_outcome_known": Trip("validation_receipt", "the outcomes are closed", {"outcome": "maybe"}),
    "approval_decision_key": Trip("approval_decision", "a decision is kept once"),
    "approval_decision_of_revision": Trip(
        "approval_decision", "it is on a revision", {"reference": NEW_ID, "revision": 9}
    ),
    "approval_decision_on_validation": Trip(
        "approval_decision", "it is on a validation", {"reference": NEW_ID, "validation_receipt_digest": NO_DIGEST}
    ),
    "approval_decision_by_principal": Trip(
        "approval_decision",
        "a registered person took it",
        {"reference": NEW_ID, "decided_by": "test|nobody"},
        copied=BY_A_PERSON,
    ),
    "approval_decision_verdict_known": Trip(
        "approval_decision", "the verdicts are closed", {"verdict": "maybe"}, copied=BY_A_PERSON
    ),
    "approval_decision_kind_known": Trip(
        "approval_decision", "the kinds are closed", {"decided_by_kind": "agent"}, copied=BY_A_PERSON
    ),
    "approval_decision_policy_is_no_person": Trip(
        "approval_decision", "nobody is policy, and a person is somebody", {"decided_by": None}, copied=BY_A_PERSON
    ),
    "approval_decision_policy_only_activates": Trip(
        "approval_decision", "policy takes nothing back", {"verdict": "revoke"}, copied=BY_POLICY
    ),
    "approval_decision_uses_bounded": Trip(
        "approval_decision", "a number of uses is one", {"max_uses": 0}, copied=BY_A_PERSON
    ),
    "approval_use_each_once": Trip("approval_use", "each use is used once"),
    "approval_use_within_its_number": Trip("approval_use", "no more than its number", {"number": 3}),
    "approval_use_of_approval": Trip("approval_use", "it is of an approval", {"reference": NEW_ID}),
    "approval_use_by_decision": Trip(
        "approval_use", "a decision rests on it", {"number": 2, "decision_digest": NO_DIGEST}
    ),
    "decision_receipt_key": Trip("decision_receipt", "a receipt is kept once"),
    "decision_receipt_of_revision": Trip(
        "decision_receipt", "it is on a revision", {"digest": NO_DIGEST, "revision": 9}
    ),
    "decision_receipt_on_validation": Trip(
        "decision_receipt", "it rests on a validation", {"digest": NO_DIGEST, "validation_receipt_digest": NO_DIGEST}
    ),
    "decision_receipt_outcome_known": Trip("decision_receipt", "the outcomes are closed", {"outcome": "maybe"}),
    # --- grants and what was spent of them
    "grant_record_key": Trip("grant_record", "a grant is kept once", {"tokens": 5}),
    "grant_record_budgets": Trip("grant_record", "a grant has its budgets once"),
    "grant_record_of_parent": Trip(
        "grant_record",
        "a parent is kept before its children",
        {"parent_digest": NO_DIGEST, "digest": OTHER_DIGEST, "chain": [NO_DIGEST, OTHER_DIGEST]},
    ),
    "grant_record_digests_are_digests": Trip("grant_record", "a digest is a SHA-256", {"holder_key": BAD_DIGEST}),
    "grant_record_chain_ends_in_it": Trip(
        "grant_record", "a chain ends in its grant, after the parent", {"chain": [NO_DIGEST]}
    ),
    "grant_record_chain_bounded": Trip(
        "grant_record",
        "no grant is handed on more than eight times",
        {"digest": NO_DIGEST, "parent_digest": OTHER_DIGEST, "chain": [OTHER_DIGEST] * 9 + [NO_DIGEST]},
    ),
    "grant_record_maker_known": Trip("grant_record", "the makers are closed", {"made_by": "somebody"}),
    "grant_record_root_is_ours": Trip(
        "grant_record", "a chain begins with the authority", {"made_by": "holder"}, "parent_digest is null"
    ),
    "grant_record_names_its_principals": Trip(
        "grant_record", "whose withdrawal ends a grant is named", {"principals": []}
    ),
    "grant_record_budgets_not_negative": Trip("grant_record", "a budget is never negative", {"concurrency": -1}),
    "grant_record_ends_after_it_begins": Trip(
        "grant_record", "a grant is valid for a while", {"expire_time": "1970-01-01T00:00:00Z"}
    ),
    "grant_record_state_known": Trip("grant_record", "the states are closed", {"state": "away"}, "state = 'active'"),
    "grant_record_revoked_has_time": Trip(
        "grant_record", "revoked is what has a time of it", {"state": "revoked"}, "state = 'active'"
    ),
    "grant_use_numbered": Trip(
        "grant_use",
        "each use of a grant has a number of its own",
        {"tokens": 5, "tokens_spent": 5, "capability_id": NEW_ID},
        FIRST_USE,
    ),
    "grant_use_sums": Trip("grant_use", "each use of a grant has its sums once", {}, FIRST_USE),
    "grant_use_continues": Trip(
        "grant_use",
        "its sums continue those of the use before",
        SECOND_USE | {"uses": 9, "uses_before": 8, "capability_id": NEW_ID},
        FIRST_USE,
    ),
    "grant_use_of_its_grant": Trip(
        "grant_use", "what a grant allows is what it says", {"grant_digest": NO_DIGEST}, FIRST_USE
    ),
    "grant_use_of_capability": Trip(
        "grant_use", "it is spent on a capability", SECOND_USE | {"capability_id": NEW_ID}, FIRST_USE
    ),
    "grant_use_spent_once": Trip("grant_use", "a capability costs each grant once", SECOND_USE, FIRST_USE),
    "grant_use_of_revision": Trip(
        "grant_use", "or on a revision", SECOND_USE | {"proposal_id": NEW_ID}, "action = 'memory.propose'"
    ),
    "grant_use_proposed_once": Trip(
        "grant_use", "a revision costs each grant once", SECOND_USE, "action = 'memory.propose'"
    ),
    "grant_use_action_known": Trip(
        "grant_use",
        "what is spent on is closed",
        SECOND_USE | {"action": "memory.forget", "capability_id": None, "expire_time": None},
        FIRST_USE,
    ),
    "grant_use_names_its_capability": Trip(
        "grant_use", "what was issued is named, and by nothing else", {"action": "memory.recall"}, FIRST_USE
    ),
    "grant_use_names_its_revision": Trip(
        "grant_use", "what was proposed is named", SECOND_USE | {"revision": None}, "action = 'memory.propose'"
    ),
    "grant_use_begins_at_one": Trip("grant_use", "only the first use continues none", {"uses_before": 0}, FIRST_USE),
    "grant_use_adds_up": Trip("grant_use", "a sum is the one before and what is spent", {"tokens_spent": 7}),
    "grant_use_gives_nothing_back": Trip("grant_use", "nothing is ever refunded", {"tokens_spent": -1, "tokens": -1}),
    "grant_use_within_its_grant": Trip("grant_use", "nobody spends more than the grant allows", {"most_uses": 0}),
    "capability_under_grant": Trip(
        "capability",
        "its grant is kept",
        {"capability_id": NEW_ID, "idempotency_key": "new", "grant_digest": NO_DIGEST},
    ),
    # --- capabilities
    "capability_key": Trip("capability", "a capability is issued once"),
    "capability_of_revision": Trip("capability", "it is of a revision", {"capability_id": NEW_ID, "revision": 9}),
    "capability_state_known": Trip("capability", "the states are closed", {"state": "lost", "receipt_id": None}),
    "capability_consumed_has_receipt": Trip(
        "capability", "consumed is what has a receipt", {"state": "consumed", "receipt_id": None}
    ),
    "capability_revoked_has_time": Trip(
        "capability",
        "what was revoked has a time and is never consumed",
        {"state": "revoked", "receipt_id": None},
    ),
    "capability_one_live": Trip(
        "capability", "a key has one live capability", {"capability_id": NEW_ID}, copied="state = 'issued'"
    ),
    # --- what a commit makes
    "commit_receipt_key": Trip(
        "commit_receipt",
        "a receipt is kept once",
        {"idempotency_key": "new", "capability_id": NEW_ID, "proposal_id": NEW_ID, "record_id": NEW_ID},
    ),
    "commit_receipt_one_per_idempotency_key": Trip(
        "commit_receipt",
        "a holder's key is settled once",
        {"receipt_id": NEW_ID, "capability_id": NEW_ID, "proposal_id": NEW_ID, "record_id": NEW_ID},
    ),
    "commit_receipt_one_per_capability": Trip(
        "commit_receipt",
        "a capability is consumed once",
        {"receipt_id": NEW_ID, "idempotency_key": "new", "proposal_id": NEW_ID, "record_id": NEW_ID},
    ),
    "commit_receipt_one_per_proposal": Trip(
        "commit_receipt",
        "a proposal is committed once",
        {"receipt_id": NEW_ID, "idempotency_key": "new", "capability_id": NEW_ID, "record_id": NEW_ID},
    ),
    "commit_receipt_one_per_record": Trip(
        "commit_receipt",
        "a record has one receipt",
        {"receipt_id": NEW_ID, "idempotency_key": "new", "capability_id": NEW_ID, "proposal_id": NEW_ID},
    ),
    "memory_record_key": Trip("memory_record", "a record is written once"),
    "memory_record_one_per_receipt": Trip("memory_record", "a receipt has one record", {"record_id": NEW_ID}),
    "memory_record_has_receipt": Trip(
        "memory_record",
        "no record without a receipt",
        {"record_id": NEW_ID, "receipt_id": NEW_ID, "supersedes_record_id": None},
    ),
    "memory_record_scope_of_channel_or_team": Trip(
        "memory_record", "only a channel's or a team's record has a scope", {"visibility_scope": "crew"}
    ),
    "memory_record_validated_in_whole": Trip(
        "memory_record",
        "a receipt and a proposal come together",
        {"proposal_id": None},
        copied="receipt_id is not null",
    ),
    "unvalidated_write_of_one_record": Trip("unvalidated_write", "a record is written once"),
    "unvalidated_write_of_record": Trip("unvalidated_write", "what was written is a record", {"record_id": NEW_ID}),
    "unvalidated_write_mode_known": Trip("unvalidated_write", "an enforcing mode takes none", {"mode": "enforce"}),
    "unvalidated_write_observed_is_judged": Trip(
        "unvalidated_write", "who is observed is judged, by a policy", {"policy_version": None}
    ),
    "unvalidated_write_reason_known": Trip(
        "unvalidated_write", "the reasons are closed", {"would_refuse": "BAD_MOOD"}, copied="would_refuse <> ''"
    ),
    "memory_record_superseded_has_time": Trip(
        "memory_record", "what was superseded has a time", {"superseded_by": NEW_ID, "supersede_time": None}
    ),
    "memory_record_superseded_once": Trip(
        "memory_record",
        "of all corrections of a record one is committed",
        {"record_id": NEW_ID, "receipt_id": NEW_ID},
        copied="supersedes_record_id is not null",
    ),
    "tombstone_key": Trip("tombstone", "a withdrawal is told once"),
    "outbox_key": Trip("outbox", "an event is told once", {"sequence": 9}),
    "outbox_aggregate_in_order": Trip("outbox", "a record's events have an order", {"id": NEW_ID}),
    "outbox_claim_ends": Trip(
        "outbox", "a claim has an owner and an end", {"id": NEW_ID, "sequence": 9, "claim_token": NEW_ID}
    ),
    "outbox_delivered_is_settled": Trip(
        "outbox",
        "what was delivered is neither claimed nor parked",
        {"id": NEW_ID, "sequence": 9, "parked": True, "delivered_time": "2027-01-01T00:00:00Z"},
    ),
    "outbox_parked_key": Trip("outbox_parked", "an event is parked once"),
    "outbox_parked_is_of_event": Trip("outbox_parked", "what is parked is an event", {"id": NEW_ID}),
    "stream_nonce_opens_one_stream": Trip("stream_nonce", "a proof opens one stream"),
    "stream_nonce_is_of_a_proof": Trip("stream_nonce", "a nonce is a proof's", {"nonce": BAD_DIGEST}),
    # --- what other verifiers ask
    "key_alias_key": Trip("key_alias", "a name's row has a number of its own"),
    "key_alias_one_key": Trip("key_alias", "a name stands for one key", {"alias_number": 99}, "state = 'active'"),
    "key_alias_of_key": Trip(
        "key_alias", "a name is a key's", {"alias": "new", "alias_number": 99, "key_id": NO_DIGEST}
    ),
    "key_alias_is_a_token": Trip("key_alias", "a name can stand in an envelope", {"alias": "k\n", "alias_number": 99}),
    "key_alias_is_no_thumbprint": Trip(
        "key_alias", "no name is anybody's thumbprint", {"alias": "Sha256:0", "alias_number": 99}
    ),
    "key_alias_state_known": Trip("key_alias", "a name's states are closed", {"alias_number": 99, "state": "gone"}),
    "key_alias_revoked_has_time": Trip(
        "key_alias", "a revoked name has its time", {"alias_number": 99, "state": "revoked"}, "state = 'active'"
    ),
    "replay_reservation_once": Trip("replay_reservation", "an envelope passes once", {"request_id": "new"}),
    "replay_reservation_of_one_request": Trip(
        "replay_reservation", "a request reserves one thing", {"replay_key": OTHER_DIGEST}
    ),
    "replay_reservation_of_principal": Trip(
        "replay_reservation", "a principal reserves", {"replay_key": OTHER_DIGEST, "reserved_by": "test|nobody"}
    ),
    "replay_reservation_is_digests": Trip(
        "replay_reservation", "what is reserved is digests", {"replay_key": BAD_DIGEST, "request_id": "new"}
    ),
    "replay_reservation_short": Trip(
        "replay_reservation", "a reservation's request id is short", {"replay_key": OTHER_DIGEST, "request_id": ""}
    ),
    # --- envelopes of upstream that proved commits
    "upstream_proof_of_one_commit": Trip("upstream_proof", "a commit is proven once"),
    "upstream_proof_of_receipt": Trip("upstream_proof", "what was proven was committed", {"receipt_id": NEW_ID}),
    "upstream_proof_by_registered_key": Trip(
        "upstream_proof", "a registered key signed it", {"receipt_id": NEW_ID, "key_id": NO_DIGEST}
    ),
    "upstream_proof_digest_whole": Trip("upstream_proof", "an envelope's digest is a SHA-256", {"digest": BAD_DIGEST}),
    "upstream_proof_actor_whole": Trip("upstream_proof", "who acts is named whole", {"actor_id": None}),
    # --- citations
    "citation_key": Trip("citation", "a citation is kept once", {"citing_ref": "new"}),
    "citation_told_once": Trip("citation", "a thing cites a record once", {"citation_id": NEW_ID}),
    "citation_of_record": Trip("citation", "what is cited is a record", {"citation_id": NEW_ID, "record_id": NEW_ID}),
    "citation_by_principal": Trip(
        "citation", "a registered principal cites", {"citation_id": NEW_ID, "cited_by": "test|nobody"}
    ),
    "citation_digests_are_digests": Trip("citation", "digests are SHA-256", {"receipt_digest": BAD_DIGEST}),
    # --- what validated content is compared by
    "content_signature_key": Trip("content_signature", "a revision has one signature"),
    "content_signature_of_revision": Trip("content_signature", "it is of a revision", {"revision": 9}),
    "content_signature_is_one": Trip("content_signature", "it has 128 hashes", {"signature": BAD_DIGEST}),
    "content_band_key": Trip("content_band", "a revision is in a band once"),
    "content_band_of_signature": Trip("content_band", "what is in a band has a signature", {"revision": 9}),
    "content_band_is_a_mark": Trip("content_band", "a band is 16 bytes", {"band": BAD_DIGEST}),
    "content_assertion_key": Trip("content_assertion", "a revision asserts a thing once"),
    "content_assertion_of_revision": Trip("content_assertion", "a revision asserts it", {"revision": 9}),
    "content_assertion_is_of_marks": Trip("content_assertion", "each part is 16 bytes", {"about": BAD_DIGEST}),
    "content_to_erase_key": Trip("content_to_erase", "a revision is erased once"),
    "content_to_erase_of_revision": Trip("content_to_erase", "it is of a revision", {"revision": 9}),
    "content_to_erase_has_time": Trip(
        "content_to_erase", "it is due later than it failed", {"due_time": "2000-01-01T00:00:00Z"}
    ),
    # --- evidence
    "evidence_kept_once": Trip("evidence", "a digest stands for one piece of evidence"),
    "evidence_by_principal": Trip("evidence", "a registered principal puts it", EVIDENCE | {"put_by": "test|nobody"}),
    "evidence_signed_by_principal": Trip(
        "evidence", "a registered principal vouches for it", EVIDENCE | VOUCHED | {"signed_by": "test|nobody"}
    ),
    "evidence_decided_by_principal": Trip(
        "evidence", "a registered person decided", EVIDENCE | DECIDED | {"decided_by": "test|nobody"}
    ),
    "evidence_digest_fits": Trip(
        "evidence", "what is kept has its digest", {"digest": NO_DIGEST}, copied="content is not null"
    ),
    "evidence_kept_or_referred_to": Trip("evidence", "it is kept here or elsewhere", EVIDENCE | {"reference": None}),
    "evidence_bounded": Trip("evidence", "a reference is never empty", EVIDENCE | {"reference": ""}),
    "evidence_visibility_known": Trip("evidence", "the visibilities are closed", EVIDENCE | {"visibility": "world"}),
    "evidence_scope_where_it_is_one": Trip(
        "evidence", "only a channel or a team has an id", EVIDENCE | {"visibility_scope": "team 1"}
    ),
    "evidence_state_known": Trip("evidence", "the states are closed", EVIDENCE | DECIDED | {"state": "seen"}),
    "evidence_decided_by_somebody": Trip(
        "evidence", "what is no longer pending was decided", EVIDENCE | {"state": "approved"}
    ),
    "evidence_never_decided_by_its_putter": Trip(
        "evidence", "who puts never decides", EVIDENCE | DECIDED | {"put_by": "test|admin"}
    ),
    "evidence_signed_whole": Trip("evidence", "a statement is kept whole", EVIDENCE | {"signed_by": "test|agent"}),
    "audit_event_key": Trip("audit_event", "an audit event is told once"),
    # --- what was withdrawn, and what was refused
    "revocation_in_order": Trip("revocation", "a place in the feed is one withdrawal's", {"subject": "another"}),
    "revocation_once": Trip("revocation", "what is withdrawn is withdrawn once", {"sequence": 0}),
    "revocation_kind_known": Trip(
        "revocation", "the kinds are closed", {"sequence": 0, "kind": "mood", "subject": "another"}
    ),
    "revocation_of_a_record_has_its_content": Trip(
        "revocation", "a withdrawn record says which content", {"sequence": 0, "kind": "record"}
    ),
    "refusal_count_one_of_each": Trip("refusal_count", "refusals of a kind are counted in one row"),
    "refusal_count_is_of_some": Trip("refusal_count", "a count counts something", {"reason": "new", "count": 0}),
}
