"""The four that are in every profile: they cost next to nothing and need nothing installed."""

from authority.domain import limits
from authority.domain.material import Material, Need
from authority.domain.proposal import best_provenance, least_trusted
from authority.domain.validation import BASELINE_VERSION, Judgement
from authority.validators.protocol import fails, passes


class SchemaAndLimits:
    """Content is not over its limit (semantics §10)."""

    name = "schema_and_limits"
    version = BASELINE_VERSION

    def judge(self, material: Material) -> Judgement:
        """Fails content over 1 MiB."""
        return fails("content_over_limit") if len(material.content) > limits.CONTENT_BYTES else passes()


class CanonicalJson:
    """The content's form is what its media type says; JSON is canonical (semantics §3)."""

    name = "canonical_json"
    version = BASELINE_VERSION

    def judge(self, material: Material) -> Judgement:
        """Fails with the form's problem as its reason."""
        return fails(material.content_problem) if material.content_problem else passes()


class ExactDuplicate:
    """No living record of the memory namespace says exactly this already."""

    name = "exact_duplicate"
    version = BASELINE_VERSION
    needs = frozenset({Need.DUPLICATE})

    def judge(self, material: Material) -> Judgement:
        """Fails and names the record."""
        return fails(f"duplicate_of:{material.duplicate_of}") if material.duplicate_of else passes()


class ProvenanceStamped:
    """The stamped provenance is no better than what its proposer's kind can give (case G12)."""

    name = "provenance"
    version = BASELINE_VERSION

    def judge(self, material: Material) -> Judgement:
        """Fails what was lifted."""
        best = best_provenance(material.proposer_kind, material.memory_type)
        lifted = least_trusted(best, material.provenance) is not material.provenance
        return fails("provenance_lifted") if lifted else passes()
