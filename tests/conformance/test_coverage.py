"""The suites leave out nothing that can be tried: every RPC, reason, spoiled proof, principal and ADR-328 test."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from capability_authority_conformance.contract import TENANTS, principal_names
from capability_authority_conformance.error_table import error_table
from capability_authority_conformance.target.rpcs import rpc_named, rpc_names
from capability_authority_conformance.v1.suite_pb2 import Call, Case, Procedure, SpoiledProof, Step
from capability_authority_conformance.written.reading import data_folder, read_suites

SUITES = [written.suite for written in read_suites(data_folder("suites"))]
CASES = {f"{suite.name}/{case.name}": case for suite in SUITES for case in suite.cases}
PROCEDURES = {procedure.name: procedure for suite in SUITES for procedure in suite.procedures}
UNTRIED_RPCS: frozenset[str] = frozenset()
"""None: a new RPC has cases, or stands here with the reason why not."""


def calls_of(steps: Iterable[Step]) -> Iterator[Call]:
    """Every call of the steps, those of procedures among them."""
    for step in steps:
        if step.HasField("call"):
            yield step.call
        elif step.HasField("use"):
            yield from calls_of(PROCEDURES[step.use.procedure].steps)


def words_of(written: Any) -> Iterator[str]:
    """Every text of a document, and within each the names that it refers to as `${name}` or `${name.member}`."""
    if isinstance(written, dict):
        for name, member in written.items():
            yield name
            yield from words_of(member)
    elif isinstance(written, list):
        for item in written:
            yield from words_of(item)
    elif isinstance(written, str):
        yield written
        yield from re.findall(r"\$\{([a-z-]+)[.}]", written)


WORDS = {word for suite in SUITES for word in words_of(MessageToDict(suite))}


def calls() -> Iterator[Call]:
    for case in CASES.values():
        yield from calls_of(case.steps)


def test_every_adr_328_test_has_a_case() -> None:
    covered = {cover for case in CASES.values() for cover in case.covers}
    missing = [number for number in range(1, 16) if f"ADR-328 test {number}" not in covered]
    assert not missing


def test_every_reason_has_a_case() -> None:
    assert not {reason.lower().replace("_", "-") for reason in error_table()} - {
        name.removeprefix("errors/") for name in CASES
    }


def test_a_reason_that_is_tried_is_expected_somewhere() -> None:
    expected = {answer.outcome for call in calls() for answer in call.expect}
    untried = {name.removeprefix("errors/") for name, case in CASES.items() if case.not_yet}
    missing = {reason for reason in error_table() if reason.lower().replace("_", "-") not in untried} - expected
    assert not missing


def test_every_rpc_is_called() -> None:
    called = {rpc.path for call in calls() if (rpc := rpc_named(call.rpc))}
    untried = {rpc.name for name in rpc_names() if (rpc := rpc_named(name)) and rpc.path not in called}
    assert untried == UNTRIED_RPCS


def test_every_way_to_spoil_a_proof_is_tried() -> None:
    tried = {call.proof for call in calls()}
    assert {SpoiledProof.Name(proof) for proof in SpoiledProof.values() if proof not in tried} == set()


def test_every_procedure_is_used() -> None:
    used = {step.use.procedure for each in _all_steps() for step in each}
    assert not PROCEDURES.keys() - used


@pytest.mark.parametrize("name", sorted(principal_names()))
def test_every_principal_of_the_set_up_is_needed(name: str) -> None:
    assert name in WORDS


def test_every_memory_namespace_of_the_set_up_is_needed() -> None:
    spaces = {space.name for tenant in TENANTS for space in tenant.memory_namespaces}
    assert not spaces - WORDS


def _all_steps() -> Iterator[Iterable[Step]]:
    told: Iterable[Case | Procedure] = (*CASES.values(), *PROCEDURES.values())
    return (each.steps for each in told)
