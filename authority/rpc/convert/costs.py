"""What memory cost to make."""

from collections.abc import Iterable, Sequence

from authority.domain import limits
from authority.domain.proposal import Cost
from authority.rpc.convert.values import bound, count, printable
from capability_authority.v1 import types_pb2


def costs(sent: Sequence[types_pb2.Cost], path: str) -> tuple[Cost, ...]:
    """The costs of each stage, in their order. A stage may have used no model."""
    bound(sent, limits.COSTS, path)
    return tuple(_cost(cost, f"{path}[{index}]") for index, cost in enumerate(sent))


def cost_messages(kept: Iterable[Cost]) -> list[types_pb2.Cost]:
    """The costs as they are sent."""
    return [
        types_pb2.Cost(
            stage=cost.stage,
            model=cost.model,
            input_tokens=cost.input_tokens,
            output_tokens=cost.output_tokens,
            usd_micros=cost.usd_micros,
        )
        for cost in kept
    ]


def _cost(cost: types_pb2.Cost, path: str) -> Cost:
    return Cost(
        stage=printable(cost.stage, f"{path}.stage", limits.COST_TEXT_BYTES),
        model=printable(cost.model, f"{path}.model", limits.COST_TEXT_BYTES) if cost.model else "",
        input_tokens=count(cost.input_tokens, f"{path}.input_tokens"),
        output_tokens=count(cost.output_tokens, f"{path}.output_tokens"),
        usd_micros=count(cost.usd_micros, f"{path}.usd_micros"),
    )
