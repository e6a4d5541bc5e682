"""The command line `authority`: for the operator of the service, and for whoever wants to see it at work."""

from authority.cli.app import main

__all__ = ["main"]
