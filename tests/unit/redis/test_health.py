"""What is told of a fault is its class or the server's word, never text of the server's or ours."""

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import OutOfMemoryError, ReadOnlyError, ResponseError

from authority.redis.health import reason_of


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (ReadOnlyError("You can't write against a read only replica."), "ReadOnlyError"),
        (OutOfMemoryError("command not allowed"), "OutOfMemoryError"),
        (RedisConnectionError("Error 111 connecting to 10.1.2.3:6379."), "ConnectionError"),
        (TimeoutError(), "TimeoutError"),
        (ResponseError("MISCONF Valkey is configured to save RDB snapshots"), "MISCONF"),
        (ResponseError("CLUSTERDOWN Hash slot not served"), "CLUSTERDOWN"),
        (ResponseError("value of secret-key is wrong"), "ResponseError"),
        (ResponseError(""), "ResponseError"),
    ],
)
def test_the_reason_of_a_fault(fault: Exception, reason: str) -> None:
    assert reason_of(fault) == reason
