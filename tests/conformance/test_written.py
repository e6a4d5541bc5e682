"""Suites and known-failing lists are read strictly: a problem names its file, line, case, step and remedy."""

from pathlib import Path
from textwrap import indent

import pytest

from capability_authority_conformance.cli import main
from capability_authority_conformance.problems import SuiteMalformed
from capability_authority_conformance.written.lint import lint
from capability_authority_conformance.written.reading import read_suites
from capability_authority_conformance.written.selection import no_known_failing, read_known_failing, selected_cases
from tests.conformance.conftest import SUITE

CASE = """
name: small
about: One case.
cases:
- name: a-case
  holds: Something.
  covers: [nothing]
  steps:
"""


def problems_of(folder: Path, text: str) -> str:
    """Everything said of a suite, a line each."""
    (folder / "small.yaml").write_text(text)
    try:
        return "\n".join(map(str, lint(read_suites(folder))))
    except SuiteMalformed as refused:
        return str(refused)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SUITE, ""),
        ("", "nothing is written there"),
        ("name: [", "no YAML"),
        ("name: small\nname: small", "small.yaml:2: the key 'name' stands there twice"),
        (SUITE.replace("about: Two calls.", "about: &a Two calls."), "anchors"),
        (SUITE.replace("about: Two calls.", "abuot: Two calls."), "did you mean 'about'?"),
        (SUITE.replace("covers: [nothing]", "covers: nothing", 1), "small.yaml:7: case a-key-set"),
        (SUITE.replace("covers: [nothing]", "covers: []", 1), "does not say what it covers"),
        (SUITE.replace("holds: There is a key set.", 'holds: ""'), "does not say what holds"),
        (SUITE.replace("name: small", "name: other"), "name it 'small'"),
        (SUITE.replace("a-proposal", "a-key-set"), "is there twice"),
        (SUITE.replace("name: a-key-set", "name: A_Key"), "small-words-like-these"),
        (SUITE.replace("rpc: GetKeySet", "rpc: GetKeySets"), "case a-key-set, step 1: the contract has no RPC"),
        (SUITE.replace("as: agent", "as: agnet"), "did you mean 'agent'?"),
        (SUITE.replace("request_id:", "request:"), "has no field 'request'"),
        (SUITE.replace("${case}", "${cas}"), "did you mean 'case'?"),
        (SUITE.replace("${case}", "${}"), "is no reference"),
        (SUITE.replace("  holds: There is a key set.", "  holds: Later.\n  not_yet: No."), "steps and `not_yet`"),
    ],
)
def test_a_suite_is_read_strictly(text: str, said: str, tmp_path: Path) -> None:
    told = problems_of(tmp_path, text)
    assert (said in told) if said else not told


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("say: nothing", "does nothing"),
        ("call: {rpc: GetKeySet, as: nobody}", "says nothing"),
        ("say: s\nuse: {procedure: absent}", "no procedure is 'absent'; there are "),
        ("say: s\nuse: {procedure: isued}", "did you mean 'issued'?"),
        ("say: s\ncall: {rpc: GetKeySet, as: stranger}", "'stranger'; there are admin, agent,"),
        ("say: s\nuse: {procedure: issued, save: {x: zzz}}", "issued saves nothing under 'zzz'; there are "),
        ("say: s\ncheck: {}", "checks nothing"),
        ("say: s\ncheck: {equal: [case, absent.path]}", "nothing is saved under 'absent'"),
        ("say: s\ncheck: {verifies: {case: Receipt}}", "no payload is a 'Receipt'"),
        ("make: {text: x}", "is saved nowhere"),
        ("make: {save: x}", "makes nothing"),
        ("make: {save: x, text: a, digest_of: case}", "Make has text and digest_of"),
        ("make: {save: x, child_grant: {parent: case, signed_by: nobody}}", "no principal of the set-up contract"),
        ("make: {save: x, action_envelope: {capability: case}}", "no principal of the set-up contract"),
        ("say: s\ncall: {rpc: GetKeySet, as: nobody, proof: SPOILED_PROOF_USED}", "has no call before it"),
        ("say: s\ncall: {rpc: GetKeySet, as: nobody, proof: SOILED}", "SOILED"),
        ("say: s\ncall: {rpc: GetKeySet, as: nobody, together: {outcomes: {OK: 1}}}", "needs many callers"),
        ("say: s\ncall: {rpc: GetKeySet, as: nobody, callers: 3, together: {outcomes: {OK: 2}}}", "add up to 2"),
        (
            "say: s\ncall: {rpc: GetKeySet, as: nobody, callers: 1, expect: [{outcome: NO_REASON, code: UNAVAILABLE}]}",
            "a target that breaks would pass",
        ),
        (
            "say: s\ncall: {rpc: GetKeySet, as: nobody, callers: 2, together: {outcomes: {OK: 1, REVOKED: 1}}}",
            "which no single caller may get",
        ),
        ("say: s\ncall: {rpc: GetKeySet, as: nobody, patient: true, within_ms: 5}", "write one of them"),
        ("say: s\ncall: {rpc: GetKeySet, as: nobody, save: {x: keyz.0}}", "has no field 'keyz'"),
        ("say: s\ncall: {rpc: GetKeySet, as: nobody, messages: [{}]}", "are no stream"),
        ("say: s\ncall: {rpc: GetKeySet, as: nobody, raw: bytes}", "nothing is saved under 'bytes'"),
        ("say: s\ncall: {rpc: GetKeySet, as: nobody, expect: [{outcome: FINE}]}", "no outcome is 'FINE'"),
        ("say: s\ncall: {rpc: GetKeySet, as: nobody, expect: [{outcome: OK, code: FINE}]}", "no code 'FINE'"),
        ("say: s\ncall: {rpc: GetKeySet, as: nobody, expect: [{outcome: NO_REASON}]}", "without a code"),
        ("say: s\ncall: {rpc: GetKeySet, as: nobody, expect: [{outcome: OK}, {outcome: MALFORMED}]}", "`because`"),
        ("say: s\ncall: {rpc: GetKeySet, as: nobody, expect: [{outcome: OK, because: x}]}", "for alternatives"),
        ("say: s\ncall: {rpc: GetKeySet, as: nobody, expect: [{outcome: REVOKED, fields: {x: 1}}]}", "write `facts`"),
        ("say: s\ncall: {rpc: GetKeySet, as: nobody, expect: [{outcome: OK, fields: {x: 1}}]}", "has no field 'x'"),
        (
            "say: s\ncall: {rpc: GetKeySet, as: nobody, expect: [{outcome: OK, fields: {issuer: {matchs: a}}}]}",
            "did you mean 'matches'?",
        ),
        (
            "say: s\ncall: {rpc: GetKeySet, as: nobody, expect: [{outcome: OK, fields: {issuer: {matches: '('}}}]}",
            "no regular expression",
        ),
        ("say: s\ncall: {rpc: GetKeySet, as: nobody, expect: [{outcome: OK, facts: {revision: 1}}]}", "needs quotes"),
    ],
)
def test_a_step_is_read_strictly(step: str, said: str, tmp_path: Path) -> None:
    told = problems_of(tmp_path, f"{CASE}  -\n{indent(step, '    ')}\n")
    assert said in told
    assert told.startswith("small.yaml:")
    assert "case a-case, step 1" in told


def test_procedures_are_read_strictly(tmp_path: Path) -> None:
    (tmp_path / "procedures.yaml").write_text(
        "name: procedures\nabout: Two.\nprocedures:\n"
        "- name: round\n  about: x\n  steps: [{use: {procedure: about}}]\n"
        "- name: about\n  about: x\n  steps: [{use: {procedure: round}}]\n"
        "- name: fine\n  about: x\n  parameters: {who: '${holder}', bad: '${absent}'}\n"
        "  steps: [{use: {procedure: asks, with: {by: '${who}'}}}, {make: {save: made, text: '${who.id}'}}]\n"
        "- name: asks\n  about: x\n  parameters: {by: agent}\n"
        "  steps: [{say: x, call: {rpc: GetKeySet, as: '${by}'}}]\n"
    )
    use = "use: {procedure: fine, with: {whom: x, who: agnet}, save: {here: absent}}"
    told = problems_of(
        tmp_path,
        f"{CASE}  - {use}\n  - make: {{save: y, text: '${{here}}'}}",
    )
    assert told.count("uses itself") == 2
    assert "the default of 'bad' names 'absent'" in told
    assert "fine has no parameter 'whom'" in told
    assert "no principal of the set-up contract is 'agnet'; did you mean 'agent'?" in told
    assert "saves nothing under 'absent'" in told
    assert len(told.splitlines()) == 6


def test_a_folder_of_suites_may_bring_its_own_procedures(tmp_path: Path) -> None:
    used = f"{CASE}  - use: {{procedure: issued}}\n"
    assert problems_of(tmp_path, used) == ""
    (tmp_path / "procedures.yaml").write_text("name: procedures\nabout: None.\n")
    assert "no procedure is 'issued'; there are none" in problems_of(tmp_path, used)


def test_only_what_json_has_is_no_text(tmp_path: Path) -> None:
    step = "  - make: {save: x, value: [no, 1:30, 2026-01-01, 1e3, 07, 7, 1.5, true, null]}\n"
    (tmp_path / "small.yaml").write_text(f"{CASE}{step}")
    _, suite = read_suites(tmp_path)
    value = suite.suite.cases[0].steps[0].make.value.list_value
    kinds = [item.WhichOneof("kind") for item in value.values]
    assert kinds == [*["string_value"] * 5, "number_value", "number_value", "bool_value", "null_value"]


def test_a_known_failing_list_carries_reasons(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SUITE)
    suites = read_suites(tmp_path)
    path = tmp_path / "failing.txt"

    path.write_text("# ours\n\nsmall/a-pro*  # not built\n")
    known = read_known_failing(path, suites)
    assert [each.known_failing for each in selected_cases(suites, [], known)] == ["", "not built"]

    path.write_text("small/a-proposal\nsmall/absent # gone\n")
    with pytest.raises(SuiteMalformed) as refused:
        read_known_failing(path, suites)
    assert "failing.txt:1: small/a-proposal has no reason" in str(refused.value)
    assert "failing.txt:2: small/absent matches no case" in str(refused.value)


def test_a_selection_matches_something(tmp_path: Path) -> None:
    (tmp_path / "small.yaml").write_text(SUITE)
    suites = read_suites(tmp_path)
    names = [each.name for each in selected_cases(suites, ["small"], no_known_failing())]
    assert names == ["small/a-key-set", "small/a-proposal"]
    with pytest.raises(SuiteMalformed, match="matches no case"):
        selected_cases(suites, ["small", "absent/*"], no_known_failing())


def test_what_is_malformed_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "small.yaml").write_text(SUITE.replace("about", "abuot"))
    assert main(["lint", "--suites", str(tmp_path)]) == 2
    assert "did you mean 'about'?" in capsys.readouterr().err
    assert main(["run", "--suites", str(tmp_path), "--keys", str(tmp_path), "--target", "127.0.0.1:1"]) == 2
    assert main(["lint", "--suites", str(tmp_path / "absent")]) == 2
    assert "holds no suites" in capsys.readouterr().err


def test_our_own_suites_are_well_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint"]) == 0
    assert "are well written" in capsys.readouterr().out


def test_a_case_asks_something(tmp_path: Path) -> None:
    assert "asks the target nothing" in problems_of(tmp_path, f"{CASE}  - make: {{save: x, text: y}}")


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--jobs", "0", "'0' is no whole number from 1 on"),
        ("--jobs", "two", "'two' is no whole number from 1 on"),
        ("--call-timeout", "0", "'0' is no number of seconds above 0"),
        ("--time-limit", "soon", "'soon' is no number of seconds above 0"),
    ],
)
def test_an_option_says_what_it_takes(option: str, value: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["run", "--target", "127.0.0.1:1", option, value])
    assert ended.value.code == 2
    assert f"argument {option}: {said}" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--report-junit", "--report-json", "--tls-roots"])
def test_a_file_that_cannot_be_used_is_named_before_the_run(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = tmp_path / "absent" / "file"
    assert main(["run", "--target", "127.0.0.1:1", "--keys", str(tmp_path), option, str(nowhere)]) == 2
    assert str(nowhere) in capsys.readouterr().err.splitlines()[0]
