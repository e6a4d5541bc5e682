"""Every service of the contract is named where import-linter keeps its messages and stubs in their room."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = ROOT / "clients/python/src/capability_authority/v1"


def test_every_service_of_the_contract_is_protected() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    protected = {module for contract in contracts for module in contract.get("protected_modules", ())}

    services = {f"capability_authority.v1.{file.stem}" for file in GENERATED.glob("*_service_pb2*.py")}

    assert services
    assert services - protected == set()
