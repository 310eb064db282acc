"""Keeps the storage controller equal to what active executions need, without ever holding up a tick.

Level-triggered: each tick says what is wanted, and the keeper makes the controller's SLOs and views that and nothing
else. So none can be left behind: whatever a master that died had set is taken back, or kept, by the first look of the
next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol, TypeVar

import structlog

from storage_bridge.base import StorageController
from storage_bridge.model import StorageUnavailableError, Verdict
from zoe_lib.domain.execution import ExecutionId
from zoe_lib.domain.promises import Promise
from zoe_lib.domain.storage import Located
from zoe_master.crash_points import Reach, pass_by
from zoe_master.storage.input_places import PlaceLooks, Told
from zoe_master.storage.reconcile_thread import Looking, Looks
from zoe_master.storage.report import StorageReport
from zoe_master.storage.slo_reconciler import AWAY, Seen, SloLooks, Wanted
from zoe_master.storage.tenant_tokens import SignIn, nobody
from zoe_master.storage.view_reconciler import ViewLooks
from zoe_master.waker import Waker

log = structlog.get_logger(__name__)
T = TypeVar("T")
NO_INPUTS: frozenset[Located] = frozenset()


class Keeper(Protocol):
    """What the master uses of a controller."""

    def want(self, wanted: Wanted) -> None:
        """Make it so, and keep it so."""
        ...

    def seen(self) -> Seen:
        """The last look."""
        ...

    def locate(self, objects: frozenset[Located]) -> None:
        """Find out where these inputs lie, and keep knowing it."""
        ...

    def places(self) -> Told:
        """What is known of that."""
        ...

    def moved(self) -> Mapping[str, float] | None:
        """Bytes per second to and from each address, by the last look; None where that is not told."""
        ...

    def close(self) -> None:
        """Ask no more; what is in force stays."""
        ...


class InlineKeeper:
    """Asks at once, where that takes no time: simulated controllers."""

    def __init__(self, controller: StorageController, reach: Reach = pass_by) -> None:
        self._slos = SloLooks(controller, reach)
        self._views = ViewLooks(controller, reach)
        self._wanted: Wanted | None = None
        self._places = PlaceLooks(controller, nobody)
        self._objects: frozenset[Located] = frozenset()

    def want(self, wanted: Wanted) -> None:
        """Make it so now."""
        self._wanted = wanted
        self.seen()

    def seen(self) -> Seen:
        """A fresh look."""
        return replace(self._slos.look(self._wanted), verdicts=_look_at_views(self._views, self._wanted))

    def locate(self, objects: frozenset[Located]) -> None:
        """Find out where these inputs lie."""
        self._objects = objects

    def places(self) -> Told:
        """A fresh look."""
        return self._places.look(self._objects)

    def moved(self) -> Mapping[str, float] | None:
        """By the last look."""
        return self._slos.report.moved

    def report(self) -> StorageReport:
        """Of the last look."""
        return self._slos.report

    def close(self) -> None:
        """Nothing is held."""


class KeeperThread:
    """Asks in threads of its own, when something else is wanted and every `interval_s`; news wake the master.

    Making and measuring views takes seconds, and so may a look at many objects; each has a thread and a way to the
    controller of its own (`for_places`: that of views without): SLOs wait for neither.
    """

    def __init__(
        self,
        controller: StorageController,
        for_views: StorageController,
        waker: Waker,
        interval_s: float,
        reach: Reach = pass_by,
        sign_in: SignIn = nobody,
        for_places: StorageController | None = None,
    ) -> None:
        self._waker = waker
        self._interval_s = interval_s
        slos, views = SloLooks(controller, reach), ViewLooks(for_views, reach, sign_in)
        self._since: dict[ExecutionId, tuple[Promise | None, int]] = {}
        self._slos = self._aside("zoe-storage", slos.look, Seen(), Seen(AWAY))
        self._its = slos
        none: Mapping[str, Verdict] = {}
        self._views = self._aside("zoe-views", lambda wanted: _look_at_views(views, wanted), none, none)
        places = PlaceLooks(for_places or for_views, sign_in)
        unknown: Told = {}

        def news(told: Told) -> None:  # looked up when there are any: the thread may begin before it is assigned
            self._places.tell(told)

        def look_at_places(wanted: Wanted | None) -> Told:
            return places.look(wanted.inputs if wanted else NO_INPUTS, news)

        self._places = self._aside("zoe-places", look_at_places, unknown, unknown)

    def want(self, wanted: Wanted) -> None:
        """Leave word for the threads."""
        number = self._slos.want(replace(wanted, views={}, undecided=frozenset()))
        promised = {promise.execution_id: promise for promise in wanted.promises}
        asked: dict[ExecutionId, Promise | None] = {**dict.fromkeys(wanted.withheld), **promised}
        before = self._since
        self._since = {
            one: before[one] if one in before and before[one][0] == new else (new, number) for one, new in asked.items()
        }
        self._views.want(replace(wanted, promises=(), withheld=frozenset()))

    def seen(self) -> Seen:
        """The last looks, as old as `interval_s` and the controller's time-outs at most.

        Nothing counts of a promise that is wanted, wanted again, or withheld, since the look was begun only: what is in
        force may be on its way out, or in. That others of its tenant came or went takes nothing from it.
        """
        number, seen = self._slos.seen
        meant = {one for one, (_, since) in self._since.items() if since <= number}
        refused = {one: why for one, why in seen.refused.items() if one in meant}
        verdicts = self._views.seen[1]
        return replace(seen, held=seen.held & meant, refused=refused, verdicts=verdicts, missing=seen.missing & meant)

    def locate(self, objects: frozenset[Located]) -> None:
        """Leave word for the thread that asks for places."""
        self._places.want(Wanted(inputs=objects))

    def places(self) -> Told:
        """What the last look found, and the one under way so far."""
        return self._places.seen[1]

    def moved(self) -> Mapping[str, float] | None:
        """By the last look."""
        return self._its.report.moved

    def report(self) -> StorageReport:
        """Of the last look."""
        return self._its.report

    def close(self) -> None:
        """End the threads once the calls under way are over."""
        self._slos.close()
        self._views.close()
        self._places.close()

    def _aside(self, name: str, look: Callable[[Wanted | None], T], first: T, failed: T) -> Looks[Wanted, T]:
        """What looks beside the ticks."""
        return Looking(name, look, first, failed, self._waker, self._interval_s)


def _look_at_views(views: ViewLooks, wanted: Wanted | None) -> Mapping[str, Verdict]:
    if wanted is None:
        return {}
    try:
        return views.look(wanted.views.values(), wanted.undecided)
    except StorageUnavailableError as error:
        log.warning("the views cannot be looked at", why=str(error))
        return {}
