"""docs/operating.md names every span, attribute and metric, as the one list does."""

from collections.abc import Iterator
from pathlib import Path

from authority.telemetry.names import ATTRIBUTES, METRICS, SPANS
from tests.installation.documented import sections

DOCUMENT = "docs/operating.md"
ROOT = Path(__file__).parents[3]


def _rows() -> Iterator[str]:
    for span in SPANS:
        yield f"| `{span.name.format('…')}` | {span.kind.value.lower()} | {span.meaning} |"
    for attribute in ATTRIBUTES:
        yield f"| `{attribute.name}` | {attribute.meaning} |"
    for metric in METRICS:
        labels = ", ".join(f"`{label}`" for label in metric.labels)
        yield f"| `{metric.in_prometheus}` | {metric.kind.value} | {labels} | {metric.meaning} |"


def test_its_tables_are_what_the_code_says() -> None:
    (text,) = [text for heading, text in sections(DOCUMENT) if heading == "Seeing it"]
    shown = [line for line in text.splitlines() if line.startswith("| `")]

    assert shown == [*_rows()], "\n".join([f"replace the rows in {DOCUMENT} by:", *_rows()])
