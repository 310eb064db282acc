"""Modes of controllers, and the switches of rules with metrics, in PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert

from storage_controller.answers import RequestRefusedError
from storage_controller.database.guarantee_store import Ledger
from storage_controller.database.supervision import Mode
from storage_controller.database.tables import controllers, metrics, policies, switches

BANDWIDTH_CONTROLLER = "bandwidth"
"""The bandwidth algorithm at the proxies."""
HEALTH_CONTROLLER = "health"
"""Checks the health of the store's nodes."""
REPLICATION_CONTROLLER = "replication"
"""Limits the rate of replication between object servers."""
_STANDING = (BANDWIDTH_CONTROLLER, HEALTH_CONTROLLER, REPLICATION_CONTROLLER)
SWITCHES_MAX = 100
"""Most stored switches of a controller, the newest ones."""


@dataclass(frozen=True, slots=True)
class Switch:
    """Begin (active) or end of a rule's condition, with the values at that time. dry: nothing was pushed."""

    controller: str
    at_s: float
    active: bool
    dry: bool
    metrics: Mapping[str, float]


def caveats_of_mode(mode: Mode) -> list[str]:
    """Return the caveat while the bandwidth controller has this mode; empty while it is on."""
    how = {Mode.OFF: "off", Mode.DRY: "in a dry run"}.get(mode)
    return [] if how is None else [f"the controller {BANDWIDTH_CONTROLLER} is {how}: limits and SLOs are not enforced"]


def rule_controller(number: int) -> str:
    """Return the controller name of a rule's loop."""
    return f"rule-{number}"


class ControllerLedger:
    """Modes of controllers. They are in the tables of rules and metrics, and for other controllers in a separate
    table.
    """

    def __init__(self, ledger: Ledger) -> None:
        self._begin = ledger.begin

    def mode(self, name: str) -> Mode:
        """Return the mode of a controller that is neither a rule nor a metric."""
        with self._begin() as connection:
            found = connection.execute(sa.select(controllers.c.mode).where(controllers.c.name == name)).scalar()
            return Mode(found or Mode.ON)

    def caveats(self) -> list[str]:
        """Return why guarantees of bandwidth are not enforced at present."""
        return caveats_of_mode(self.mode(BANDWIDTH_CONTROLLER))

    def set_mode(self, name: str, mode: Mode) -> None:
        """Set the mode of a controller. Raises RequestRefusedError if it does not exist."""
        kind, _, which = name.partition("-")
        with self._begin() as connection:
            if name in _STANDING:
                upsert = insert(controllers).values(name=name, mode=mode)
                connection.execute(upsert.on_conflict_do_update(index_elements=["name"], set_={"mode": mode}))
                return
            found = 0
            if kind == "rule" and which.isascii() and which.isdecimal() and len(which) < 19:
                mine = sa.and_(policies.c.id == int(which), policies.c.removed_s.is_(None))
                found = connection.execute(sa.update(policies).where(mine).values(mode=mode)).rowcount
            elif kind == "metric":
                mine = metrics.c.name == which.upper()
                found = connection.execute(sa.update(metrics).where(mine).values(mode=mode)).rowcount
        if not found:
            raise RequestRefusedError(404, f"controller {name} does not exist")

    def switches(self, name: str) -> Sequence[Switch]:
        """Return the last switches of a controller, the newest first."""
        mine = sa.select(switches).where(switches.c.controller == name).order_by(switches.c.id.desc())
        with self._begin() as connection:
            rows = connection.execute(mine.limit(SWITCHES_MAX))
            return [Switch(row.controller, row.at_s, row.active, row.dry, row.metrics) for row in rows]

    def keep_switches(self, new: Iterable[Switch]) -> None:
        """Store switches, and delete the oldest ones of their controllers."""
        rows = [{**asdict(switch), "metrics": dict(switch.metrics)} for switch in new]
        if not rows:
            return
        with self._begin() as connection:
            connection.execute(sa.insert(switches), rows)
            for name in {row["controller"] for row in rows}:
                mine = sa.select(switches.c.id).where(switches.c.controller == name)
                last = mine.order_by(switches.c.id.desc()).offset(SWITCHES_MAX).limit(1).scalar_subquery()
                old = sa.and_(switches.c.controller == name, switches.c.id <= last)
                connection.execute(sa.delete(switches).where(old))
