"""Keeps the storage controller equal to what active executions need, without ever holding up a tick.

Level-triggered: each tick says what is wanted, and the keeper makes the controller's SLOs and views that and nothing
else. So none can be left behind: whatever a master that died had set is taken back, or kept, by the first look of the
next.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

import structlog

from storage_bridge.base import StorageController
from storage_bridge.model import BandwidthSlo, StorageCapacity, StorageUnavailableError, Verdict, View
from zoe_lib.domain.promises import Rates, Supply
from zoe_master.looking import Looking
from zoe_master.steps import Reach, Step, pass_by
from zoe_master.storage_report import StorageReport, report
from zoe_master.views import ViewLooks
from zoe_master.waker import Waker

log = structlog.get_logger(__name__)

# More would hold up the SLOs; the others have their turn at the next look.
_LOCATED_AT_ONCE = 20
_NOT_ASKED = Supply(problem="the storage controller has not been asked yet")
_AWAY = Supply(problem="the storage controller cannot be reached")


@dataclass(frozen=True, slots=True)
class Seen:
    """What the last look at the controller found: what can be promised in all, and the SLOs in force by tenant.

    `locality` has the names of the nodes that hold the objects that were asked about, by their URIs. `verdicts`:
    whether views that were not decided pay, by id.
    """

    supply: Supply = _NOT_ASKED
    slos: Mapping[str, Rates] = field(default_factory=dict)
    locality: Mapping[str, frozenset[str]] = field(default_factory=dict)
    verdicts: Mapping[str, Verdict] = field(default_factory=dict)

    @property
    def looked(self) -> bool:
        """False before the first look: an answer is still to come."""
        return self.supply is not _NOT_ASKED


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be in force, by tenant, and no other SLOs; and the objects whose places are asked for.

    `views` by id, and no others; `undecided` are those of which it is to be found out whether they pay.
    """

    slos: Mapping[str, Rates]
    uris: frozenset[str] = frozenset()
    views: Mapping[str, View] = field(default_factory=dict)
    undecided: frozenset[str] = frozenset()


class Keeper(Protocol):
    """What the master uses of a controller."""

    def want(self, wanted: Wanted) -> None:
        """Make it so, and keep it so."""
        ...

    def seen(self) -> Seen:
        """The last look."""
        ...

    def close(self) -> None:
        """Ask no more; what is in force stays."""
        ...


class InlineKeeper:
    """Asks at once, where that takes no time: simulated controllers."""

    def __init__(self, controller: StorageController, reach: Reach = pass_by) -> None:
        self._slos = _SloLooks(controller, reach)
        self._views = ViewLooks(controller, reach)
        self._wanted: Wanted | None = None

    def want(self, wanted: Wanted) -> None:
        """Make it so now."""
        self._wanted = wanted
        self.seen()

    def seen(self) -> Seen:
        """A fresh look."""
        return replace(self._slos.look(self._wanted), verdicts=_look_at_views(self._views, self._wanted))

    def report(self) -> StorageReport:
        """Of the last look."""
        return self._slos.report

    def close(self) -> None:
        """Nothing is held."""


class KeeperThread:
    """Asks in threads of its own, when something else is wanted and every `interval_s`; news wake the master.

    Making and measuring views takes seconds, so that this has a thread apart, and a way apart to the controller: SLOs
    do not wait for it.
    """

    def __init__(
        self,
        controller: StorageController,
        for_views: StorageController,
        waker: Waker,
        interval_s: float,
        reach: Reach = pass_by,
    ) -> None:
        slos, views = _SloLooks(controller, reach), ViewLooks(for_views, reach)
        self._rates: Mapping[str, Rates] = {}
        self._changed_by: dict[str, int] = {}
        self._slos = Looking("zoe-storage", slos.look, Seen(), Seen(_AWAY), waker, interval_s)
        self._its = slos
        none: Mapping[str, Verdict] = {}
        self._views: Looking[Wanted, Mapping[str, Verdict]] = Looking(
            "zoe-views", lambda wanted: _look_at_views(views, wanted), none, none, waker, interval_s
        )

    def want(self, wanted: Wanted) -> None:
        """Leave word for the threads."""
        number = self._slos.want(replace(wanted, views={}, undecided=frozenset()))
        before, self._rates = self._rates, wanted.slos
        changed = (t for t in before.keys() | wanted.slos.keys() if before.get(t) != wanted.slos.get(t))
        self._changed_by.update(dict.fromkeys(changed, number))
        self._views.want(replace(wanted, slos={}, uris=frozenset()))

    def seen(self) -> Seen:
        """The last looks, as old as `interval_s` and the controller's time-outs at most.

        Of a tenant for whom something else is wanted since the look was begun, no SLO counts: it may be on its way out.
        """
        number, seen = self._slos.seen
        slos = {tenant: rates for tenant, rates in seen.slos.items() if self._changed_by.get(tenant, 0) <= number}
        return replace(seen, slos=slos, verdicts=self._views.seen[1])

    def report(self) -> StorageReport:
        """Of the last look."""
        return self._its.report

    def close(self) -> None:
        """End the threads once the calls under way are over."""
        for loop in (self._slos, self._views):
            loop.close()


def _look_at_views(views: ViewLooks, wanted: Wanted | None) -> Mapping[str, Verdict]:
    if wanted is None:
        return {}
    try:
        return views.look(wanted.views.values(), wanted.undecided)
    except StorageUnavailableError as error:
        log.warning("the views cannot be looked at", why=str(error))
        return {}


class _SloLooks:
    """One look after the other. Where objects are is asked once, as long as somebody wants to know."""

    def __init__(self, controller: StorageController, reach: Reach) -> None:
        self._controller = controller
        self._reach = reach
        self._places: dict[str, frozenset[str]] = {}
        self.report = StorageReport(problem=_NOT_ASKED.problem)

    def look(self, wanted: Wanted | None) -> Seen:
        """Make it what is wanted (None: not known yet, nothing is touched) and tell how it is then."""
        try:
            slos = self._keep(wanted.slos) if wanted is not None else self._controller.slos()
            capacity = self._controller.capacity()
            if wanted is not None:
                self._locate(wanted.uris)
        except StorageUnavailableError as error:
            log.warning("the storage controller cannot be reached", why=str(error))
            self.report = StorageReport(time.time(), _AWAY.problem, self._controller.resting())
            return Seen(_AWAY)
        ours = {tenant: Rates(slo.read_bytes_per_s or 0, slo.write_bytes_per_s or 0) for tenant, slo in slos.items()}
        self.report = self._told(ours, capacity)
        promised = Rates(capacity.promised_read_bytes_per_s, capacity.promised_write_bytes_per_s)
        everything = Rates(capacity.read_bytes_per_s, capacity.write_bytes_per_s)
        # What others were promised by the controller is not there for us.
        return Seen(Supply(everything - promised + sum(ours.values(), Rates())), ours, dict(self._places))

    def _told(self, granted: Mapping[str, Rates], capacity: StorageCapacity) -> StorageReport:
        """For users; what it cannot tell holds up nothing."""
        try:
            return report(self._controller, granted, capacity)
        except StorageUnavailableError as error:
            return StorageReport(time.time(), f"the storage controller does not tell: {error}")

    def _keep(self, wanted: Mapping[str, Rates]) -> Mapping[str, BandwidthSlo]:
        there = self._controller.slos()
        for tenant in sorted(there.keys() - wanted.keys()):
            self._controller.clear_slo(tenant)
            self._reach(Step.SLO_CLEARED)
        for tenant in sorted(wanted):
            if there.get(tenant) != _slo(wanted[tenant]):
                self._controller.set_slo(tenant, _slo(wanted[tenant]))
                self._reach(Step.SLO_SET)
        return self._controller.slos()

    def _locate(self, uris: frozenset[str]) -> None:
        self._places = {uri: places for uri, places in self._places.items() if uri in uris}
        for uri in sorted(uris - self._places.keys())[:_LOCATED_AT_ONCE]:
            self._places[uri] = frozenset(self._controller.locality(uri))


def _slo(rates: Rates) -> BandwidthSlo:
    return BandwidthSlo(rates.read or None, rates.write or None)
