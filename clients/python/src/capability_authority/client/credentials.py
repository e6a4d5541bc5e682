"""Who calls, with which key, and which authority it trusts: one file, made by `authority principals add --out`."""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NamedTuple, Self, TypeAlias

from capability_authority.client.channel import ClientCertificate, TlsRoots
from capability_authority.client.private_files import FileExposed, read_private_file, write_private_file
from capability_authority.offline import JsonError, JsonValue, KeyRefused, PrivateKey, parse

__all__ = [
    "ENVIRONMENT_NAME",
    "BearerToken",
    "Credentials",
    "CredentialsExposed",
    "CredentialsRefused",
    "Reference",
    "TokenFile",
]

ENVIRONMENT_NAME: Final = "AUTHORITY_CREDENTIALS"
"""The environment variable that holds the path of a credentials file."""

_VERSION: Final = 1
_MOST_BYTES: Final = 64 * 1024


class CredentialsRefused(ValueError):
    """Credentials that cannot be used. The message says what is wrong with which file and never quotes the key."""


class CredentialsExposed(CredentialsRefused):
    """A credentials file that its group or others have rights on; the message names the remedy."""


@dataclass(frozen=True, slots=True)
class TokenFile:
    """A file that holds a bearer token and is replaced before that expires: read again for every attempt."""

    path: Path

    def __call__(self) -> str:
        """The token. Raises `CredentialsRefused`, `CredentialsExposed`."""
        try:
            return read_private_file(self.path, _MOST_BYTES).decode("ascii").strip()
        except FileExposed as error:
            raise CredentialsExposed(str(error)) from None
        except (OSError, ValueError) as error:
            raise CredentialsRefused(f"no token can be read from {self.path}: {type(error).__name__}") from None


BearerToken: TypeAlias = str | Callable[[], str]
"""A token, or what gives the one that is good now, asked for every attempt."""


def token_now(token: BearerToken) -> str:
    """The token to be sent. Raises `CredentialsRefused` for one that metadata could not carry, without showing it."""
    text = token if isinstance(token, str) else token()
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        raise CredentialsRefused("the bearer token is empty, or holds characters that no token has")
    return text


class Reference(NamedTuple):
    """A tenant or a principal. Equal ids in two namespaces are never the same (semantics §2)."""

    namespace: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What a principal needs to call an authority and to believe its answers."""

    target: str
    """Where the authority listens: "host:port", "[::1]:port" or "unix:PATH"."""
    issuer: str
    """The pinned issuer: only its statements are believed (semantics §3)."""
    audience: str
    """What Invocations and commit capabilities must name to be accepted there."""
    tenant: Reference
    principal: Reference
    private_key: PrivateKey | None = None
    """Registered with the authority for this principal: signs each call. Never shown, logged or sent."""
    tls: TlsRoots | None = None
    """Who may vouch for the server, and what this client shows of itself, which then may sign no calls."""
    bearer_token: BearerToken | None = field(default=None, repr=False)
    """A signed token of an issuer that the authority believes. Sent, over TLS or on this machine; never shown."""
    credential_id: str = ""
    """What capabilities are bound to where nothing is signed: the id of the certificate's registered credential."""

    def __post_init__(self) -> None:
        shows = self.tls is not None and self.tls.client is not None
        if self.private_key is None and not shows and self.bearer_token is None:
            raise CredentialsRefused("there is neither a private key, nor a client certificate, nor a bearer token")

    @property
    def signing_key(self) -> PrivateKey:
        """The private key. Raises `CredentialsRefused` where there is none."""
        if self.private_key is None:
            raise CredentialsRefused("these credentials hold no key that signs")
        return self.private_key

    @property
    def key_id(self) -> str:
        """What binds a holder: the thumbprint of the key, or the id of the certificate's credential.

        "sha256:" and 64 lowercase hexadecimal digits. Raises `CredentialsRefused` for a token, which binds nobody.
        """
        if self.private_key is None and not self.credential_id:
            raise CredentialsRefused("these credentials hold nothing to which a capability could be bound")
        return self.credential_id if self.private_key is None else self.private_key.public_key.key_id

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Self:
        """Read a credentials file.

        Raises `CredentialsExposed` when group or others have any right on it, `CredentialsRefused` when it is missing,
        unreadable or holds no credentials.
        """
        file = Path(path)
        try:
            return cls.from_json(read_private_file(file, _MOST_BYTES))
        except FileExposed as error:
            raise CredentialsExposed(str(error)) from None
        except CredentialsRefused as error:
            raise CredentialsRefused(f"{file}: {error}") from None
        except OSError as error:
            raise CredentialsRefused(f"{file} cannot be read: {error.strerror}") from error
        except ValueError as error:
            raise CredentialsRefused(str(error)) from None

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """Read the file that `AUTHORITY_CREDENTIALS` names. Raises as `from_file`, also when it names none."""
        path = environment.get(ENVIRONMENT_NAME)
        if not path:
            raise CredentialsRefused(
                f"{ENVIRONMENT_NAME} is not set; remedy: set it to the path of a file made by"
                " `authority principals add --out PATH`"
            )
        return cls.from_file(path)

    @classmethod
    def from_json(cls, data: bytes) -> Self:
        """Read the contents of a credentials file.

        Raises `CredentialsRefused` for another version, a missing or unknown member, and a key that is not the one
        named.
        """
        try:
            members = parse(data)
        except JsonError as error:
            raise CredentialsRefused(f"not a credentials file: {error.problem}") from None
        fields = _Fields.of(members, "")
        version = fields.take("version")
        if version != _VERSION or isinstance(version, bool):
            raise CredentialsRefused(f"version {_VERSION} is expected, not {version!r}")
        tls, token = fields.tls(), fields.token()
        is_shown = token is not None or (tls is not None and tls.client is not None)
        signs = fields.has("private_key_pem") or not is_shown
        key_id = fields.text("key_id") if signs else fields.text_or_none("key_id") or ""
        private_key = _private_key(fields.text("private_key_pem")) if signs else None
        credentials = cls(
            target=fields.text("target"),
            issuer=fields.text("issuer"),
            audience=fields.text("audience"),
            tenant=fields.reference("tenant"),
            principal=fields.reference("principal"),
            private_key=private_key,
            tls=tls,
            bearer_token=token,
            credential_id="" if private_key else key_id,
        )
        fields.require_all_taken()
        if private_key is not None and credentials.key_id != key_id:
            raise CredentialsRefused("key_id is not the thumbprint of private_key_pem")
        return credentials

    def to_json(self) -> bytes:
        """The contents of a credentials file: a secret. Write it with `save`."""
        members: dict[str, object] = {
            "version": _VERSION,
            "target": self.target,
            "issuer": self.issuer,
            "audience": self.audience,
            "tenant": self.tenant._asdict(),
            "principal": self.principal._asdict(),
        }
        if self.private_key is not None or self.credential_id:
            members["key_id"] = self.key_id
        if self.private_key is not None:
            members["private_key_pem"] = self.private_key.to_pem().decode("ascii")
        if self.tls is not None:
            members["tls"] = _tls_members(self.tls)
        if isinstance(self.bearer_token, TokenFile):
            members["bearer_token_file"] = str(self.bearer_token.path)
        elif self.bearer_token is not None:
            members["bearer_token"] = token_now(self.bearer_token)
        return json.dumps(members, indent=2).encode("utf-8") + b"\n"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the credentials to a new file of mode 0600: whole and durable, or not at all.

        Raises `FileExistsError` when `path` exists: a key is never overwritten.
        """
        write_private_file(Path(path), self.to_json())


class _Fields:
    """The members of a JSON object, each taken once and named by its path when it is wrong."""

    def __init__(self, members: dict[str, JsonValue], prefix: str) -> None:
        self._members = dict(members)
        self._prefix = prefix

    @classmethod
    def of(cls, value: JsonValue, prefix: str) -> Self:
        if not isinstance(value, dict):
            raise CredentialsRefused(f"{prefix.rstrip('.') or 'the file'} must be an object")
        return cls(value, prefix)

    def take(self, name: str) -> JsonValue:
        if name not in self._members:
            raise CredentialsRefused(f"{self._prefix}{name} is missing")
        return self._members.pop(name)

    def text(self, name: str) -> str:
        value = self.take(name)
        if not isinstance(value, str) or not value:
            raise CredentialsRefused(f"{self._prefix}{name} must be a text that is not empty")
        return value

    def has(self, name: str) -> bool:
        return name in self._members

    def text_or_none(self, name: str) -> str | None:
        return self.text(name) if self.has(name) else None

    def tls(self) -> TlsRoots | None:
        if not self.has("tls"):
            return None
        fields = _Fields.of(self.take("tls"), "tls.")
        roots, certificate = fields.text_or_none("roots_pem"), fields.text_or_none("certificate_pem")
        client = None
        if certificate is not None:
            client = ClientCertificate(certificate.encode(), fields.text("private_key_pem").encode())
        found = TlsRoots(None if roots is None else roots.encode(), fields.text_or_none("server_name"), client)
        fields.require_all_taken()
        return found

    def token(self) -> BearerToken | None:
        file = self.text_or_none("bearer_token_file")
        return self.text_or_none("bearer_token") if file is None else TokenFile(Path(file))

    def reference(self, name: str) -> Reference:
        fields = _Fields.of(self.take(name), f"{name}.")
        reference = Reference(fields.text("namespace"), fields.text("id"))
        fields.require_all_taken()
        return reference

    def require_all_taken(self) -> None:
        if self._members:
            raise CredentialsRefused(f"{self._prefix}{min(self._members)} is unknown")


def _tls_members(tls: TlsRoots) -> dict[str, str]:
    roots = None if tls.pem is None else tls.pem.decode("ascii")
    members = {"roots_pem": roots, "server_name": tls.server_name}
    if tls.client is not None:
        members["certificate_pem"] = tls.client.certificate.decode("ascii")
        members["private_key_pem"] = tls.client.private_key.decode("ascii")
    return {name: text for name, text in members.items() if text is not None}


def _private_key(pem: str) -> PrivateKey:
    try:
        return PrivateKey.from_pem(pem.encode("utf-8"))
    except KeyRefused as error:
        raise CredentialsRefused(f"private_key_pem: {error}") from None
