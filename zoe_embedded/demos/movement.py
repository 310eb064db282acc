"""Detect whether an execution of a demo makes progress, so that a slow machine gets its time and a stuck execution is
given up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from zoe_client import Client
from zoe_client.vocabulary import ServiceState
from zoe_client.wire import ExecutionView

STALLED_AFTER_S = 300.0
"""Seconds without progress after which a demo gives up."""
WORKING_CORES = 0.2
"""Average cores from which on services count as working. A waiting Spark cluster uses less."""
LOOK_EVERY_S = 5.0
_CHUNK_BYTES = 1 << 20
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Signs:
    """Signs of progress: states, the end of each service's output as far as it was read, CPU seconds."""

    states: tuple[str, ...]
    output_ends: dict[str, int]
    cpu_s: dict[str, float]


class Movement:
    """Compares signs with earlier ones."""

    def __init__(self, now_s: float) -> None:
        self._moved_s = now_s
        self._looked_s = now_s
        self._last = Signs((), {}, {})

    @property
    def last_signs(self) -> Signs:
        """Return the signs of the last check."""
        return self._last

    def stalled_s(self, now_s: float, signs: Signs) -> float:
        """Return the seconds without progress."""
        last, elapsed_s = self._last, now_s - self._looked_s
        works = _growth(last.cpu_s, signs.cpu_s) > WORKING_CORES * elapsed_s
        if works or last.states != signs.states or _growth(last.output_ends, signs.output_ends) > 0:
            self._moved_s = now_s
        self._last, self._looked_s = signs, now_s
        return now_s - self._moved_s


def _growth(before: dict[K, int] | dict[K, float], after: dict[K, int] | dict[K, float]) -> float:
    return sum(max(0.0, value - before.get(key, 0)) for key, value in after.items())


def signs_of(client: Client, execution: ExecutionView, last: Signs) -> Signs:
    """Return the signs of an execution; output is read from the end of the last check."""
    used: dict[str, float] = {}
    for sample in client.execution_usage(execution.id).usage:
        used[sample.service_id] = max(used.get(sample.service_id, 0.0), sample.cpu_s)
    ends = {}
    for service in execution.services:
        if service.state is ServiceState.READY:
            begin = last.output_ends.get(service.id, 0)
            ends[service.id] = client.logs(execution.id, service.id, offset=begin, limit=_CHUNK_BYTES).next_offset
    states = (execution.state.value, *(f"{service.id} {service.state.value}" for service in execution.services))
    return Signs(states, ends, used)
