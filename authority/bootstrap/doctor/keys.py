"""The key folder: whether this machine can sign, and nobody else can read what it signs with."""

import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from authority.bootstrap.doctor.finding import Finding, ok, problem, warning
from authority.config_reading import OTHERS
from authority.domain.statement import IssuerKey, KeyState
from authority.signing.key_folder import KeyFolder
from authority.signing.key_ring import KeyRing
from authority.signing.page_tokens import SECRET_FILE
from authority.signing.sealed_text import SECRET_BYTES
from authority.signing.secret_file import SecretRefused, read_secret

_FOLDER: Final = "key folder"


def look_at_folder(folder: Path) -> Iterator[Finding]:
    """The folder, its files, and the secret of page tokens."""
    try:
        mode = stat.S_IMODE(folder.stat().st_mode)
        files = sorted(folder.glob("*.pem"))
    except OSError as error:
        remedy = "set AUTHORITY_KEYS, or make the keys by `authority keys rotate`"
        yield problem(_FOLDER, f"{folder}: {error.strerror}", remedy)
        return
    if mode & OTHERS:
        yield problem(_FOLDER, f"{folder} has mode {mode:04o}, which lets others in", f"chmod 700 {folder}")
    open_files = [file for file in files if file.stat().st_mode & OTHERS]
    for file in open_files:
        yield problem(_FOLDER, f"others have rights on {file}", f"chmod 600 {file}, and rotate the key if they read it")
    if not mode & OTHERS and not open_files:
        yield ok(_FOLDER, f"{folder} holds {len(files)} private keys, for its owner alone")
    yield _page_tokens(folder)


def look_at_keys(folder: Path, keys: Sequence[IssuerKey] | None) -> Iterator[Finding]:
    """Whether each purpose has an active key whose private key is here; None where the rows cannot be read."""
    if keys is None:
        yield problem("issuer keys", "cannot be read from the database", "run `authority migrate`")
        return
    ring = KeyRing(KeyFolder(folder))
    faults = [*ring.replace(keys), *ring.signing_faults()]
    for fault in faults:
        yield problem("issuer keys", fault, "restore the key folder from its backup, or rotate the key")
    counts = {state: sum(key.state is state for key in keys) for state in KeyState}
    told = ", ".join(f"{count} {state.value}" for state, count in counts.items() if count)
    if not faults:
        yield ok("issuer keys", f"{told}; each active one can sign here")
    named = {KeyFolder(folder).file_of(key.purpose, key.key_id) for key in keys}
    if strange := sorted(file.name for file in folder.glob("*.pem") if file not in named):
        found = f"the database knows nothing of {', '.join(strange)}"
        yield warning(
            "issuer keys", found, "is this its folder? After a restore to an earlier moment: rotate keys anew"
        )


def _page_tokens(folder: Path) -> Finding:
    file = folder / SECRET_FILE
    try:
        read_secret(file, SECRET_BYTES)
    except FileNotFoundError:
        return ok("page tokens", "their secret is made at the first start")
    except SecretRefused as error:
        return problem("page tokens", str(error), f"mend {file}; removed, it is made anew, and pages begin anew")
    except OSError as error:
        return problem("page tokens", f"{file}: {error.strerror}", "let the service read it")
    return ok("page tokens", "their secret is here")
