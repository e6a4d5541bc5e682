"""The contract as gRPC reflection tells it to tools."""

from typing import Any

from google.protobuf import descriptor_pool


class ReflectedPool:
    """The pool of all generated messages, in which RPCs are found by their names, too.

    protobuf's own finds messages, fields and services by name, but no RPC, which tools look for to describe it.
    """

    def __init__(self) -> None:
        self._pool: Any = descriptor_pool.Default()

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever else reflection asks of a pool
        return getattr(self._pool, name)

    def FindFileContainingSymbol(self, symbol: str) -> Any:  # noqa: ANN401, N802 - as the pool's
        """The file that declares it. Raises `KeyError` when none does."""
        try:
            return self._pool.FindFileContainingSymbol(symbol)
        except KeyError:
            service, _, method = symbol.rpartition(".")
            return self._pool.FindServiceByName(service).methods_by_name[method].containing_service.file
