"""Bandwidth of the object store: what executions ask for, and what of it can be promised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from zoe_lib.domain.application import Application
from zoe_lib.domain.execution import Execution, ExecutionId, Mark
from zoe_lib.domain.storage import Guarantee, StorageObject


@dataclass(frozen=True, slots=True)
class Rates:
    """Bytes per second, to read and to write."""

    read: int = 0
    write: int = 0

    def __add__(self, other: Rates) -> Rates:
        """Both together."""
        return Rates(self.read + other.read, self.write + other.write)

    def __sub__(self, other: Rates) -> Rates:
        """What is left; below zero where more is taken than there was."""
        return Rates(self.read - other.read, self.write - other.write)

    def fits_in(self, room: Rates) -> bool:
        """Whether there is room in both directions; one that nothing is asked of does not count."""
        return (not self.read or self.read <= room.read) and (not self.write or self.write <= room.write)


@dataclass(frozen=True, slots=True)
class Supply:
    """What of the store's bandwidth can be promised to executions in all; `problem` says why nothing is known of it."""

    rates: Rates = Rates()
    problem: str = ""


def required(application: Application) -> Rates | None:
    """The bandwidth without which it must not start; None when it may always."""
    return _wish(application, Guarantee.REQUIRED)


def preferred(application: Application) -> Rates | None:
    """The bandwidth that it would like to have; None when it asks for none or requires it."""
    return _wish(application, Guarantee.PREFERRED)


def promises(active: Iterable[Execution], supply: Supply) -> dict[ExecutionId, Rates]:
    """What is promised to whom of those that start, run or stop.

    All that is required, since only what fits was admitted; then of what is preferred whatever fits beside it, first
    come first served.
    """
    placed = sorted(active, key=lambda e: (e.marks[Mark.PLACED], e.id))
    result = {e.id: wish for e in placed if (wish := required(e.application)) is not None}
    left = supply.rates
    for rates in result.values():
        left -= rates
    for execution in placed:
        wish = preferred(execution.application)
        if wish is not None and wish.fits_in(left):
            result[execution.id] = wish
            left -= wish
    return result


def awaits_grant(execution: Execution) -> bool:
    """Whether nothing of it may run before the controller holds the promise that it requires."""
    return Mark.STORAGE_GRANTED not in execution.marks and required(execution.application) is not None


def pushed_down(application: Application) -> tuple[StorageObject, ...]:
    """The inputs of which the store shall deliver only some rows and columns."""
    storage = application.storage
    return tuple(one for one in storage.inputs if one.pushdown is not None) if storage is not None else ()


def awaits_inputs(execution: Execution) -> bool:
    """Whether nothing of it may run before it is decided how its inputs are read."""
    return not execution.inputs and bool(pushed_down(execution.application))


def by_tenant(active: Iterable[Execution], promised: Mapping[ExecutionId, Rates]) -> dict[str, Rates]:
    """The SLO of each tenant: the sum of what is promised to its executions."""
    result: dict[str, Rates] = {}
    for execution in active:
        if execution.id in promised:
            result[execution.tenant] = result.get(execution.tenant, Rates()) + promised[execution.id]
    return result


def _wish(application: Application, guarantee: Guarantee) -> Rates | None:
    storage = application.storage
    if storage is None or storage.bandwidth is None or storage.bandwidth.guarantee is not guarantee:
        return None
    return Rates(storage.bandwidth.read_bytes_per_s or 0, storage.bandwidth.write_bytes_per_s or 0)
