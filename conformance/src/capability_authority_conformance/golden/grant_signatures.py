"""Who signed the blocks of a chain, for `grant_chains.json` (cases E18, E21)."""

from capability_authority.offline import pae, payload_type_of, sha256
from capability_authority.v1.statements_pb2 import Grant, SignedStatement
from capability_authority_conformance.golden import wire
from capability_authority_conformance.golden.form import Test
from capability_authority_conformance.golden.grant_samples import child, renewed, root, set_field, without
from capability_authority_conformance.golden.grant_tests import refused
from capability_authority_conformance.golden.published_keys import published_key
from capability_authority_conformance.golden.samples import SAMPLES

__all__ = ["signatures"]


def signatures() -> list[Test]:
    """Blocks that whoever may make them did not sign."""
    parent = root()
    second = child(parent)
    unbound = root(without("holder_public_key"))
    weak_key = bytes([1]) + bytes(31)
    weak = root(set_field("holder_public_key", weak_key), set_field("holder_key", sha256(weak_key)))
    return [
        refused("root-by-a-stranger", "a key that is not in the set", "Root", "key_unknown", root(key="stranger")),
        refused("root-by-capability", "the capability key", "Root", "key_purpose_mismatch", root(key="capability")),
        refused("root-by-holder", "the holder's own key", "Root", "key_unknown", root(key="orchestrator")),
        refused(
            "root-of-another-issuer",
            "in another issuer's name",
            "Root",
            "issuer_mismatch",
            root(set_field("issuer", "authority.elsewhere")),
        ),
        refused("root-flipped", "one bit of its signature", "Signature", "signature_invalid", _flipped(parent)),
        refused(
            "root-flipped-below",
            "one bit of the root's, under a child",
            "Signature",
            "signature_invalid",
            _flipped(parent),
            second,
        ),
        refused("child-flipped", "one bit of the child's", "Signature", "signature_invalid", parent, _flipped(second)),
        refused(
            "child-by-a-stranger",
            "signed by anyone",
            "Signature",
            "signature_invalid",
            parent,
            child(parent, key="stranger"),
        ),
        refused(
            "child-by-its-holder",
            "signed by its own holder",
            "Signature",
            "signature_invalid",
            parent,
            child(parent, key="agent"),
        ),
        refused(
            "child-by-the-authority",
            "says a holder derived it; the authority signed",
            "Signature",
            "signature_invalid",
            parent,
            child(parent, key="grant"),
        ),
        refused(
            "child-in-our-name",
            "says the authority made it; the holder signed",
            "Signature",
            "key_unknown",
            parent,
            child(parent, renewed),
        ),
        refused(
            "child-in-another-name",
            "made by another authority",
            "Signature",
            "issuer_mismatch",
            parent,
            child(parent, renewed, set_field("issuer", "authority.elsewhere"), key="grant"),
        ),
        refused(
            "grandchild-by-the-root",
            "signed by the root's holder",
            "Signature",
            "signature_invalid",
            parent,
            second,
            child(second, key="orchestrator"),
        ),
        refused(
            "of-an-unbound-holder",
            "the parent binds a credential that signs nothing",
            "Signature",
            "signature_invalid",
            unbound,
            child(unbound),
        ),
        refused(
            "of-a-weak-holder",
            "the parent binds a key of small order, and the signature needs no private key (E03)",
            "Signature",
            "signature_invalid",
            weak,
            _weakly_signed(child(weak), weak_key),
        ),
        refused(
            "another-kind",
            "an Invocation for a grant",
            "Signature",
            "payload_type_mismatch",
            SAMPLES["invocation"].statement(),
        ),
        refused(
            "another-kind-below",
            "a capability for a child",
            "Signature",
            "payload_type_mismatch",
            parent,
            SAMPLES["commit-capability"].statement(),
        ),
        refused(
            "unknown-field",
            "well signed, with a field behind",
            "Malformed",
            "unknown_field",
            _rewritten(parent.payload + wire.field(31, b"")),
        ),
        refused(
            "unknown-field-below",
            "in a dimension of the child",
            "Malformed",
            "unknown_field",
            parent,
            _rewritten(second.payload + wire.field(16, wire.field(2, 1)), key="orchestrator"),
        ),
        refused(
            "second-encoding",
            "its amount of uses in two bytes",
            "Malformed",
            "not_deterministic",
            _rewritten(parent.payload + wire.field(20, wire.tag(1, wire.VARINT) + wire.varint(5, size=2))),
        ),
    ]


def _flipped(statement: SignedStatement) -> SignedStatement:
    changed = SignedStatement()
    changed.CopyFrom(statement)
    signature = statement.signature.signature
    changed.signature.signature = signature[:20] + bytes([signature[20] ^ 1]) + signature[21:]
    return changed


def _rewritten(payload: bytes, key: str = "grant") -> SignedStatement:
    """These very bytes, well signed."""
    statement = SignedStatement(payload_type=payload_type_of(Grant), payload=payload)
    statement.signature.key_id = published_key(key).public_key.key_id
    statement.signature.signature = published_key(key).sign(pae(statement.payload_type, payload))
    return statement


def _weakly_signed(statement: SignedStatement, key: bytes) -> SignedStatement:
    """With a signature that fits every message under the identity."""
    changed = SignedStatement()
    changed.CopyFrom(statement)
    changed.signature.key_id = f"sha256:{sha256(key).hex()}"
    changed.signature.signature = key + bytes(32)
    return changed
