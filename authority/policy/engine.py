"""Answers policy questions by Cedar (semantics §7)."""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

from cedarpy import is_authorized

from authority.domain.decision import DecisionOutcome, PolicyAnswer, PolicyQuestion
from authority.policy.bundle import Bundle, read_bundle
from authority.policy.question import entities, request

BUNDLES_KEPT = 64
ERROR_IN_BUNDLE = "error:bundle"
ERROR_IN_REQUEST = "error:request"
_NUMBER = re.compile(r"`(policy\d+)`")


class CedarPolicyEngine:
    """The port `PolicyEngine`. Pure apart from remembering the bundles that it has read; safe to share.

    Deny beats require_approval beats allow, and what no policy matches is denied, determined by nothing. Cedar itself
    skips a policy whose evaluation fails, which would turn a failing forbid into a permit: here any error denies, and
    the answer names it: `error:<id>` for a policy, `error:bundle` for a bundle that breaks the rules, `error:request`
    for a question that Cedar does not take.
    """

    def __init__(self) -> None:
        self._read = lru_cache(maxsize=BUNDLES_KEPT)(read_bundle)

    def evaluate(self, bundle: str, question: PolicyQuestion) -> PolicyAnswer:
        """The answer of the bundle; `determining_policies` are `@id`s in order.

        Policies that ask for an approval are believed only if an approval would settle the matter: then the answer is
        REQUIRE_APPROVAL, names them, and says how many persons the most demanding of them wants. Otherwise it is the
        denial that an approved proposal would meet.
        """
        read = self._read(bundle)
        if not isinstance(read, Bundle):
            return PolicyAnswer(DecisionOutcome.DENY, (ERROR_IN_BUNDLE,))
        answer = _ask(read, question)
        if answer.outcome is not DecisionOutcome.REQUIRE_APPROVAL:
            return answer
        approved = _ask(read, replace(question, approved=True))
        if approved.outcome is DecisionOutcome.ALLOW:
            return answer
        return PolicyAnswer(DecisionOutcome.DENY, approved.determining_policies)


def _ask(bundle: Bundle, question: PolicyQuestion) -> PolicyAnswer:
    """One evaluation: REQUIRE_APPROVAL when nothing but policies that ask for an approval denied."""
    result = is_authorized(request(question, bundle.speaks_of), bundle.policies, entities(question))
    determining = frozenset(result.diagnostics.reasons)
    if result.diagnostics.errors:
        return PolicyAnswer(DecisionOutcome.DENY, _error_ids(bundle, result.diagnostics.errors))
    if result.allowed:
        return PolicyAnswer(DecisionOutcome.ALLOW, _ids(bundle, determining))
    if denying := determining - bundle.asking.keys():
        return PolicyAnswer(DecisionOutcome.DENY, _ids(bundle, denying))
    if not determining:
        return PolicyAnswer(DecisionOutcome.DENY, ())
    persons_needed = max(bundle.asking[number] for number in determining)
    return PolicyAnswer(DecisionOutcome.REQUIRE_APPROVAL, _ids(bundle, determining), persons_needed)


def _ids(bundle: Bundle, numbers: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(bundle.ids[number] for number in numbers))


def _error_ids(bundle: Bundle, errors: Iterable[str]) -> tuple[str, ...]:
    """Cedar names the failing policy by its number at the beginning of each error."""
    numbers = (_NUMBER.search(error) for error in errors)
    return tuple(sorted({f"error:{bundle.ids[found[1]]}" if found else ERROR_IN_REQUEST for found in numbers}))
