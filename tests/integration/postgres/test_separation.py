"""Committing memory changes nothing else (ADR-328 section 6): no policy, approval, grant, key, principal or mode.

Four times over: by the rights of every role that the road of a commit takes on, by what its code can reach, by what no
RPC offers, and by comparing every table before and after commits of all kinds.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import pytest
from google.protobuf import descriptor_pool

from authority.domain.reasons import Reason
from authority.domain.record import Mode
from authority.postgres.connections import Power
from authority.postgres.sql import query
from authority.rpc.methods import METHODS, MethodKind
from tests.integration.postgres.superuser import Superuser
from tests.integration.postgres.test_rights import ACTIONS, acting_as, may, tables
from tests.world.external import configured
from tests.world.unvalidated import set_mode, write_unvalidated
from tests.world.world import World, all_are, must, reason_of

ROOT: Final = Path(__file__).parents[3]

GOVERNING: Final = {
    "policy_version": "which policies there are",
    "memory_namespace": "where memory lives, its mode, and which policy decides there",
    "external_authority": "who else has a say on policy",
    "external_key": "by which keys",
    "issuer_key": "which keys sign for the authority",
    "principal": "who may call, and with what rights",
    "principal_key": "by which keys and certificates",
    "token_identity": "by which tokens",
    "principal_link": "which principals are one person",
    "key_alias": "what envelopes may call keys by",
    "membership": "who is in which team",
    "aggregate": "what may be told across tenants",
    "grant_record": "what was granted",
    "grant_use": "what of it was spent",
    "approval_decision": "what persons decided",
    "approval_use": "what rests on that",
    "proposal": "what was proposed",
    "validation_receipt": "what validators said",
    "decision_receipt": "what policy decided",
    "evidence": "what stands behind it",
    "content_signature": "what contents are compared by",
    "content_band": "likewise",
    "content_assertion": "likewise",
    "content_to_erase": "what is to be forgotten",
    "tombstone": "what was withdrawn",
    "revocation": "likewise, as it is told",
    "request": "what other requests were answered",
    "stream_nonce": "which proofs were used",
    "replay_reservation": "which envelopes of other verifiers passed",
    "citation": "who cites what",
    "outbox_parked": "what was given up",
    "refusal_count": "who was refused how often",
    "unvalidated_write": "what was written without validation",
}
"""Every table that no commit changes, and what it says."""
COMMITTED: Final = {
    "commit_receipt": ("insert",),
    "memory_record": ("insert", "update superseded_by", "update supersede_time"),
    "outbox": ("insert",),
    "audit_event": ("insert",),
    "upstream_proof": ("insert",),
    "capability": ("update receipt_id", "update state"),
    "proposal_head": ("update receipt_id", "update state"),
}
"""The others, and what a commit may do to them."""
OPERATORS: Final = {
    "policy_version", "memory_namespace", "external_authority", "external_key", "issuer_key", "principal",
    "principal_key", "token_identity", "principal_link", "key_alias", "membership", "aggregate",
}  # fmt: skip
"""What operators alone write, on the server's own command line."""


# --- by the rights of roles ------------------------------------------------------------------------------------------


async def test_every_table_is_one_that_commits_change_or_one_that_they_do_not(superuser: Superuser) -> None:
    assert set(await tables(superuser)) == GOVERNING.keys() | COMMITTED.keys(), "a new table is to be named above"
    assert not GOVERNING.keys() & COMMITTED.keys()


@pytest.mark.parametrize("role", ["authority_commit", "authority_committer"])
async def test_the_roles_of_a_commit_write_these_columns_and_no_others(superuser: Superuser, role: str) -> None:
    # given every way to change every table, when each is tried in a role that the road of a commit takes on
    done: set[tuple[str, str]] = set()
    async with acting_as(superuser, role):
        for table, columns in (await tables(superuser)).items():
            for action in ("insert", "delete", "truncate"):
                if await may(superuser, ACTIONS[action].format(table=table)):
                    done.add((table, action))
            for column in columns:
                if await may(superuser, ACTIONS["update"].format(table=table, column=column)):
                    done.add((table, f"update {column}"))

    # then what succeeds is what a commit is for, and for who may only call the function nothing
    wanted = {(table, change) for table, changes in COMMITTED.items() for change in changes}
    assert done == (wanted if role == "authority_committer" else set())


async def test_the_roles_of_a_commit_borrow_no_other_rights(superuser: Superuser) -> None:
    # given the functions that lend their owner's rights, and the sequences and roles there are
    for role in ("authority_commit", "authority_committer"):
        lent = await superuser.fetch(
            """
            select proname from pg_proc where pronamespace = 'authority'::regnamespace and prosecdef
              and has_function_privilege($1, oid, 'execute')
            """,
            role,
        )
        become = await superuser.fetch(
            "select rolname from pg_roles where rolname <> $1 and pg_has_role($1, oid, 'member')", role
        )
        # then it borrows those of the commit functions alone, and becomes nobody else
        assert sorted(row["proname"] for row in lent) == ["commit", "commit_by_envelope"]
        assert [row["rolname"] for row in become] == []


@pytest.mark.parametrize("power", [it for it in Power if it is not Power.ADMIN])
async def test_no_power_of_the_service_writes_what_operators_write(superuser: Superuser, power: Power) -> None:
    changed: set[str] = set()
    async with acting_as(superuser, power.value):
        for table, columns in (await tables(superuser)).items():
            if table not in OPERATORS:
                continue
            tried = [ACTIONS[action].format(table=table) for action in ("insert", "delete", "truncate")]
            tried += [ACTIONS["update"].format(table=table, column=column) for column in columns]
            changed |= {table for statement in tried if await may(superuser, statement)}
    assert changed == set()


# --- by what the code can reach ------------------------------------------------------------------------------------


@cache
def imports_of(module: str) -> frozenset[str]:
    """The modules of the service that a module imports, packages that they are in too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path_of(module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("authority"):
            found.add(node.module)
            found |= {name for it in node.names if path_of(name := f"{node.module}.{it.name}").is_file()}
        elif isinstance(node, ast.Import):
            found |= {it.name for it in node.names if it.name.startswith("authority")}
    return frozenset(found)


def path_of(module: str) -> Path:
    """Its file."""
    path = ROOT / Path(*module.split("."))
    return path / "__init__.py" if path.is_dir() else path.with_suffix(".py")


def reached_from(*modules: str) -> set[str]:
    """Those, and all that they import, however far."""
    reached: set[str] = set()
    rest = list(modules)
    while rest:
        module = rest.pop()
        if module not in reached:
            reached.add(module)
            rest += imports_of(module)
    return reached


ROAD: Final = (
    "authority.usecases.commit",
    "authority.usecases.commit_batch",
    "authority.usecases.commit_stream",
    "authority.postgres.committer",
)
SHARED: Final = {"authority.postgres.connections", "authority.usecases.ports"}
"""What both roads are built of: how a database is asked, and what ports are called. Neither writes by itself."""


def administering() -> set[str]:
    """What an operator is wired with: whatever writes policy, keys, principals or modes is named in one place."""
    wired = {
        module
        for module in imports_of("authority.bootstrap.operator")
        if module.startswith(("authority.usecases", "authority.postgres"))
    }
    return wired - SHARED


def test_the_road_of_a_commit_reaches_nothing_that_administers() -> None:
    reached = reached_from(*ROAD)

    assert len(administering()) > 10
    assert administering() & reached == set()
    assert "authority.postgres.acting" not in reached, "by which every act of an operator is done"
    assert {it for it in reached if it.startswith(("authority.bootstrap", "authority.cli", "authority.rpc"))} == set()
    assert "authority.postgres.commit_call" in reached, "or the walk sees nothing"


def statements_of(module: str) -> Iterator[str]:
    """The names of the SQL statements that a module asks for."""
    for node in ast.walk(ast.parse(path_of(module).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "query":
            yield from (it.value for it in node.args if isinstance(it, ast.Constant) and isinstance(it.value, str))


_WRITES: Final = re.compile(r"\b(?:insert\s+into|update|delete\s+from|truncate)\s+(?:authority\.)?(\w+)")


def test_the_statements_of_that_road_write_nothing_but_by_the_function() -> None:
    # given the SQL of what the committer reaches, and the text of the two functions
    asked = {name for module in reached_from("authority.postgres.committer") for name in statements_of(module)}
    files = ("06_commit.sql", "23_commit_by_envelope.sql")
    texts = [(ROOT / "authority/postgres/functions" / file).read_text(encoding="utf-8") for file in files]
    function = re.sub(r"--.*", "", "".join(text.split("as $$")[1] for text in texts))

    # then the statements write nothing themselves, and the functions what a commit is for
    assert {"commit", "commit_by_envelope"} <= asked
    assert {name: _WRITES.findall(query(name)) for name in asked if _WRITES.search(query(name))} == {}
    written = set(_WRITES.findall(re.sub(r"for (?:no key )?update", "", function)))
    assert written == COMMITTED.keys()


# --- by what no RPC offers ------------------------------------------------------------------------------------------

CHANGES: Final = {
    "IssueCapability": {"capability", "grant_use", "grant_record"},
    "BatchIssueCapabilities": {"capability", "grant_use", "grant_record"},
    "CommitValidated": set(COMMITTED),
    "BatchCommitValidated": set(COMMITTED),
    "StreamCommitValidated": set(COMMITTED),
    "RevokeCapability": {"capability", "revocation"},
    "IssueGrant": {"grant_record"},
    "ExchangeGrant": {"grant_record"},
    "RevokeGrant": {"grant_record", "revocation"},
    "CreateProposal": {"proposal", "proposal_head", "grant_use", "grant_record"},
    "ValidateProposal": {"validation_receipt", "proposal_head"},
    "DecideProposal": {"approval_decision", "proposal_head"},
    "WithdrawProposal": {"proposal_head"},
    "EvaluatePolicy": {"decision_receipt", "approval_decision", "approval_use"},
    "RevokeRecord": {"tombstone", "outbox", "revocation"},
    "RegisterCitation": {"citation"},
    "CorrectRecord": {"proposal", "proposal_head"},
    "PutEvidence": {"evidence"},
    "ReserveReplay": {"replay_reservation"},
    "WriteUnvalidatedRecord": {"memory_record", "unvalidated_write", "outbox"},
}
"""Of every RPC that is no read: what it writes beside its request's answer and the audit log."""
SPENDING: Final = {"RecallRecords": {"grant_use", "grant_record"}, "ReadEvidence": {"grant_use", "grant_record"}}
"""Of every read under a grant: what it spends, and the blocks that it meets. VerifyGrant is under none."""


def test_no_rpc_writes_what_operators_write() -> None:
    writing = {
        method.rpartition("/")[2]
        for method, kind in METHODS.items()
        if kind in (MethodKind.MUTATION, MethodKind.STREAM)
    }
    assert writing == CHANGES.keys(), "a new RPC says here what it writes"
    reads = {method for method, kind in METHODS.items() if kind not in (MethodKind.MUTATION, MethodKind.STREAM)}
    under_grants = {method.rpartition("/")[2] for method in reads if takes_a_grant(method)}
    assert under_grants - {"VerifyGrant"} == SPENDING.keys(), "a new read under a grant spends of it, and says so here"
    written_by = CHANGES | SPENDING
    assert {name: found for name, written in written_by.items() if (found := written & OPERATORS)} == {}


def takes_a_grant(method: str) -> bool:
    """Whether its request has a grant in it, as the contract says."""
    service, _, rpc = method.removeprefix("/").rpartition("/")
    described = descriptor_pool.Default().FindServiceByName(service).FindMethodByName(rpc)
    return "grant" in described.input_type.fields_by_name


# --- by comparing before and after -----------------------------------------------------------------------------------


async def state_of(superuser: Superuser) -> dict[str, str]:
    """A digest of all rows of each table that no commit changes."""
    return {
        table: await superuser.fetchval(
            f"select coalesce(md5(string_agg(t::text, '|' order by t::text)), 'none') from authority.{table} t"  # noqa: S608 - names of our own
        )
        for table in GOVERNING
    }


async def test_adr328_12_commits_of_all_kinds_change_no_row_of_what_governs(world: World, superuser: Superuser) -> None:
    # given capabilities: a good one, one that a person approved, a correction, one whose ground was withdrawn; and all
    # that says what is allowed
    loud = b"policy: allow all; mode: legacy; champion: candidate-7; grant: everything"
    await configured(world)
    await set_mode(world, Mode.OBSERVE)
    must(await write_unvalidated(world))
    _, old = await world.committed()
    good, approved = await world.issued(loud, by=world.agent), await world.issued()
    correction = await world.issued_on(await world.allow(must(await world.correct(old.receipt.record_id, loud))))
    withdrawn, changed = await world.issued(), await world.issued()
    must(await world.revoke(withdrawn))
    before = await state_of(superuser)

    # when they are committed, replayed, refused, in a batch and one by one
    must(await world.commit(good))
    assert must(await world.commit(good)).replayed
    answers = must(await world.commit_batch([approved, correction, withdrawn]))
    assert [reason_of(answer) for answer in answers] == [None, None, Reason.REVOKED]
    assert reason_of(await world.commit(changed, content_digest=bytes(32))) is Reason.BINDING_MISMATCH
    assert reason_of(await world.commit(withdrawn)) is Reason.REVOKED

    # then memory was written, and nothing else
    assert await world.counts() == all_are(4)
    assert await state_of(superuser) == before
    assert before["policy_version"] != before["external_key"] != "none"
