"""How a refusal travels up to the interceptor that answers with it."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from authority.domain.refusal import Refusal

Value = TypeVar("Value")
Given = ParamSpec("Given")


class Refused(Exception):
    """The call ends with this refusal. Only the outermost interceptor turns it into a status."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(refusal.reason.name)
        self.refusal = refusal


def value_or_refuse(result: Value | Refusal) -> Value:
    """The value that a use case answered with; raises `Refused` when it answered with a refusal."""
    if isinstance(result, Refusal):
        raise Refused(result)
    return result


def value_or_refusal(convert: Callable[Given, Value], *given: Given.args, **named: Given.kwargs) -> Value | Refusal:
    """The value, or the refusal that `convert` ends with: it is then one item's own."""
    try:
        return convert(*given, **named)
    except Refused as refused:
        return refused.refusal
