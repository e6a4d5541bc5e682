"""ARCHITECTURE.md numbers what must hold and names the test of each; those exist, and those that the decisions name."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_test_that_the_architecture_names_exists() -> None:
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in ("ARCHITECTURE.md", "docs/decisions.md"))
    named = set(re.findall(r"`(test_\w+)`", text))
    sources = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("test_*.py"))
    defined = set(re.findall(r"def (test_\w+)", sources))

    assert len(named) > 20
    assert named - defined == set()


def test_every_invariant_names_a_test() -> None:
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    section = text.split("## Invariants")[1].split("\n## ")[0]
    invariants = re.split(r"\n(?=\d+\. )", section)[1:]

    assert [invariant.split(".")[0] for invariant in invariants] == [str(n) for n in range(1, len(invariants) + 1)]
    assert len(invariants) >= 19
    assert [invariant for invariant in invariants if "`test_" not in invariant] == []
