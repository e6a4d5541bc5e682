"""Whether content holds credentials: the plug-ins of detect-secrets, over the text alone.

Nothing is looked up: no settings of files, no network to verify a find. What was found is named by its kind only.
"""

import contextlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
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
from authority.validators.json_strings import NAME, json_strings
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
_END = 32
_LONG_WORD = re.compile(r"\w{65,}")
"""The keyword plug-in's time grows with the cube of such a word, where it is made of names: `api_key_api_key_…`."""
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
        for block in _blocks(_lines(material)):
            if kind := self._known(block):
                return fails(f"{SECRET}:{kind}", _LIKELY)
            possible = possible or self._possible(block)
        return review(f"possible_secret:{possible}", _POSSIBLE) if possible else passes()

    def _known(self, block: "_Block") -> str | None:
        return next((kind for kind, plugin in self._plugins if block.has(partial(_finds, plugin))), None)

    def _possible(self, block: "_Block") -> str | None:
        if block.has(_ASSIGNED.search, _assigns):
            return "named_as_one"
        if block.has(partial(_names, self._keyword), partial(_names_one, self._keyword)):
            return "named_as_one"
        return "random_text" if any(block.has(partial(_is_random, plugin)) for plugin in self._entropies) else None

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


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines that are looked at together before each is looked at alone: content of a million lines costs no more.

    No pattern of the plug-ins asks more of where a line ends than that something ends there: what is in one of the
    lines is in all of them together.
    """

    lines: Sequence[str]
    text: str

    def has(self, seems: Callable[[str], object], finds: Callable[[str], object] | None = None) -> bool:
        """Whether one of the lines is what `finds` says; `seems` is true of whatever that is true of, and of more."""
        return bool(seems(self.text)) and any(map(finds or seems, self.lines))


def _blocks(lines: Iterable[str]) -> Iterator[_Block]:
    """The lines in their order, the same one once, as many together as are no longer than one may be."""
    together: dict[str, None] = {}
    length = 0
    for line in lines:
        if together and length + len(line) > LINE_CHARACTERS:
            yield _Block(tuple(together), "\n".join(together))
            together, length = {}, 0
        if line not in together:
            together[line] = None
            length += len(line) + 1
    yield _Block(tuple(together), "\n".join(together))


def _finds(plugin: BasePlugin, text: str) -> bool:
    return any(plugin.analyze_string(text))


def _assigns(text: str) -> bool:
    return any(not _STAND_IN.match(found[1]) for found in _ASSIGNED.finditer(text))


def _names(plugin: KeywordDetector, text: str) -> list[str]:
    """What stands under a name such as `api_key`; of words longer than any name only both ends are looked at."""
    return list(plugin.analyze_string(_LONG_WORD.sub(lambda word: word[0][:_END] + word[0][-_END:], text)))


def _names_one(plugin: KeywordDetector, text: str) -> bool:
    return any(not _STAND_IN.match(found) for found in _names(plugin, text))


def _is_random(plugin: HighEntropyStringsPlugin, line: str) -> bool:
    found = (text for text in plugin.analyze_string(line) if len(text) >= 20)  # noqa: PLR2004 - shorter ones are words
    return any(plugin.calculate_shannon_entropy(text) > plugin.entropy_limit for text in found)


def _lines(material: Material) -> Iterator[str]:
    """The text line by line; of JSON each string with the name it stands under, as it was before it was escaped."""
    text = material.content.decode("utf-8", "replace")
    lines: Iterable[str] = text.splitlines()
    if material.media_type == "application/json":
        with contextlib.suppress(ValueError, RecursionError):
            lines = _said(text)
    for line in lines:
        yield from windows(line, LINE_CHARACTERS, _OVERLAP)


def _said(text: str) -> list[str]:
    return [
        f'{name} = "{line}"' if name else line
        for name, said in json_strings(text)
        if name is not NAME
        for line in said.splitlines() or [""]
    ]
