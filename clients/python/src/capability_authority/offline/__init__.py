"""What a holder or a consumer does without a server: sign, read strictly, verify, fingerprint, canonicalize.

Needs protobuf, cryptography and rfc8785, never gRPC. Nothing here reads a clock, draws a nonce or opens a connection:
times and nonces are arguments, and the only files touched are the private key files asked for.

Check a receipt on a plane:

    key_set = KeySet.from_response(response, pinned_issuer="authority.example", pinned_key_ids=frozenset({key_id}))
    receipt = verify_receipt(parse_statement(receipt_bytes), key_set, content=content)
"""

from capability_authority.offline.canonical_json import (
    MAX_DEPTH,
    JsonValue,
    canonical_content,
    canonicalize,
    is_canonical,
    parse,
    require_canonical,
)
from capability_authority.offline.delegation import Narrower, delegate
from capability_authority.offline.digests import DIGEST_BYTES, from_wire, sha256, to_wire
from capability_authority.offline.dsse_json import from_dsse_json, to_dsse_json
from capability_authority.offline.errors import (
    ActionEnvelopeInvalid,
    AttestationInvalid,
    ContentMismatch,
    DigestError,
    EnvelopeRefused,
    FeedBroken,
    FeedStale,
    GrantExceeded,
    GrantExpired,
    GrantMalformed,
    GrantNotYetValid,
    InstantError,
    IssuerMismatch,
    JsonError,
    KeyFileExposed,
    KeyPurposeMismatch,
    KeyRefused,
    KeyRevoked,
    KeyScopeMismatch,
    KeySetRefused,
    KeyUnknown,
    NonCanonicalJson,
    OfflineError,
    PayloadRefused,
    PayloadTypeMismatch,
    SignatureInvalid,
    StatementError,
    UnreadableStatement,
    Withdrawn,
)
from capability_authority.offline.exports import Check, CheckVerdict, check_export
from capability_authority.offline.fingerprint import capability_fingerprint, request_fingerprint
from capability_authority.offline.grants import GrantChain, GrantUse, verify_grant_chain
from capability_authority.offline.instants import instant_ms, timestamp
from capability_authority.offline.invocation import PROOF_METADATA_KEY, make_invocation
from capability_authority.offline.key_set import KeyRecord, KeySet
from capability_authority.offline.keys import PrivateKey, PublicKey, load_private_key_file, save_private_key_file
from capability_authority.offline.revocation_feed import RevocationFeed
from capability_authority.offline.revocations import RevocationView
from capability_authority.offline.statements import (
    PAYLOAD_CLASSES,
    SIGNED_PAYLOAD_TYPES,
    digest_of,
    encode,
    open_statement,
    pae,
    parse_statement,
    payload_type_of,
    read_payload,
    sign,
    statement_digest,
)
from capability_authority.offline.verification import verify_as, verify_receipt, verify_statement

__all__ = [
    "DIGEST_BYTES",
    "MAX_DEPTH",
    "PAYLOAD_CLASSES",
    "PROOF_METADATA_KEY",
    "SIGNED_PAYLOAD_TYPES",
    "ActionEnvelopeInvalid",
    "AttestationInvalid",
    "Check",
    "CheckVerdict",
    "ContentMismatch",
    "DigestError",
    "EnvelopeRefused",
    "FeedBroken",
    "FeedStale",
    "GrantChain",
    "GrantExceeded",
    "GrantExpired",
    "GrantMalformed",
    "GrantNotYetValid",
    "GrantUse",
    "InstantError",
    "IssuerMismatch",
    "JsonError",
    "JsonValue",
    "KeyFileExposed",
    "KeyPurposeMismatch",
    "KeyRecord",
    "KeyRefused",
    "KeyRevoked",
    "KeyScopeMismatch",
    "KeySet",
    "KeySetRefused",
    "KeyUnknown",
    "Narrower",
    "NonCanonicalJson",
    "OfflineError",
    "PayloadRefused",
    "PayloadTypeMismatch",
    "PrivateKey",
    "PublicKey",
    "RevocationFeed",
    "RevocationView",
    "SignatureInvalid",
    "StatementError",
    "UnreadableStatement",
    "Withdrawn",
    "canonical_content",
    "canonicalize",
    "capability_fingerprint",
    "check_export",
    "delegate",
    "digest_of",
    "encode",
    "from_dsse_json",
    "from_wire",
    "instant_ms",
    "is_canonical",
    "load_private_key_file",
    "make_invocation",
    "open_statement",
    "pae",
    "parse",
    "parse_statement",
    "payload_type_of",
    "read_payload",
    "request_fingerprint",
    "require_canonical",
    "save_private_key_file",
    "sha256",
    "sign",
    "statement_digest",
    "timestamp",
    "to_dsse_json",
    "to_wire",
    "verify_as",
    "verify_grant_chain",
    "verify_receipt",
    "verify_statement",
]
