"""Orders whose sequence changes with time, computed for a whole queue at once instead of execution by execution."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.frozen import value
from zoe_master.scheduler.ordering.orders import QueueContext, waits_since_s, wanted_cores
from zoe_master.scheduler.ordering.published_orders import HEAD_START_S, SHORT_S, WINDOW_S

_Column = npt.NDArray[np.float64]
# Compute the keys of a sequence from w, r and n (see `published_orders`), the most significant one first.
_Keys = Callable[[_Column, _Column, _Column], Sequence[_Column]]
# Priority, begin of the wait, expected run time, and cores of an execution; none of them changes with time.
QueueRow = tuple[float, float, float, float]


@value(frozen=True, slots=True)
class QueueColumns:
    """The rows of a queue, in its sequence, for an order; empty for orders that are not computed by columns."""

    order: str
    priority: _Column
    since_s: _Column
    run_s: _Column
    cores: _Column


def row_of(execution: Execution, moment: QueueContext) -> QueueRow:
    """Return the row of an execution."""
    cores = wanted_cores(execution, moment)
    return execution.priority, waits_since_s(execution), moment.run_s(execution), cores


def columns_of(order: str, rows: Iterable[QueueRow]) -> QueueColumns:
    """Return the columns of these rows, for an order of `COLUMN_ORDERS`."""
    table = np.array(list(rows), dtype=np.float64).reshape(-1, 4)
    return QueueColumns(order, *np.ascontiguousarray(table.T))


def sorted_by_columns(executions: Sequence[Execution], columns: QueueColumns, now_s: float) -> Sequence[Execution]:
    """Return executions by priority, then by the order of their columns; ties as they come.

    Amounts and times beyond the range of a float give an infinite score, as Python's own multiplication does.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        wait_s = np.maximum(now_s - columns.since_s, 0.0)
        keys = COLUMN_ORDERS[columns.order](wait_s, columns.run_s, columns.cores)
    return [executions[place] for place in np.lexsort((*reversed(keys), -columns.priority)).tolist()]


def _hrrn(wait_s: _Column, run_s: _Column, _cores: _Column) -> Sequence[_Column]:
    return (-(wait_s + run_s) / run_s,)


def _wfp3(wait_s: _Column, run_s: _Column, cores: _Column) -> Sequence[_Column]:
    return (-((wait_s / run_s) ** 3) * cores,)


def _unicef(wait_s: _Column, run_s: _Column, cores: _Column) -> Sequence[_Column]:
    single = cores <= 1
    return np.where(single, 0.0, 1.0), -wait_s / (np.where(single, 1.0, np.log2(np.maximum(cores, 1.0))) * run_s)


def _learned_ratio(wait_s: _Column, run_s: _Column, _cores: _Column) -> Sequence[_Column]:
    return (-(wait_s + HEAD_START_S) / (run_s + SHORT_S),)


def _by_arrival(score: Callable[[_Column, _Column], _Column], weight: float) -> _Keys:
    def keys(wait_s: _Column, run_s: _Column, cores: _Column) -> Sequence[_Column]:
        recent = wait_s < WINDOW_S
        arrival = np.log10(np.maximum(WINDOW_S - wait_s, 1.0))
        return np.where(recent, 1.0, 0.0), np.where(recent, score(run_s, cores) + weight * arrival, -wait_s)

    return keys


COLUMN_ORDERS: Mapping[str, _Keys] = {
    "hrrn": _hrrn,
    "wfp3": _wfp3,
    "unicef": _unicef,
    "f1": _by_arrival(lambda run_s, cores: np.log10(run_s) * cores, 8.70e2),
    "f2": _by_arrival(lambda run_s, cores: np.sqrt(run_s) * cores, 2.56e4),
    "f3": _by_arrival(lambda run_s, cores: run_s * cores, 6.86e6),
    "f4": _by_arrival(lambda run_s, cores: run_s * np.sqrt(cores), 5.30e5),
    "learned-ratio": _learned_ratio,
}
