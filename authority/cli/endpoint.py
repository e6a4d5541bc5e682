"""How the other commands find an embedded authority: by a file in its data folder that is there while it is served."""

import contextlib
import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import SecretStr, TypeAdapter, ValidationError

from authority.cli.failures import Refused
from authority.config import OperatorSettings, Settings
from authority.embedded.private_files import open_private, put_in_place

DEFAULT_DATA = Path(".authority")
"""The data folder of who names none."""

_FILE = "endpoint.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a served embedded authority is. Holds passwords: its file is for its owner alone."""

    pid: int
    target: str
    """Where the service listens, as a gRPC target."""
    issuer: str
    audience: str
    admin_database_url: str
    """Empty for a service that was not told: only an embedded one always knows."""
    redis_url: str
    keys: str
    metrics: str = ""
    """The URL at which metrics are shown; empty when they are not."""

    def operator_settings(self) -> OperatorSettings:
        """What an operator's command needs of it."""
        return OperatorSettings(
            admin_database_url=SecretStr(self.admin_database_url),
            keys=Path(self.keys),
            issuer=self.issuer,
            audience=self.audience,
            listen=self.target,
        )


_ENDPOINT = TypeAdapter(Endpoint)


def endpoint_of(settings: Settings, port: int, metrics: str = "") -> Endpoint:
    """The endpoint of a service of these settings that listens on the port, and shows metrics at the URL."""
    address, admin = settings.listen, settings.admin_database_url
    return Endpoint(
        pid=os.getpid(),
        target=address if address.startswith("unix:") else f"{address.rpartition(':')[0]}:{port}",
        issuer=settings.issuer,
        audience=settings.audience,
        admin_database_url=admin.get_secret_value() if admin else "",
        redis_url=settings.redis_url.get_secret_value(),
        keys=str(settings.keys),
        metrics=metrics,
    )


@contextlib.contextmanager
def published(data: Path, endpoint: Endpoint) -> Iterator[None]:
    """Keeps the endpoint's file, mode 0600, in the data folder for as long as the block lasts."""
    draft = data / f"{_FILE}.new"
    with os.fdopen(open_private(draft, os.O_WRONLY | os.O_TRUNC), "w", encoding="utf-8") as file:
        json.dump(asdict(endpoint), file, indent=2)
        file.write("\n")
    put_in_place(draft, data / _FILE)
    try:
        yield
    finally:
        (data / _FILE).unlink(missing_ok=True)


def is_served(data: Path) -> bool:
    """Whether an authority is served from the folder. Raises Refused when its file is damaged."""
    try:
        return _lives(_read(data).pid)
    except FileNotFoundError:
        return False


def find_endpoint(data: Path) -> Endpoint:
    """The endpoint of the authority that is served from the folder. Raises Refused when none is."""
    try:
        endpoint = _read(data)
    except FileNotFoundError:
        endpoint = None
    if endpoint is None or not _lives(endpoint.pid):
        raise Refused(not_served(data))
    return endpoint


def not_served(data: Path) -> str:
    """The sentence for who asks an authority that is not there."""
    place = "" if data == DEFAULT_DATA else f" --data {data}"
    return f"no authority is served from {data}: start one by `authority serve{place}`"


def _read(data: Path) -> Endpoint:
    try:
        return _ENDPOINT.validate_json((data / _FILE).read_bytes())
    except ValidationError as error:
        raise Refused(f"{data / _FILE} is of another version or damaged: serve {data} again") from error


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
