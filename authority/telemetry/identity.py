"""Who tells, and how long its end waits for whoever listens."""

import os
import threading
from collections.abc import Callable
from typing import Final

from opentelemetry.sdk.resources import OTELResourceDetector, Resource

SCOPE: Final = "authority"
"""What OpenTelemetry calls the library that tells."""

_SERVICE: Final = "capability-authority"
_LAST_EXPORT_WITHIN_S: Final = 1.0
"""How long the end of the service waits for a collector to take what is left."""


def resource_of(version: str) -> Resource:
    """This process. What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say of it comes first."""
    ours = Resource({"service.name": _SERVICE, "service.version": version, "process.pid": os.getpid()})
    return Resource.create({}).merge(ours).merge(OTELResourceDetector().detect())


def end_in_time(shut_down: Callable[[], None]) -> None:
    """Exports what is left, but a collector that is away keeps nobody from ending."""
    thread = threading.Thread(target=shut_down, daemon=True)
    thread.start()
    thread.join(_LAST_EXPORT_WITHIN_S)
