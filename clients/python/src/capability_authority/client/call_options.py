"""What every call takes besides its own arguments."""

from typing import TypedDict

__all__ = ["CallOptions"]


class CallOptions(TypedDict, total=False):
    """What every call takes besides its own arguments."""

    timeout: float
    """Seconds for the whole call, all attempts and waits included; the connection's `timeout` when absent."""
    traceparent: str
    """W3C trace context to send; when absent that of the current OpenTelemetry span, if there is one."""
