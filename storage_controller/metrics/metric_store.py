"""Metrics that an installation adds for rules, in PostgreSQL: PromQL expressions, programs, and names without a
source.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from storage_controller.answers import RequestRefusedError
from storage_controller.database.guarantee_store import Ledger
from storage_controller.database.supervision import Mode
from storage_controller.database.tables import metrics
from storage_filters.rules.metrics import METRICS
from storage_filters.rules.rules import STATIC_NAMES
from zoe_lib.clock import SYSTEM_CLOCK, Clock

METRICS_MAX = 32
"""Most metrics: each is evaluated repeatedly, and each program is a process."""
_LOCK = 0x5A6F6574  # lock of requests that add metrics, so that their number stays bounded


class MetricSource(StrEnum):
    """Source of a metric's values. NONE: registered, has no values."""

    PROMETHEUS = "prometheus"
    PYTHON = "python"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class KeptMetric:
    """A metric. name: in capitals. text: an expression, or the source of a program, which is not run if the metric's
    source is NONE. attributes: further fields from a client of the appendix dialect.
    """

    id: int
    name: str
    source: MetricSource
    text: str
    attributes: Mapping[str, Any]
    mode: Mode
    author: str | None
    created_s: float

    @property
    def is_module(self) -> bool:
        """Return whether it was uploaded as a program."""
        return self.source is MetricSource.PYTHON or (self.source is MetricSource.NONE and bool(self.text))

    @property
    def controller(self) -> str:
        """Return the name of its controller."""
        return metric_controller(self.name)


def metric_controller(name: str) -> str:
    """Return the controller name of a metric's loop."""
    return f"metric-{name}"


class MetricLedger:
    """Stored metrics. Names are case-insensitive, like all names in rules, and stored in capitals."""

    def __init__(self, ledger: Ledger, clock: Clock = SYSTEM_CLOCK) -> None:
        self._begin = ledger.begin
        self._clock = clock

    def metrics(self) -> list[KeptMetric]:
        """Return all metrics, by name."""
        with self._begin() as connection:
            return [_metric_of_row(row) for row in connection.execute(sa.select(metrics).order_by(metrics.c.name))]

    def metric(self, name: str | int) -> KeptMetric:
        """Return the metric with this name or number. Raises RequestRefusedError."""
        wanted = metrics.c.id == name if isinstance(name, int) else metrics.c.name == name.upper()
        with self._begin() as connection:
            row = connection.execute(sa.select(metrics).where(wanted)).first()
        if row is None:
            raise RequestRefusedError(404, f"metric {name} does not exist")
        return _metric_of_row(row)

    def add(
        self, name: str, source: MetricSource, text: str, attributes: Mapping[str, Any], author: str | None
    ) -> KeptMetric:
        """Create a metric. Raises RequestRefusedError if its name is taken, or if there are too many."""
        name = name.upper()
        if name in STATIC_NAMES or name in METRICS:
            raise RequestRefusedError(409, f"{name} already exists: use another name")
        row = {"name": name, "source": source, "text": text, "attributes": dict(attributes), "author": author}
        with self._begin() as connection:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            there = connection.execute(sa.select(sa.func.count()).select_from(metrics)).scalar_one()
            if there >= METRICS_MAX:
                raise RequestRefusedError(
                    409, f"there are {there} metrics, and at most {METRICS_MAX} are kept: remove some first"
                )
            new = insert(metrics).values(**row, created_s=self._clock.now_s()).on_conflict_do_nothing()
            if (made := connection.execute(new.returning(metrics)).first()) is None:
                raise RequestRefusedError(409, f"metric {name} already exists: use another name")
            return _metric_of_row(made)

    def change(self, name: str, **values: Any) -> None:
        """Change columns of a metric. Raises RequestRefusedError if it does not exist."""
        changed = sa.update(metrics).where(metrics.c.name == name.upper()).values(**values)
        with self._begin() as connection:
            if not connection.execute(changed).rowcount:
                raise RequestRefusedError(404, f"metric {name} does not exist")

    def drop(self, name: str) -> None:
        """Remove a metric, if it exists."""
        with self._begin() as connection:
            connection.execute(sa.delete(metrics).where(metrics.c.name == name.upper()))


def _metric_of_row(row: Any) -> KeptMetric:
    fields = {**row._mapping, "source": MetricSource(row.source), "mode": Mode(row.mode)}
    return KeptMetric(**fields)
