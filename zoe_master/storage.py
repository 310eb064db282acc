"""Keeps the storage controller equal to what active executions are promised, without ever holding up a tick.

Level-triggered: each tick says what is wanted, and the keeper makes the controller's SLOs that and nothing else. So
none can be left behind: whatever a master that died had set is taken back, or kept, by the first look of the next.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import structlog

from storage_bridge.base import StorageController
from storage_bridge.model import BandwidthSlo, StorageUnavailableError
from zoe_lib.domain.promises import Rates, Supply
from zoe_master.waker import Waker

log = structlog.get_logger(__name__)

# More would hold up the SLOs; the others have their turn at the next look.
_LOCATED_AT_ONCE = 20
_NOT_ASKED = Supply(problem="the storage controller has not been asked yet")
_AWAY = Supply(problem="the storage controller cannot be reached")


@dataclass(frozen=True, slots=True)
class Seen:
    """What the last look at the controller found: what can be promised in all, and the SLOs in force by tenant.

    `locality` has the names of the nodes that hold the objects that were asked about, by their URIs.
    """

    supply: Supply = _NOT_ASKED
    slos: Mapping[str, Rates] = field(default_factory=dict)
    locality: Mapping[str, frozenset[str]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be in force, by tenant, and no other SLOs; and the objects whose places are asked for."""

    slos: Mapping[str, Rates]
    uris: frozenset[str] = frozenset()


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

    def __init__(self, controller: StorageController) -> None:
        self._looks = _Looks(controller)
        self._wanted: Wanted | None = None

    def want(self, wanted: Wanted) -> None:
        """Make it so now."""
        self._wanted = wanted
        self._looks.look(wanted)

    def seen(self) -> Seen:
        """A fresh look."""
        return self._looks.look(self._wanted)

    def close(self) -> None:
        """Nothing is held."""


class KeeperThread:
    """Asks in a thread of its own, when something else is wanted and every `interval_s`; news wake the master."""

    def __init__(self, controller: StorageController, waker: Waker, interval_s: float) -> None:
        self._looks = _Looks(controller)
        self._waker = waker
        self._interval_s = interval_s
        self._wanted: Wanted | None = None
        self._seen = Seen()
        self._changed = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="zoe-storage", daemon=True)
        self._thread.start()

    def want(self, wanted: Wanted) -> None:
        """Leave word for the thread."""
        if wanted != self._wanted:
            self._wanted = wanted
            self._changed.set()

    def seen(self) -> Seen:
        """The last look, as old as `interval_s` and the controller's time-out at most."""
        return self._seen

    def close(self) -> None:
        """End the thread once the call under way is over."""
        self._closing = True
        self._changed.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._closing:
            self._changed.clear()
            before = self._seen
            try:
                self._seen = self._looks.look(self._wanted)
            except Exception:  # a defect of ours must not end the thread: nothing would be taken back any more
                log.exception("the look at the storage controller failed")
                self._seen = Seen(_AWAY)
            if self._seen != before:
                self._waker.wake()
            self._changed.wait(self._interval_s)


class _Looks:
    """One look after the other. Where objects are is asked once, as long as somebody wants to know."""

    def __init__(self, controller: StorageController) -> None:
        self._controller = controller
        self._places: dict[str, frozenset[str]] = {}

    def look(self, wanted: Wanted | None) -> Seen:
        """Make it what is wanted (None: not known yet, nothing is touched) and tell how it is then."""
        try:
            slos = self._keep(wanted.slos) if wanted is not None else self._controller.slos()
            capacity = self._controller.capacity()
            if wanted is not None:
                self._locate(wanted.uris)
        except StorageUnavailableError as error:
            log.warning("the storage controller cannot be reached", why=str(error))
            return Seen(_AWAY)
        ours = {tenant: Rates(slo.read_bytes_per_s or 0, slo.write_bytes_per_s or 0) for tenant, slo in slos.items()}
        promised = Rates(capacity.promised_read_bytes_per_s, capacity.promised_write_bytes_per_s)
        everything = Rates(capacity.read_bytes_per_s, capacity.write_bytes_per_s)
        # What others were promised by the controller is not there for us.
        return Seen(Supply(everything - promised + sum(ours.values(), Rates())), ours, dict(self._places))

    def _keep(self, wanted: Mapping[str, Rates]) -> Mapping[str, BandwidthSlo]:
        there = self._controller.slos()
        for tenant in sorted(there.keys() - wanted.keys()):
            self._controller.clear_slo(tenant)
        for tenant in sorted(wanted):
            if there.get(tenant) != _slo(wanted[tenant]):
                self._controller.set_slo(tenant, _slo(wanted[tenant]))
        return self._controller.slos()

    def _locate(self, uris: frozenset[str]) -> None:
        self._places = {uri: places for uri, places in self._places.items() if uri in uris}
        for uri in sorted(uris - self._places.keys())[:_LOCATED_AT_ONCE]:
            self._places[uri] = frozenset(self._controller.locality(uri))


def _slo(rates: Rates) -> BandwidthSlo:
    return BandwidthSlo(rates.read or None, rates.write or None)
