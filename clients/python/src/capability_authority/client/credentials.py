"""Who calls, with which key, and which authority it trusts: one file, made by `authority principals add --out`."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, Self

from capability_authority.client.private_files import FileExposed, read_private_file, write_private_file
from capability_authority.offline import JsonError, JsonValue, KeyRefused, PrivateKey, parse

__all__ = ["ENVIRONMENT_NAME", "Credentials", "CredentialsExposed", "CredentialsRefused", "Reference"]

ENVIRONMENT_NAME: Final = "AUTHORITY_CREDENTIALS"
"""The environment variable that holds the path of a credentials file."""

_VERSION: Final = 1
_MOST_BYTES: Final = 64 * 1024


class CredentialsRefused(ValueError):
    """Credentials that cannot be used. The message says what is wrong with which file and never quotes the key."""


class CredentialsExposed(CredentialsRefused):
    """A credentials file that its group or others have rights on; the message names the remedy."""


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
    private_key: PrivateKey
    """Registered with the authority for this principal. Never shown, logged or sent."""

    @property
    def key_id(self) -> str:
        """The thumbprint of the key: "sha256:" and 64 lowercase hexadecimal digits."""
        return self.private_key.public_key.key_id

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
        key_id, pem = fields.text("key_id"), fields.text("private_key_pem")
        credentials = cls(
            target=fields.text("target"),
            issuer=fields.text("issuer"),
            audience=fields.text("audience"),
            tenant=fields.reference("tenant"),
            principal=fields.reference("principal"),
            private_key=_private_key(pem),
        )
        fields.require_all_taken()
        if credentials.key_id != key_id:
            raise CredentialsRefused("key_id is not the thumbprint of private_key_pem")
        return credentials

    def to_json(self) -> bytes:
        """The contents of a credentials file: a secret. Write it with `save`."""
        members = {
            "version": _VERSION,
            "target": self.target,
            "issuer": self.issuer,
            "audience": self.audience,
            "tenant": self.tenant._asdict(),
            "principal": self.principal._asdict(),
            "key_id": self.key_id,
            "private_key_pem": self.private_key.to_pem().decode("ascii"),
        }
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

    def reference(self, name: str) -> Reference:
        fields = _Fields.of(self.take(name), f"{name}.")
        reference = Reference(fields.text("namespace"), fields.text("id"))
        fields.require_all_taken()
        return reference

    def require_all_taken(self) -> None:
        if self._members:
            raise CredentialsRefused(f"{self._prefix}{min(self._members)} is unknown")


def _private_key(pem: str) -> PrivateKey:
    try:
        return PrivateKey.from_pem(pem.encode("utf-8"))
    except KeyRefused as error:
        raise CredentialsRefused(f"private_key_pem: {error}") from None
