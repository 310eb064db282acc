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

_NOT_ASKED = Supply(problem="the storage controller has not been asked yet")
_AWAY = Supply(problem="the storage controller cannot be reached")


@dataclass(frozen=True, slots=True)
class Seen:
    """What the last look at the controller found: what can be promised in all, and the SLOs in force by tenant."""

    supply: Supply = _NOT_ASKED
    slos: Mapping[str, Rates] = field(default_factory=dict)


class Keeper(Protocol):
    """What the master uses of a controller."""

    def want(self, slos: Mapping[str, Rates]) -> None:
        """These SLOs are to be in force, by tenant, and no others."""
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
        self._controller = controller
        self._seen = Seen()
        self._wanted: Mapping[str, Rates] | None = None

    def want(self, slos: Mapping[str, Rates]) -> None:
        """Make it so now."""
        self._wanted = slos
        self._seen = _look(self._controller, slos)

    def seen(self) -> Seen:
        """A fresh look."""
        self._seen = _look(self._controller, self._wanted)
        return self._seen

    def close(self) -> None:
        """Nothing is held."""


class KeeperThread:
    """Asks in a thread of its own, when something else is wanted and every `interval_s`; news wake the master."""

    def __init__(self, controller: StorageController, waker: Waker, interval_s: float) -> None:
        self._controller = controller
        self._waker = waker
        self._interval_s = interval_s
        self._wanted: Mapping[str, Rates] | None = None
        self._seen = Seen()
        self._changed = threading.Event()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="zoe-storage", daemon=True)
        self._thread.start()

    def want(self, slos: Mapping[str, Rates]) -> None:
        """Leave word for the thread."""
        if slos != self._wanted:
            self._wanted = dict(slos)
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
                self._seen = _look(self._controller, self._wanted)
            except Exception:  # a defect of ours must not end the thread: nothing would be taken back any more
                log.exception("the look at the storage controller failed")
                self._seen = Seen(_AWAY)
            if self._seen != before:
                self._waker.wake()
            self._changed.wait(self._interval_s)


def _look(controller: StorageController, wanted: Mapping[str, Rates] | None) -> Seen:
    """Make the SLOs what is wanted (None: not known yet, nothing is touched) and tell how it is then."""
    try:
        there = controller.slos()
        if wanted is not None:
            for tenant in sorted(there.keys() - wanted.keys()):
                controller.clear_slo(tenant)
            for tenant in sorted(wanted):
                if there.get(tenant) != _slo(wanted[tenant]):
                    controller.set_slo(tenant, _slo(wanted[tenant]))
            there = controller.slos()
        capacity = controller.capacity()
    except StorageUnavailableError as error:
        log.warning("the storage controller cannot be reached", why=str(error))
        return Seen(_AWAY)
    ours = {tenant: Rates(slo.read_bytes_per_s or 0, slo.write_bytes_per_s or 0) for tenant, slo in there.items()}
    total = sum(ours.values(), Rates())
    promised = Rates(capacity.promised_read_bytes_per_s, capacity.promised_write_bytes_per_s)
    everything = Rates(capacity.read_bytes_per_s, capacity.write_bytes_per_s)
    # What others were promised by the controller is not there for us.
    return Seen(Supply(everything - promised + total), ours)


def _slo(rates: Rates) -> BandwidthSlo:
    return BandwidthSlo(rates.read or None, rates.write or None)
