"""What every measurement stands on: the installation, the service that serves it, and how much to measure."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

from bench.client import Setup
from bench.cpu import Group, Groups
from bench.installation import Installation
from bench.load import Clients, clients
from bench.options import Options
from bench.seeding import seed
from bench.serving import Served


@dataclass(frozen=True, slots=True)
class Stage:
    """Everything runs."""

    installation: Installation
    service: Served
    workers: int
    """Processes of the service."""
    options: Options

    @property
    def groups(self) -> Groups:
        """Who is paid for what, but for the clients."""
        servers = self.installation.servers
        return {
            "service": Group([self.service.pid], self.workers),
            "postgres": Group([servers.postgres.pid]),
            "valkey": Group([servers.valkey.pid], 1),
        }

    def named(self, name: str) -> str:
        """The name of a figure of this stage."""
        return name if self.workers == 1 else f"{name}_{self.workers}_workers"

    def share(self, operations: int) -> int:
        """Of each client, of so many operations together."""
        return max(operations // self.options.clients, 1)

    @contextlib.contextmanager
    def loaded(self, name: str, requests: int, *, issued: bool = True) -> Iterator[Clients]:
        """Clients that have so many requests each to send: to commit, or to issue what is not issued yet."""
        number, channels = self.options.clients, max(self.options.channels // self.options.clients, 1)
        files = seed(self.installation, f"{name}-{self.workers}", requests * number, number, issued=issued)
        holder, proposer = self.installation.holder.to_json(), self.installation.proposer.to_json()
        setups = [Setup(self.service.address, holder, proposer, share, channels) for share in files]
        with clients(setups, self.groups) as load:
            yield load

    def detail(self) -> dict[str, object]:
        """How it was measured, for the detail of every figure."""
        return {"workers": self.workers, "clients": self.options.clients, "channels": self.options.channels}
