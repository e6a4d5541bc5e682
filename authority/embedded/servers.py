"""Both servers of one data folder together."""

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from authority.embedded.postgres_server import PostgresServer, start_postgres
from authority.embedded.valkey_server import ValkeyServer, start_valkey


class EmbeddedServers:
    """A running PostgreSQL and Valkey; `with EmbeddedServers.start(folder) as servers:` stops them at the end."""

    def __init__(self, postgres: PostgresServer, valkey: ValkeyServer) -> None:
        self.postgres = postgres
        self.valkey = valkey

    @classmethod
    def start(
        cls,
        data: Path,
        *,
        postgres_settings: Mapping[str, str] | None = None,
        valkey_settings: Mapping[str, str] | None = None,
        postgres_port: int | None = None,
        valkey_port: int | None = None,
    ) -> Self:
        """Start both on a data folder, made if missing; a folder used before is found with its data and passwords.

        Raises:
            EmbeddedError: As `start_postgres` and `start_valkey` do; neither server is left running.
        """
        valkey = start_valkey(data, settings=valkey_settings, port=valkey_port)
        try:
            postgres = start_postgres(data, settings=postgres_settings, port=postgres_port)
        except BaseException:
            valkey.stop()
            raise
        return cls(postgres, valkey)

    @property
    def postgres_url(self) -> str:
        """For the superuser, to the database `postgres`."""
        return self.postgres.url

    @property
    def redis_url(self) -> str:
        """For the default user, to database 0."""
        return self.valkey.url

    def stop(self) -> None:
        """Stop both in order; nothing for one that is stopped."""
        try:
            self.postgres.stop()
        finally:
            self.valkey.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
