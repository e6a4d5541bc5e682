"""Whether content holds personal data: presidio's pattern recognisers, without any language model.

They know what has a form: card and account numbers, addresses of mail and machines, telephone numbers, numbers of
passports and insurances. Names, streets and illnesses they do not know.
"""

from functools import cached_property
from typing import TYPE_CHECKING, Final, cast

import tldextract
from presidio_analyzer import EntityRecognizer
from presidio_analyzer.predefined_recognizers import (
    CreditCardRecognizer,
    CryptoRecognizer,
    EmailRecognizer,
    IbanRecognizer,
    IpRecognizer,
    PhoneRecognizer,
    UkNinoRecognizer,
    UsPassportRecognizer,
    UsSsnRecognizer,
)

from authority.domain.material import Material
from authority.domain.validation import Judgement
from authority.validators.hidden_text import visible_text
from authority.validators.protocol import passes, review
from authority.validators.windows import windows

if TYPE_CHECKING:
    from presidio_analyzer.nlp_engine import NlpArtifacts

PART_CHARACTERS: Final = 2_000
"""Longer texts are looked at in overlapping parts."""
_OVERLAP: Final = 200
_NOTHING: Final = cast("NlpArtifacts", None)
"""What a language model would have made of the text; patterns do without."""
_SURE: Final = 0.5
"""Below, a number merely looks like one: presidio would ask for words beside it, which takes a language model."""


class PersonalData:
    """Nothing in the content has the form of personal data."""

    name = "pii"
    version = "1"

    def judge(self, material: Material) -> Judgement:
        """Leaves personal data to a person, naming its kind, with the recogniser's own confidence."""
        text = visible_text(material)
        best: tuple[float, str] | None = None
        for part in windows(text, PART_CHARACTERS, _OVERLAP):
            for recogniser in self._recognisers:
                for found in recogniser.analyze(part, recogniser.supported_entities, _NOTHING) or ():
                    if found.score >= _SURE:
                        best = max(best or (0.0, ""), (found.score, found.entity_type))
        return review(f"personal_data:{best[1].lower()}", round(best[0] * 1000)) if best else passes()

    @cached_property
    def _recognisers(self) -> tuple[EntityRecognizer, ...]:
        return (
            CreditCardRecognizer(),
            CryptoRecognizer(),
            _OfflineEmailRecognizer(),
            IbanRecognizer(),
            IpRecognizer(),
            PhoneRecognizer(),
            UkNinoRecognizer(),
            UsPassportRecognizer(),
            UsSsnRecognizer(),
        )


class _OfflineEmailRecognizer(EmailRecognizer):
    """Knows the domains of the list that tldextract brings along; presidio's own would fetch the newest."""

    _domains = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)

    def validate_result(self, pattern_text: str) -> bool:
        return bool(self._domains(pattern_text).fqdn)
