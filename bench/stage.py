"""What every measurement stands on: the installation, the service that serves it, and how much to measure."""

from dataclasses import dataclass

from bench.cpu import Groups
from bench.installation import Installation
from bench.options import Options
from bench.serving import Served


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything runs."""

    installation: Installation
    service: Served
    options: Options

    @property
    def groups(self) -> Groups:
        """Who is paid for what, but for the clients."""
        servers = self.installation.servers
        return {"service": [self.service.pid], "postgres": [servers.postgres.pid], "valkey": [servers.valkey.pid]}
