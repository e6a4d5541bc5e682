"""What is no set-up document is refused by the path of each field, before any authority is asked."""

import json
from pathlib import Path
from typing import Any

import pytest

from authority.cli.failures import Refused
from authority.cli.provision.document import DOCUMENT_BYTES, SetUp
from authority.cli.provision.problems import problems_of
from tests.installation.set_ups import set_up, written
from tests.unit.cli.running import ran

WEAK = "01" + "00" * 31
"""The neutral point of the curve: everybody can sign by it (case E03)."""

ABSENT = object()
BAD = [
    (("memorynamespaces",), [], "tenants[0].memorynamespaces: Extra inputs"),
    (("id",), "two words", "tenants[0].id: must be ASCII"),
    (("memoryNamespaces", 1, "mode"), "MODE_UNSPECIFIED", "tenants[0].memoryNamespaces[1].mode: must be one of MODE_L"),
    (("memoryNamespaces", 1, "policy"), ABSENT, "tenants[0].memoryNamespaces[1].policy: Field required"),
    (("memoryNamespaces", 1, "name"), "open", "tenants[0].memoryNamespaces[1]: open stands here twice"),
    (("principals", 0, "kind"), "robot", "tenants[0].principals[0].kind: Input should be 'user'"),
    (("principals", 0, "rights"), ["read", "rule"], "tenants[0].principals[0].rights[1]: Input should be 'propose'"),
    (("principals", 0, "rights"), ["issue"], "principals[0].rights[0]: a principal of kind agent can never issue"),
    (("principals", 0, "publicKey"), "abc", "tenants[0].principals[0].publicKey: String should match"),
    (("principals", 0, "publicKey"), WEAK, "tenants[0].principals[0]: the public key is refused"),
    (("principals", 1, "proof"), "00" * 64, "tenants[0].principals[1]: the proof is no signature"),
    (("principals", 1, "name"), "agent", "tenants[0].principals[1]: agent stands here twice"),
    (("principals", 1, "keyAliases"), ["SHA256:it"], "tenants[0].principals[1].keyAliases[0]: must be at most"),
    (
        ("principals", 1, "keyAliases"),
        ["bad.agent"],
        "tenants[0].principals.keyAliases[1]: bad.agent stands here twice",
    ),
    (("principals", 2, "keyAliases"), ["dead"], "tenants[0].principals[2].keyAliases: it is revoked"),
    (("principals", 2, "revoked"), "yes", "tenants[0].principals[2].revoked: Input should be a valid boolean"),
    (("memoryNamespaces", 4, "privileged"), 1, "tenants[0].memoryNamespaces[4].privileged: Input should be a valid"),
    (("memberships", 0, "scope"), "club", "tenants[0].memberships[0].scope: Input should be 'channel'"),
    (("memberships", 0, "members"), ["nobody"], "members[0]: no principal of this tenant has the name nobody"),
    (("memberships", 0, "members"), ["gone"], "tenants[0].memberships[0].members[0]: gone is revoked"),
]


def changed(tenant: Any, path: tuple[str | int, ...], value: object) -> Any:
    """The tenant with another value at the path, or none."""
    *way, last = path
    place = tenant
    for step in way:
        place = place[step]
    if value is ABSENT:
        del place[last]
    else:
        place[last] = value
    return tenant


@pytest.mark.parametrize(("path", "value", "problem"), BAD, ids=[problem for _, _, problem in BAD])
def test_what_is_wrong_is_named_by_its_path(
    path: tuple[str | int, ...], value: object, problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tenant = changed(set_up("bad"), path, value)

    refused = ran(capsys, "provision", written(tmp_path, tenant), "--data", str(tmp_path))

    assert (refused.code, refused.out) == (1, "")
    assert problem in refused.err
    assert "is no set-up that can be made, and nothing was:" in refused.err


def test_everything_that_is_wrong_is_named_at_once(tmp_path: Path) -> None:
    tenant = set_up("bad")
    tenant["principals"][0]["kind"] = "robot"
    tenant["memoryNamespaces"][0]["mode"] = "ENFORCE"

    with pytest.raises(Refused) as refused:
        SetUp.read(Path(written(tmp_path, tenant)))

    assert "memoryNamespaces[0].mode" in str(refused.value)
    assert "principals[0].kind" in str(refused.value)


def test_a_refusal_steers_no_terminal_and_has_an_end(tmp_path: Path) -> None:
    file = tmp_path / "setup.json"
    file.write_bytes(b'{"\\u001b[31m\\nmade 1": 1, "tenants": [' + b"0," * 100_000 + b"0]}")

    with pytest.raises(Refused) as refused:
        SetUp.read(file)

    lines = str(refused.value).splitlines()
    assert len(lines) == 22
    assert lines[-1] == "  and 99,982 more"
    assert all(line.isprintable() for line in lines)


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{", b'{"tenants": 1}', b"null", b'{"tenants": []', b"\xff\xfe", b"[" * 100_000]
)
def test_what_is_no_document_is_refused(data: bytes, tmp_path: Path) -> None:
    file = tmp_path / "setup.json"
    file.write_bytes(data)

    with pytest.raises(Refused, match="is no set-up"):
        SetUp.read(file)


def test_a_name_that_stands_twice_in_one_object_is_refused(tmp_path: Path) -> None:
    file = Path(written(tmp_path, set_up("twice")))
    file.write_text(file.read_text(encoding="utf-8").replace('"kind": "agent"', '"kind": "admin", "kind": "agent"'))

    with pytest.raises(Refused, match="kind: stands twice in one object"):
        SetUp.read(file)


def test_a_document_over_the_limit_is_not_read(tmp_path: Path) -> None:
    file = tmp_path / "setup.json"
    file.write_bytes(b" " * (DOCUMENT_BYTES + 1))

    with pytest.raises(Refused, match="more than 1,048,576 bytes"):
        SetUp.read(file)


def test_names_of_the_proto_file_and_of_its_json_are_read_alike(tmp_path: Path) -> None:
    camel = set_up("alike")
    snake = json.loads(
        json.dumps(camel).replace("memoryNamespaces", "memory_namespaces").replace("publicKey", "public_key")
    )

    assert SetUp.read(Path(written(tmp_path, camel))) == SetUp.read(Path(written(tmp_path, snake)))
    assert problems_of(SetUp.read(Path(written(tmp_path, camel)))) == []
