"""Python and TypeScript read the same bytes, refuse the same bytes, and say the same of them (cases D13, E11, I14)."""

import hashlib
import json
import os
import subprocess
from collections.abc import Iterable
from itertools import chain
from pathlib import Path

import pytest
from google.protobuf.json_format import MessageToDict

from capability_authority.offline import (
    PAYLOAD_CLASSES,
    JsonError,
    UnreadableStatement,
    canonicalize,
    digest_of,
    from_dsse_json,
    parse,
    parse_statement,
    read_payload,
    require_canonical,
)
from capability_authority.offline.upstream import ActionEnvelopeRefused, read_signed_envelope_json
from capability_authority_conformance.golden.payload_fuzz import verdicts
from tests.typescript.mutations import Question, mutated_documents, mutated_payloads, mutated_statements

pytestmark = pytest.mark.timeout(1_200)  # For many.

COUNT = int(os.environ.get("CAPABILITY_AUTHORITY_MUTATIONS", "1000"))
"""Of each kind of mutation. For many, set it: 100000 takes minutes."""
SEED = int(os.environ.get("CAPABILITY_AUTHORITY_MUTATIONS_SEED", "1"))


def test_d13_e11_i14_both_languages_say_the_same_of_payloads(node: str, typescript_client: Path) -> None:
    _require_same(node, typescript_client, mutated_payloads(SEED, 2 * COUNT))


def test_both_languages_say_the_same_of_the_payloads_that_every_language_is_asked_about(
    node: str, typescript_client: Path
) -> None:
    published = (Question(it["payload_type"], bytes.fromhex(it["payload"])) for it in verdicts(SEED, COUNT))
    _require_same(node, typescript_client, published)


def test_both_languages_say_the_same_of_statements_and_json(node: str, typescript_client: Path) -> None:
    questions = chain(mutated_statements(SEED, COUNT), mutated_documents(SEED, 2 * COUNT))
    _require_same(node, typescript_client, questions)


def _require_same(node: str, client: Path, questions: Iterable[Question]) -> None:
    asked = list(questions)
    command = [node, str(client / "dist" / "test" / "judge.js")]
    lines = "".join(question.line() for question in asked)
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True, timeout=600)
    answers = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
    assert len(answers) == len(asked)
    expected = [judge(question) for question in asked]
    differing = [it for it in zip(asked, expected, answers, strict=True) if it[1] != it[2]]
    assert not differing, differing[:5]
    # Mutations that nobody took, or that everybody took, would show nothing.
    taken = sum(_is_taken(answer) for answer in answers)
    assert len(asked) // 20 < taken < len(asked) * 19 // 20


def _is_taken(answer: str) -> bool:
    return len(answer) == hashlib.sha256().digest_size * 2


def judge(question: Question) -> str:
    """What Python says: the digest of what was read, or the word and place of the refusal."""
    try:
        return _read(question)
    except JsonError as error:
        return error.problem if error.path is None else f"{error.problem} {error.path}"
    except UnreadableStatement as error:
        return f"{error.problem} {error.path}".strip()


def _read(question: Question) -> str:
    kind, data = question
    match kind:
        case "json":
            return _digest(canonicalize(parse(data)))
        case "content":
            return _digest(canonicalize(require_canonical(data)))
        case "statement":
            return digest_of(parse_statement(data)).hex()
        case "dsse_json":
            return digest_of(from_dsse_json(data)).hex()
        case "envelope":
            return _envelope(data)
        case _:
            message = read_payload(kind, data, PAYLOAD_CLASSES[kind])
            return _digest(canonicalize(MessageToDict(message)))


def _envelope(data: bytes) -> str:
    read = read_signed_envelope_json(data)
    if isinstance(read, ActionEnvelopeRefused):
        return " ".join([read.code, *(f"{issue.path} {issue.code}" for issue in read.issues)])
    return _digest(read.canonical or b"")


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
