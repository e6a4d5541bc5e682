"""Settings, typed and validated once: `AUTHORITY_…` in the environment wins over the file AUTHORITY_CONFIG names."""

import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeVar

from pydantic import Field, SecretStr, ValidationError, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from authority.config_reading import CONFIG_FILE, SettingsError, given, secret_names, sentence, strange_variables

__all__ = [
    "MOST_WORKERS",
    "OperatorSettings",
    "Setting",
    "Settings",
    "SettingsError",
    "TokenSettings",
    "load_operator_settings",
    "load_settings",
    "load_token_settings",
    "names_a_database",
    "settings_in_effect",
    "unknown_variables",
]

_ID = r"^[A-Za-z0-9][A-Za-z0-9._:@+/-]{0,255}$"  # Rust: matches at the very end only
_PORT = 65_535
_NOWHERE = {"database_url": "postgresql://", "redis_url": "redis://"}

MOST_WORKERS: Final = 64
"""Processes that one command serves by."""


def is_tcp_address(text: str) -> bool:
    """Whether it is HOST:PORT."""
    # gRPC itself would take port 99999 for 34463.
    host, _, port = text.rpartition(":")
    return bool(host and re.fullmatch("[0-9]{1,5}", port) and int(port) <= _PORT)


class OperatorSettings(BaseSettings):
    """The few settings that an operator's command needs: it runs also where the service does not."""

    model_config = SettingsConfigDict(
        env_prefix="AUTHORITY_",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )

    database_url: SecretStr | None = None
    """Whether the authority has servers of its own, or is embedded."""
    admin_database_url: SecretStr | None = None
    """`postgresql://` URL for `migrate` and the operator's acts: a role that may create roles and schemas."""
    listen: str = "127.0.0.1:50151"
    """`host:port` or `unix:path`; plaintext on loopback only."""
    issuer: str = Field(default="capability-authority", pattern=_ID)
    """Who signs: the issuer named in every statement, which clients pin."""
    audience: str = Field(default="capability-authority", pattern=_ID)
    """Whom capabilities and Invocations must name to be accepted here."""
    keys: Path = Path("keys")
    """Folder with the authority's private keys, mode 0700."""
    profiles: Path | None = None
    """TOML file with validator profiles, and validators that others host, beside those that are built in."""

    @field_validator("database_url", "admin_database_url", check_fields=False)
    @classmethod
    def _is_postgres(cls, url: SecretStr | None) -> SecretStr | None:
        if url is not None and not url.get_secret_value().startswith("postgresql://"):
            raise ValueError("must begin with postgresql://")
        return url

    @field_validator("listen")
    @classmethod
    def _is_address(cls, address: str) -> str:
        if not address.startswith("unix:") and not is_tcp_address(address):
            raise ValueError(f"must be HOST:PORT, with a port of at most {_PORT}, or unix:PATH")
        return address

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic calls it by name
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - pydantic calls it by name
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, environment, file: in this order."""
        file = os.environ.get(CONFIG_FILE)
        sources = (init_settings, env_settings)
        return (*sources, TomlConfigSettingsSource(settings_cls, Path(file))) if file else sources


Chosen = TypeVar("Chosen", bound=OperatorSettings)


class TokenSettings(OperatorSettings):
    """What a look at the token issuers needs."""

    token_issuers: Path | None = None
    """TOML file that names the issuers whose bearer tokens are taken, and their keys; none are when not set."""


class Settings(TokenSettings):
    """What an operator can set. Every one has a default that is right on one machine, but the two servers."""

    model_config = SettingsConfigDict(extra="forbid")

    database_url: SecretStr
    """`postgresql://` URL of a login that may take on the service's roles (authority_service)."""
    redis_url: SecretStr
    """`redis://`, `rediss://` or `unix://` URL."""

    @field_validator("redis_url")
    @classmethod
    def _is_redis(cls, url: SecretStr) -> SecretStr:
        if not url.get_secret_value().startswith(("redis://", "rediss://", "unix://")):
            raise ValueError("must begin with redis://, rediss:// or unix://")
        return url

    tls_certificate: Path | None = None
    """PEM file with the server's certificate chain."""
    tls_private_key: Path | None = None
    """PEM file with its private key, readable by the service alone."""
    tls_client_ca: Path | None = None
    """PEM file with the authorities whose client certificates are taken; every connection must then show one."""
    tls_trust_domains: str | None = None
    """SPIFFE trust domains whose ids in client certificates are taken, with commas between; none when not set."""
    reflection: bool = False
    """Whether clients may ask for the contract over gRPC reflection."""

    workers: int = Field(1, ge=1, le=MOST_WORKERS)
    """Processes that serve behind the one address; more than one needs Linux and HOST:PORT."""
    commit_connections: int = Field(4, ge=1, le=64)
    """Database connections of a process that commit; as many calls of the commit function are under way at once.

    Several workers share the default out among them, at least 2 each; what is set counts for each worker.
    """
    connections: int = Field(8, ge=1, le=64)
    """Database connections of a process for each of proposing, issuing and reading, at most; shared out likewise."""
    clock_bound_ms: int = Field(5_000, ge=100, le=600_000)
    """How far this machine's clock may be off the database's before commits and capabilities are refused."""
    key_refresh_s: float = Field(2.0, gt=0, le=60)
    """How often issuer keys are read again: so long a revoked key may still verify outside of commits."""
    lease_ms: int = Field(10_000, ge=1_000, le=120_000)
    """How long an unfinished commit is seen as running in Redis."""
    replay_ms: int = Field(24 * 3_600_000, ge=1_000)
    """How long a settled receipt is answered from Redis."""
    redis_wait_ms: int = Field(50, ge=1, le=5_000)
    """How long Redis is waited for; commits go on without it."""
    deadline_cap_s: float = Field(30.0, gt=0, le=300)
    """The longest that any call may take, whatever its caller allows."""
    stream_life_s: float = Field(300.0, gt=0, le=300)
    """How long a stream is read from before its client has to open another."""
    streams: int = Field(256, ge=1, le=1_024)
    """Streams open at once in each process, of the 1,024 calls that it serves at once."""
    streams_per_principal: int = Field(16, ge=1, le=1_024)
    """Streams open at once in each process for one principal."""
    connection_age_s: float | None = Field(None, gt=0)
    """After how long a client is sent to connect anew, so that load spreads over replicas; never when not set."""
    drain_s: float = Field(10.0, ge=0, le=300)
    """How long running calls may take to end after SIGTERM."""
    hang_s: float = Field(30.0, ge=1, le=3_600)
    """How long one of several workers may give no sign of life before it is killed and another takes its place."""

    event_stream: str = Field("authority:events", min_length=1, max_length=256)
    """The Redis stream that events are delivered to; `{tenant}` in it makes one for each tenant."""
    event_stream_length: int = Field(100_000, ge=1_000)
    """About how many events a stream keeps; the oldest go when more come, read or not."""
    relay_batch: int = Field(100, ge=1, le=1_000)
    """Events that the relay delivers together."""
    relay_lease_s: float = Field(15.0, ge=1, le=600)
    """So long events wait that a relay had in hand when it died."""
    relay_poll_s: float = Field(1.0, gt=0, le=60)
    """How often the relay looks for events when no notification wakes it."""
    relay_attempts: int = Field(10, ge=1, le=100)
    """How often an event may be refused before it is parked."""
    outbox_keep_s: float = Field(7 * 86_400.0, ge=0)
    """How long delivered events stay in the database."""
    metrics_listen: str | None = None
    """`host:port` where Prometheus may ask for metrics, over plain HTTP; port 0 takes a free one. They name no tenant.

    Nowhere when not set, but for an embedded authority, which shows them on a free port of 127.0.0.1. Several workers
    have one address, their parent's, and a label `worker`.
    """
    otlp_endpoint: str | None = None
    """`http://` or `https://` URL of a collector that takes spans and metrics by OTLP over gRPC, such as port 4317.

    OpenTelemetry's own variables say what else there is to say, and OTEL_EXPORTER_OTLP_ENDPOINT does as well.
    """

    @field_validator("tls_trust_domains")
    @classmethod
    def _are_trust_domains(cls, domains: str | None) -> str | None:
        if domains is not None and not re.fullmatch(r"[a-z0-9._-]+(,[a-z0-9._-]+)*", domains):
            raise ValueError("must be trust domains as in harbour.example, with commas and nothing else between")
        return domains

    @field_validator("metrics_listen")
    @classmethod
    def _is_tcp_address(cls, address: str | None) -> str | None:
        if address is not None and not is_tcp_address(address):
            raise ValueError(f"must be HOST:PORT, with a port of at most {_PORT}")
        return address

    @field_validator("otlp_endpoint")
    @classmethod
    def _is_collector(cls, url: str | None) -> str | None:
        if url is not None and not re.fullmatch(r"https?://[^/\s]+/?", url):
            raise ValueError("must be http://HOST:PORT or https://HOST:PORT, without a path")
        return url

    log_format: Literal["console", "json"] = "console"
    """How logs are written to standard error."""
    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """What is logged at least."""


class _WithOrWithoutDatabase(OperatorSettings):
    database_url: SecretStr | None = None


def load_settings(**overrides: object) -> Settings:
    """The settings of this process. Raises SettingsError, whose message names each variable and the remedy."""
    return _load(Settings, overrides)


def load_token_settings() -> TokenSettings:
    """Which file names the token issuers. Raises SettingsError as `load_settings`."""
    return _load(TokenSettings, {})


def load_operator_settings() -> OperatorSettings:
    """The operator's settings of this process. Raises SettingsError as `load_settings`."""
    return _load(OperatorSettings, {})


def names_a_database() -> bool:
    """Whether the service is told which PostgreSQL to use. Raises SettingsError as `load_settings`."""
    return _load(_WithOrWithoutDatabase, {}).database_url is not None


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as it is in effect."""

    name: str
    value: str | int | float | bool | None
    """None when it is not set. Of a secret no more than that it is."""
    origin: str
    is_secret: bool


def settings_in_effect(shared_out: "Callable[[Settings], Settings]") -> Iterator[Setting]:
    """Every setting of this process, in the order of this file. Raises SettingsError as `load_settings`.

    The two servers may be missing, as they are for an embedded authority. `shared_out` gives each of several workers
    its part of what is theirs together.
    """
    where, secrets = given(Settings.model_fields), secret_names(Settings.model_fields)
    missing = {name: url for name, url in _NOWHERE.items() if where.origin(name) == "default"}
    whole = load_settings(**missing)
    each = shared_out(whole)
    for name in Settings.model_fields:
        value, origin = getattr(each, name), where.origin(name)
        if value != getattr(whole, name):
            origin += f", shared out among {whole.workers} workers"
        is_set = value is not None and name not in missing
        shown = value if isinstance(value, bool | int | float | None) else str(value)
        yield Setting(name, shown if is_set else None, origin, name in secrets)


def unknown_variables() -> list[tuple[str, str]]:
    """Variables AUTHORITY_… of the environment that nothing listens to, each with the one that was likely meant."""
    return list(strange_variables(Settings.model_fields))


def _load(kind: type[Chosen], overrides: dict[str, object]) -> Chosen:
    where = given(Settings.model_fields)
    secrets: dict[str, Any] = {name: text for name, text in where.secrets.items() if name in kind.model_fields}
    try:
        return kind(**{**secrets, **overrides})
    except ValidationError as error:
        details = error.errors()
        raise SettingsError("\n".join(sentence(detail, Settings.model_fields, where) for detail in details)) from None
