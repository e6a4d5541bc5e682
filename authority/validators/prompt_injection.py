"""Whether content is written to steer a model that will read it (OWASP LLM01, MITRE ATLAS AML.T0051 and AML.T0080).

Memory is read by models later, so that a sentence in it can act long after it was proposed. These rules find what is
known and plain; they do not understand, and whoever words it new gets past them. Recall hands out content as data with
its provenance, whatever stands in it: that wall does not rest on these rules.

Each rule is a family of phrasings. One family in sight is left to a person, for notes on such attacks are honest
memory; two of them in one text, or any that was hidden or encoded, fail. docs/validators.md shows some;
hostile and benign examples stand in authority/embedded/demo/poisoned.jsonl.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from authority.domain.material import Material
from authority.domain.validation import Judgement
from authority.validators.hidden_text import folded, hidden_texts, respelt_texts, unseen_runs, visible_text
from authority.validators.protocol import fails, passes, review
from authority.validators.windows import windows

UNSEEN = 3
"""Unseen characters between letters that a text may have: a stray one comes along with copied text."""
_IN_SIGHT, _TWO_FAMILIES, _HIDDEN = 800, 950, 980
_THEIRS: Final = r"(?:instructions?|rules?|prompts?|guidelines?|directives?|polic(?:y|ies)|context|training|messages?)"
_PRIVATE: Final = (
    r"(?:api[ _-]?keys?|passwords?|credentials?|secrets?|tokens?|system prompt|conversation|memor(?:y|ies))"
)
_PEOPLE: Final = r"(?:user|anyone|human|operator|reviewer|admin)"
_PAST: Final = r"(?:all|any|every|previous|prior|above|earlier|preceding|your|the|these|those|system)"

RULES: Final[Mapping[str, tuple[str, ...]]] = {
    "override": (
        rf"\b(?:ignore|disregard|forget|bypass|override|discard)\b.{{0,40}}\b{_PAST}\b.{{0,40}}\b{_THEIRS}\b",
        rf"\b(?:do not|don't|never) (?:follow|obey)\b.{{0,40}}\b{_THEIRS}\b",
        r"\bnew (?:system )?instructions?\s*:",
    ),
    "role": (
        r"\byou are (?:now|no longer)\b",
        r"\b(?:act|behave|respond) as (?:if you (?:are|were)|an? ).{0,30}\b(?:unrestricted|admin|root|jailbroken)\b",
        r"\b(?:enter|enable|activate) (?:developer|god|debug|dan|jailbreak) mode\b",
    ),
    "markup": (
        r"<\|(?:im_start|im_end|system|assistant|user|endoftext)\|>",
        r"\[/?inst\]|<</?sys>>",
        r"(?:^|\s)#{2,4} ?(?:system|instruction|assistant) ?(?:prompt|message)?:",
        r"</?(?:system|assistant|tool_call|function_call)>",
    ),
    "exfiltration": (
        rf"\b(?:send|post|forward|upload|email|leak|transmit)\b.{{0,80}}\b{_PRIVATE}\b.{{0,80}}\b(?:to|at|via)\b",
        rf"\b(?:reveal|print|repeat|output|show)\b.{{0,30}}\b(?:your|system)\b.{{0,20}}\b{_THEIRS}\b",
        r"!\[[^\]]{0,100}\]\(https?://[^)\s]{1,200}[?&][^)\s]{0,50}=(?:\{|%7b|\$|<)",
    ),
    "tool_use": (
        (
            r"\b(?:call|invoke|run|execute|use)\b.{0,30}\b(?:tool|function|command|shell|curl|memory\.commit-validated)\b"
            r".{0,60}\b(?:now|immediately|first|before|without|every time|whenever|always)\b"
        ),
        (
            r"\b(?:from now on|in (?:all )?future (?:conversations|sessions|answers|replies))\b"
            r".{0,80}\b(?:call|invoke|run|execute|transfer|approve|grant|wire|pay|recommend|send)\b"
        ),
        r"\b(?:tool|function|name|call)\b.{0,20}\bmemory\.commit-validated\b",
    ),
    "self_approval": (
        (
            r"\b(?:approve|commit|accept|trust|validate)\b.{0,30}\b(?:this|these|the following)\b"
            r".{0,30}\b(?:proposal|memory|record|content|without (?:review|validation|approval))\b"
        ),
        r"\b(?:already|pre-?)\s?(?:approved|validated|verified|authorized)\b.{0,40}\b(?:by|so)\b",
        r"\bprovenance\b.{0,10}\bsystem_observation\b",
    ),
    "secrecy": (
        rf"\b(?:do not|don't|never) (?:tell|mention|reveal|inform|show|disclose)\b.{{0,40}}\b{_PEOPLE}",
        rf"\bwithout (?:telling|informing|asking) (?:the )?{_PEOPLE}",
    ),
}
"""Phrasings by family, over folded text: small letters, single spaces. Every gap in them is bounded."""
_FAMILIES: Final = {family: re.compile("|".join(phrasings)) for family, phrasings in RULES.items()}


class PromptInjection:
    """Nothing in the content is addressed to the model that will read it."""

    name = "prompt_injection"
    version = "1"

    def judge(self, material: Material) -> Judgement:
        """Fails what is hidden or comes in two families; leaves one family in plain sight to a person."""
        text = visible_text(material)
        families = families_of(text)
        if hidden := next(_families_of_hidden(text, frozenset(families)), None):
            return fails(f"hidden:{hidden}", _HIDDEN)
        if families and unseen_runs(text) >= UNSEEN:
            return fails(f"hidden:{families[0]}", _HIDDEN)
        if len(families) > 1:
            return fails(f"injection:{families[0]}+{families[1]}", _TWO_FAMILIES)
        return review(f"injection:{families[0]}", _IN_SIGHT) if families else passes()


def families_of(text: str) -> list[str]:
    """The families of phrasings that the text has, however it is spelt."""
    parts = list(windows(folded(text)))
    return [family for family, pattern in _FAMILIES.items() if any(pattern.search(part) for part in parts)]


def _families_of_hidden(text: str, in_sight: frozenset[str]) -> Iterator[str]:
    for hidden in hidden_texts(text):
        yield from families_of(hidden)
    for respelt in respelt_texts(text):
        # The whole text again: what stands there in plain letters was seen.
        yield from (family for family in families_of(respelt) if family not in in_sight)
