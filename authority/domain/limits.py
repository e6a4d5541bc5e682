"""Every limit of shape, in one place (semantics §10). Operators set the limits of load in `authority.config`."""

from authority.domain.references import DAY, MINUTE, SECOND

ID_BYTES = 256
KEY_BYTES = 128
"""Idempotency keys and request ids."""
CONTENT_BYTES = 1024 * 1024
JSON_DEPTH = 32
EVIDENCE_DIGESTS = 64
REFS = 64
"""Source refs, and subject refs."""
REF_BYTES = 512
COSTS = 32
COST_TEXT_BYTES = 128
NOTE_BYTES = 1024
URI_BYTES = 2048
"""Of a reference to evidence."""
PAGE_SIZE = 200
PAGE_SIZE_DEFAULT = 50
PAGE_BYTES = 1024 * 1024
"""How large a page is when sent, unless its one item is larger."""
PAGE_TOKEN_BYTES = 512
"""Revision tokens, too."""
RECALL_SIZE = 100
"""Records of one answer to RecallRecords."""
RECALL_SIZE_DEFAULT = 20
QUERY_BYTES = 1024
AGGREGATE_LEAST_TENANTS = 3
"""A figure of many tenants' memory rests on so many of them at least, whatever an operator says."""
AGGREGATE_TENANTS = 256
AGGREGATE_STEP = 10
"""Such figures are told in whole tens."""
AGGREGATE_DELAY_MS = DAY
"""How long a month has been over before it is counted: what was committed in it has landed by then."""
SEARCH_CHARACTERS = 64 * 1024
"""How much of a content recall looks into: so little that no index of the database can refuse it."""
EXPORT_ITEMS = 200
"""Of one kind in an export: approvals, revisions, citations."""
EXPORT_REVISION_BYTES = 512 * 1024
"""Of a proposal's revisions in an export, together; the committed one is always there."""
BATCH_ITEMS = 512
"""No request repeats a message more often."""
BATCH_BYTES = 3 * 1024 * 1024
STREAM_WINDOW = 256
"""Items of one stream that were read and whose outcomes have not been written."""
STREAM_BYTES = 3 * 1024 * 1024
"""Of a stream's items that were read and are not settled: no more is read while there are so many."""
WATCH_EVENTS = 100
"""Items in one message of a watch."""
CURSOR_BYTES = 32 * 1024
"""A cursor names every transaction that was under way when it was made."""
PROOF_BYTES = 2048
TOKEN_BYTES = 6 * 1024
"""Of a bearer token; metadata has 8 KiB altogether."""
STATEMENT_BYTES = 32 * 1024
SELECTORS = 64
"""Names in one dimension of a grant."""
DELEGATION_DEPTH = 8
"""Generations that can be derived from one grant."""
GRANT_CHAIN_BLOCKS = 1 + DELEGATION_DEPTH
GRANT_CHAIN_BYTES = 32 * 1024
"""Payloads of a grant and its ancestors, together."""
GRANT_NONCE_BYTES = 16
REPLAY_KEY_BYTES = 4096
"""Of what another verifier calls an envelope by: upstream's are at most some 3 KiB."""
ACTION_ENVELOPE_BYTES = 64 * 1024
"""Of an envelope's JSON, signed or not: all that upstream's schema allows is less, written without spaces."""
COMMIT_BYTES = CONTENT_BYTES + STATEMENT_BYTES + ACTION_ENVELOPE_BYTES + 128 * 1024
"""Of one commit: more than anything that it can hold, each as large as it may be."""
INT64_MAX = 2**63 - 1
INT32_MAX = 2**31 - 1

CAPABILITY_LIFETIME_MS = 24 * 60 * MINUTE
CAPABILITY_LIFETIME_DEFAULT_MS = 15 * MINUTE
CAPABILITY_LIFETIME_LEAST_MS = SECOND
VALIDATION_LIFETIME_MS = DAY
ERASURE_DUE_MS = DAY
"""How long content that failed for secrets is kept for a person to look at: as long as its validation stands."""
DECISION_LIFETIME_MS = DAY
APPROVAL_LIFETIME_MS = 30 * DAY
PROPOSAL_LIFETIME_MS = 30 * DAY
"""Of one revision; a proposer may ask for less."""
GRANT_LIFETIME_MS = 30 * DAY
APPROVAL_USES = 1000
"""How many decisions may rest on one approval that names a number."""
EXTERNAL_DECISIONS = 8
"""Of external authorities, presented to one decision."""
EXTERNAL_ISSUER_BYTES = 128
"""Of the name of an external authority, which is part of the name of each of its decisions."""
QUORUM_PERSONS = 9
"""How many persons a policy may ask for."""
PAGE_TOKEN_LIFETIME_MS = 60 * MINUTE

NOT_BEFORE_SKEW_MS = 30 * SECOND
"""How far our clock may be behind the issuer's; there is no such grace for expiry (semantics §3)."""
MUTATION_FRESH_MS = 5 * MINUTE
READ_FRESH_MS = MINUTE
"""How old an Invocation may be (semantics §2); one that opens a stream as old as one of a read."""
STREAM_LIFE_MS = 5 * MINUTE
"""How long a stream may be read from (semantics §2)."""
WATCH_POLL_MS = SECOND
"""How often a process asks whether there is anything new for those who watch."""
HEARTBEAT_MS = 10 * SECOND
"""How long a watch is silent at most."""

EARLIEST_MS = 0
LATEST_MS = 253_402_300_799_999
"""9999-12-31T23:59:59.999Z: what every language and the database can hold."""
