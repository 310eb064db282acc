"""What the loss of nodes would do."""

from __future__ import annotations

from pydantic import Field

from zoe_client.wire.base import Wire
from zoe_client.wire.executions.executions import ReasonView

_SHOWN = "At most a hundred."


class NodeLossRequest(Wire):
    """Nodes by name, or by labels that they all have, such as `rack: b`."""

    nodes: list[str] = Field(default=[], max_length=10_000)
    labels: dict[str, str] = Field(default={}, max_length=16)


class LosingView(Wire):
    """An execution, and the number of its services on the nodes."""

    id: str
    name: str
    tenant: str
    user: str
    services: int


class RestartView(LosingView):
    """An execution that loses essential services and starts again."""

    starts_now: bool = Field(description="The next pass would place it on other nodes.")
    wait_s: float | None = Field(description="Expected seconds until it starts again; null if unknown.")
    reason: ReasonView | None = Field(description="Why it does not start at once.")
    misses_promise: bool = Field(description="It is expected to end after its promised time.")


class LongerWaitView(Wire):
    """A waiting execution whose expected start changes; seconds from now, null if unknown or never."""

    id: str
    name: str
    tenant: str
    user: str
    before_s: float | None
    after_s: float | None


class NodeLossView(Wire):
    """Effects of losing these nodes now; nothing has changed."""

    nodes: list[str]
    failed: list[LosingView] = Field(description=f"Executions that end: their attempts are used up. {_SHOWN}")
    failed_total: int
    restarts: list[RestartView] = Field(description=f"Executions that start again. {_SHOWN}")
    restarts_total: int
    shrunk: list[LosingView] = Field(description=f"Executions that go on with fewer elastic services. {_SHOWN}")
    shrunk_total: int
    booked: list[str] = Field(description=f"Waiting executions whose promise had booked these nodes. {_SHOWN}")
    booked_total: int
    longer: list[LongerWaitView] = Field(description="Of the first twenty waiting executions.")
