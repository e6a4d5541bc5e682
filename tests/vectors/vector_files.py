"""Where vectors lie: our own beside this file, published ones outside the repository."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
REPOSITORY = HERE.parent.parent
SHARED = Path(os.environ.get("AUTHORITY_SHARED_VECTORS", REPOSITORY.parent / "shared" / "vectors"))


def own(name: str) -> Any:  # whatever the file holds
    """A JSON file of vectors that this repository holds."""
    return json.loads((HERE / name).read_text(encoding="utf-8"))


def published(name: str) -> Path:
    """A file of published vectors; skips the test where they are absent."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"the published vectors {name} are not here: set AUTHORITY_SHARED_VECTORS to the folder of them")
    return path
