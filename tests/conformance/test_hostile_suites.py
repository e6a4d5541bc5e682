"""Suites that would take for ever, or break what reads them: each is complained of at once, and none is a crash."""

from pathlib import Path

import pytest

from tests.conformance.conftest import SUITE
from tests.conformance.test_written import CASE, problems_of

ASKS = "  - say: s\n    call: {rpc: GetKeySet, as: nobody}\n"
MATCHES = "  - say: s\n    check: {{fields: {{case: {{matches: '{}'}}}}}}\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[" * 5_000, "small.yaml:1: "),
        ("[" * 100 + "]" * 100, "deep in each other"),
        ("a: {" * 2_000, "small.yaml:1: "),
        ("- " * 3_000, "small.yaml:1: "),
        ("\0", "no YAML"),
        (SUITE.replace("as: nobody", f"as: nobody, callers: {'9' * 5_000}"), "is too large, or too long"),
        (SUITE.replace("as: nobody", "as: nobody, callers: 99999999999"), "out of range"),
        (SUITE.replace("as: nobody", "as: nobody, callers: 4294967295"), "write at most 1,000"),
        (SUITE.replace("as: nobody", "as: nobody, request: {a: " + "9" * 39 + "}"), "is too large, or too long"),
        (SUITE.replace("as: nobody", "as: nobody, request: {a: " + "[" * 50 + "]" * 50 + "}"), "too deep"),
        (SUITE.replace("as: nobody", 'as: "\\ud800"'), "small.yaml:"),
        (f"{CASE}  - make: {{save: x, repeated: {{text: x, times: 4294967295}}}}\n", "write at most 8,388,608"),
        (CASE + ASKS + MATCHES.format("a{99999999999999999999}"), "is no regular expression"),
        (CASE + ASKS + MATCHES.format("(" * 2_000 + ")" * 2_000), "is no regular expression"),
        (CASE + ASKS + MATCHES.format("(a+)+x"), "repeats a group"),
        (CASE + ASKS + MATCHES.format("(a|aa){2,}x"), "repeats a group"),
        (CASE + ASKS + MATCHES.format("a?a?a?a?aaaa"), "more than 2 repetitions"),
        (CASE + ASKS + MATCHES.format("^sha256:[0-9a-f*+?]{64}\\(\\)*[.]$"), ""),
    ],
    ids=range(18),
)
def test_what_would_never_end_is_complained_of(text: str, said: str, tmp_path: Path) -> None:
    told = problems_of(tmp_path, text)
    assert (said in told) if said else not told


@pytest.mark.parametrize(
    ("procedures", "uses", "refused"), [(10, 2, 1), (200, 2, 191), (200, 1, 184)], ids=["many", "endless", "deep"]
)
def test_procedures_that_double_come_to_an_end(procedures: int, uses: int, refused: int, tmp_path: Path) -> None:
    # Given procedures each of which uses the next, once or twice
    steps = [f"  - use: {{procedure: p{number}}}\n" * uses for number in range(1, procedures)]
    steps.append("  - make: {save: x, text: x}\n")
    written = (f"- name: p{number}\n  about: x\n  steps:\n{each}" for number, each in enumerate(steps))
    (tmp_path / "procedures.yaml").write_text(f"name: procedures\nabout: x\nprocedures:\n{''.join(written)}")

    told = problems_of(tmp_path, f"{CASE}  - use: {{procedure: p{procedures - 1}}}\n").splitlines()

    assert len([line for line in told if "takes more than 1,000 steps" in line]) == refused
