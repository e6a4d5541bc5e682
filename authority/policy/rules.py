"""What a bundle must obey to be loaded, beyond Cedar's grammar.

Every policy has an `@id` that no other has, for receipts name policies by it. Every policy fits the schema. A policy
marked `@outcome("require_approval")` is a `forbid` that looks at `context.approved`, and only such a one may say by
`@quorum("2")` how many persons must approve, 1 to 9. Templates are of no use here.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import resources
from itertools import chain

from cedarpy import Schema, policies_to_pst, pst, validate_policies

from authority.domain.shape import is_id
from authority.policy.question import CONTEXT_ATTRIBUTES
from authority.policy.source import PolicyText

ID_BYTES = 64
REQUIRE_APPROVAL = "require_approval"
WHOLE_CONTEXT = "*"
_CONTEXT = pst.Var("context")
QUORUMS = frozenset("123456789")
"""How many persons a policy may ask for, as it is written."""
_APPROVED = pst.GetAttr(_CONTEXT, "approved")


@cache
def policy_schema() -> Schema:
    """What policies can ask about, as shipped in `schema.cedarschema`."""
    return Schema.from_str(resources.files("authority.policy").joinpath("schema.cedarschema").read_bytes().decode())


def context_attributes(policies: Mapping[str, pst.Template]) -> frozenset[str]:
    """Every attribute of the context that a policy reads or asks after; all there are when one uses it as a whole."""
    found: set[str] = set()
    for policy in policies.values():
        for clause in policy.clauses:
            found |= _attributes(clause)
    return CONTEXT_ATTRIBUTES if WHOLE_CONTEXT in found else CONTEXT_ATTRIBUTES & found


def _attributes(node: object) -> set[str]:
    match node:
        case pst.GetAttr(base=base, attr=attr) if base == _CONTEXT:
            return {attr}
        case pst.HasAttr(base=base, attrs=attrs) if base == _CONTEXT:
            return {attrs[0]}
    if node == _CONTEXT:
        return {WHOLE_CONTEXT}
    return {name for part in _parts(node) for name in _attributes(part)}


def unparsable(texts: Sequence[PolicyText]) -> Iterator[str]:
    """Each policy that cannot be read by itself: Cedar stops at the first one and does not say where."""
    for policy in texts:
        try:
            policies_to_pst(policy.text)
        except ValueError as error:
            yield f"line {policy.line}: the policy that begins here cannot be read: {error}"


def broken_rules(text: str, nodes: pst.PolicySet, texts: Sequence[PolicyText]) -> Iterator[str]:
    """Every rule that a bundle breaks which Cedar can read, as sentences with lines."""
    if not texts:
        yield "the bundle holds no policy; to deny everything, write one forbid that says so"
    for template in nodes.templates.values():
        yield f"{_where(template, texts)} is a template, and nothing fills its slots"
    for policy in nodes.static_policies.values():
        for problem in chain(_id_problems(policy), _outcome_problems(policy), _quorum_problems(policy)):
            yield f"{_where(policy, texts)} {problem}"
    yield from _shared_ids(nodes.static_policies)
    yield from _schema_problems(text, nodes, texts)


def _id_problems(policy: pst.Template) -> Iterator[str]:
    policy_id = policy.annotations.get("id", "")
    if not policy_id:
        yield 'has no name: write @id("...") above it'
    elif not is_id(policy_id, ID_BYTES) or ":" in policy_id:
        yield f"needs another @id: ASCII letters, digits and . _ @ + / - , at most {ID_BYTES}"


def _outcome_problems(policy: pst.Template) -> Iterator[str]:
    outcome = policy.annotations.get("outcome")
    if outcome is None:
        return
    if policy.effect != "forbid" or outcome != REQUIRE_APPROVAL:
        yield f'has an @outcome that means nothing: only a forbid can have one, and only "{REQUIRE_APPROVAL}"'
    elif not any(_mentions(clause, _APPROVED) for clause in policy.clauses):
        yield "asks for an approval that would not satisfy it: end it with unless { context.approved }"


def _quorum_problems(policy: pst.Template) -> Iterator[str]:
    quorum = policy.annotations.get("quorum")
    if quorum is None:
        return
    if policy.annotations.get("outcome") != REQUIRE_APPROVAL:
        yield f'has a @quorum but asks for no approval: write @outcome("{REQUIRE_APPROVAL}") beside it'
    elif quorum not in QUORUMS:
        yield 'has a @quorum of another kind: how many persons must approve, from "1" to "9"'


def _shared_ids(policies: Mapping[str, pst.Template]) -> Iterator[str]:
    counts = Counter(policy.annotations.get("id", "") for policy in policies.values())
    for policy_id, count in counts.items():
        if policy_id and count > 1:
            yield f'{count} policies have @id("{policy_id}"): each needs its own'


def _schema_problems(text: str, nodes: pst.PolicySet, texts: Sequence[PolicyText]) -> Iterator[str]:
    policies = {**nodes.templates, **nodes.static_policies}
    errors = validate_policies(text, policy_schema()).errors
    for number, problem in dict.fromkeys((error.policy_id, error.error) for error in errors):
        known = policies.get(number)
        sentence = problem.removeprefix(f"for policy `{number}`").lstrip(",: ")
        yield f"{_where(known, texts)} does not fit the schema: {sentence}" if known else problem


def _mentions(node: object, wanted: object) -> bool:
    """Whether a node of a parsed policy is or holds another. Cedar's nodes nest at most 100 deep."""
    return node == wanted or any(_mentions(part, wanted) for part in _parts(node))


def _parts(node: object) -> Iterator[object]:
    if isinstance(node, Mapping):
        yield from node.values()
    elif isinstance(node, tuple):
        yield from node
    elif is_dataclass(node):
        yield from (getattr(node, field.name) for field in fields(node))


def _where(policy: pst.Template, texts: Sequence[PolicyText]) -> str:
    """Cedar calls the first policy of a text `policy0`."""
    line = texts[int(policy.id.removeprefix("policy"))].line
    return f"line {line}: this {policy.effect}"
