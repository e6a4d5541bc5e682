"""Whether content holds credentials: the plug-ins of detect-secrets, over the text alone.

Nothing is looked up: no settings of files, no network to verify a find. What was found is named by its kind only.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from importlib import import_module
from typing import Final

from detect_secrets.plugins.base import BasePlugin
from detect_secrets.plugins.high_entropy_strings import (
    Base64HighEntropyString,
    HexHighEntropyString,
    HighEntropyStringsPlugin,
)
from detect_secrets.plugins.keyword import KeywordDetector

from authority.domain.material import Material
from authority.domain.validation import SECRET, Judgement
from authority.validators.protocol import fails, passes, review
from authority.validators.windows import windows

SECRETS: Final = "secrets"
LINE_CHARACTERS = 2_000
"""Longer lines are looked at in overlapping parts: the plug-ins' patterns take long over long lines."""
_OVERLAP = 200
_LIKELY, _POSSIBLE = 950, 600
_ENTROPY_BASE64, _ENTROPY_HEX = 4.5, 3.0
"""Bits a character, as detect-secrets has them."""

_KNOWN_FORMS = (
    ("artifactory", "ArtifactoryDetector"),
    ("aws", "AWSKeyDetector"),
    ("azure_storage_key", "AzureStorageKeyDetector"),
    ("basic_auth", "BasicAuthDetector"),
    ("cloudant", "CloudantDetector"),
    ("discord", "DiscordBotTokenDetector"),
    ("github_token", "GitHubTokenDetector"),
    ("gitlab_token", "GitLabTokenDetector"),
    ("ibm_cloud_iam", "IbmCloudIamDetector"),
    ("ibm_cos_hmac", "IbmCosHmacDetector"),
    ("jwt", "JwtTokenDetector"),
    ("mailchimp", "MailchimpDetector"),
    ("npm", "NpmDetector"),
    ("openai", "OpenAIDetector"),
    ("private_key", "PrivateKeyDetector"),
    ("pypi_token", "PypiTokenDetector"),
    ("sendgrid", "SendGridDetector"),
    ("slack", "SlackDetector"),
    ("softlayer", "SoftlayerDetector"),
    ("square_oauth", "SquareOAuthDetector"),
    ("stripe", "StripeDetector"),
    ("telegram_token", "TelegramBotTokenDetector"),
    ("twilio", "TwilioKeyDetector"),
)
_STAND_IN = re.compile(
    r"^(?:<.*>|\$\{.*\}|\{\{.*\}\}|[*x.#-]+|change-?me|redacted|example|password|secret|token)$", re.IGNORECASE
)
_ASSIGNED = re.compile(
    r"(?:\b|_)(?:password|passwd|pwd|passphrase|secret|api[_ -]?key|access[_ -]?key|auth[_ -]?token|private[_ -]?key)"
    r"[\"']?\s{0,4}(?:=|:|\bis\b)\s{0,4}[\"']?([^\s\"',;]{6,200})",
    re.IGNORECASE,
)


class Secrets:
    """No credential stands in the content. What fails for it is erased after its review (semantics §7)."""

    name = SECRETS
    version = "1"

    def judge(self, material: Material) -> Judgement:
        """Fails credentials of a known form; leaves to a person what only looks random, or is called a password."""
        possible = None
        for line in _lines(material):
            if kind := self._known(line):
                return fails(f"{SECRET}:{kind}", _LIKELY)
            possible = possible or self._possible(line)
        return review(f"possible_secret:{possible}", _POSSIBLE) if possible else passes()

    def _known(self, line: str) -> str | None:
        return next((kind for kind, plugin in self._plugins if any(plugin.analyze_string(line))), None)

    def _possible(self, line: str) -> str | None:
        assigned = _ASSIGNED.search(line)
        if assigned and not _STAND_IN.match(assigned[1]):
            return "named_as_one"
        if any(not _STAND_IN.match(found) for found in self._keyword.analyze_string(line)):
            return "named_as_one"
        return "random_text" if any(_is_random(plugin, line) for plugin in self._entropies) else None

    @cached_property
    def _plugins(self) -> Sequence[tuple[str, BasePlugin]]:
        return tuple(
            (module, getattr(import_module(f"detect_secrets.plugins.{module}"), plugin)())
            for module, plugin in _KNOWN_FORMS
        )

    @cached_property
    def _keyword(self) -> KeywordDetector:
        return KeywordDetector()

    @cached_property
    def _entropies(self) -> tuple[HighEntropyStringsPlugin, ...]:
        return Base64HighEntropyString(limit=_ENTROPY_BASE64), HexHighEntropyString(limit=_ENTROPY_HEX)


def _is_random(plugin: HighEntropyStringsPlugin, line: str) -> bool:
    found = (text for text in plugin.analyze_string(line) if len(text) >= 20)  # noqa: PLR2004 - shorter ones are words
    return any(plugin.calculate_shannon_entropy(text) > plugin.entropy_limit for text in found)


def _lines(material: Material) -> Iterator[str]:
    """The text line by line; of JSON each string with the name it stands under, as it was before it was escaped."""
    text = material.content.decode("utf-8", "replace")
    if material.media_type == "application/json":
        try:
            document = json.loads(text)
        except (ValueError, RecursionError):
            document = text
        lines = _said("", document)
    else:
        lines = iter(text.splitlines())
    for line in lines:
        yield from windows(line, LINE_CHARACTERS, _OVERLAP)


def _said(name: str, document: object) -> Iterator[str]:
    if isinstance(document, dict):
        for inner, value in document.items():
            yield from _said(str(inner), value)
    elif isinstance(document, list):
        for value in document:
            yield from _said(name, value)
    elif isinstance(document, str):
        for line in document.splitlines() or [""]:
            yield f'{name} = "{line}"' if name else line
