"""Keep the storage controller equal to the needs of active executions, without delaying a tick.

Level-triggered: each tick sets the desired state, and the reconciler makes the controller's SLOs and views equal to it.
So none is left behind: if a master dies, the first poll of the next one keeps the desired ones and removes the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Protocol, TypeVar

from storage_bridge.base import StorageController
from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.domain.executions.promises import BandwidthGuarantee
from zoe_lib.domain.values.storage import Located
from zoe_master.state.crash_points import Hit, never_crash
from zoe_master.storage.input_places import PlaceFinder, Told
from zoe_master.storage.reconcile_thread import ReconcileThread, Reconciliation
from zoe_master.storage.report import BandwidthReport
from zoe_master.storage.slo_reconciler import AWAY, DesiredSlos, SloReconciler, StorageState
from zoe_master.storage.tenant_tokens import SignIn, no_token
from zoe_master.storage.view_reconciler import ViewAnswers, ViewReconciler
from zoe_master.waker import TickWaker

T = TypeVar("T")
NO_INPUTS: frozenset[Located] = frozenset()


class StorageReconciler(Protocol):
    """The part of a controller that the master uses."""

    def set_desired(self, desired: DesiredSlos) -> StorageState:
        """Make the controller equal to this; return the state in force so far."""
        ...

    def last_state(self) -> StorageState:
        """Return the result of the last poll."""
        ...

    def locate(self, objects: frozenset[Located]) -> None:
        """Find the places of these inputs, and keep them updated."""
        ...

    def places(self) -> Told:
        """Return the known places of the inputs."""
        ...

    def moved_bytes(self) -> Mapping[str, float] | None:
        """Return bytes per second to and from each address, by the last poll; None if they are not reported."""
        ...

    def close(self) -> None:
        """Stop polling; SLOs and views in force stay."""
        ...


class InlineReconciler:
    """Polls within the call: for simulated controllers, which answer at once."""

    def __init__(self, controller: StorageController, hit: Hit = never_crash) -> None:
        self._slos = SloReconciler(controller, hit)
        self._views = ViewReconciler(controller, hit)
        self._desired: DesiredSlos | None = None
        self._places = PlaceFinder(controller, no_token)
        self._objects: frozenset[Located] = frozenset()

    def set_desired(self, desired: DesiredSlos) -> StorageState:
        """Make the controller equal to this now."""
        self._desired = desired
        return self.last_state()

    def last_state(self) -> StorageState:
        """Poll, and return the result."""
        found = _look_at_views(self._views, self._desired)
        return replace(self._slos.look(self._desired), verdicts=found.verdicts, unanswered=found.unanswered)

    def locate(self, objects: frozenset[Located]) -> None:
        """Set the inputs whose places `places` returns."""
        self._objects = objects

    def places(self) -> Told:
        """Poll, and return the result."""
        return self._places.look(self._objects)

    def moved_bytes(self) -> Mapping[str, float] | None:
        """Return bytes per second to and from each address, by the last poll."""
        return self._slos.report.moved

    def report(self) -> BandwidthReport:
        """Return the report of the last poll."""
        return self._slos.report

    def close(self) -> None:
        """Do nothing: there is no thread."""


class ThreadedReconciler:
    """Polls in separate threads, when the desired state changes and every `interval_s`; new results wake the master.

    Making and measuring views takes seconds, and so may listing many objects. SLOs, views and places therefore have a
    thread and a client of the controller each, so that SLOs wait for neither. Without `for_places`, places use the
    client of views.
    """

    def __init__(
        self,
        controller: StorageController,
        for_views: StorageController,
        waker: TickWaker,
        interval_s: float,
        hit: Hit = never_crash,
        sign_in: SignIn = no_token,
        for_places: StorageController | None = None,
    ) -> None:
        self._waker = waker
        self._interval_s = interval_s
        slos, views = SloReconciler(controller, hit), ViewReconciler(for_views, hit, sign_in)
        self._since: dict[ExecutionId, tuple[BandwidthGuarantee | None, int]] = {}
        self._slos = self._aside("zoe-storage", slos.look, StorageState(), StorageState(AWAY))
        self._its = slos
        none = ViewAnswers()
        self._views = self._aside("zoe-views", lambda desired: _look_at_views(views, desired), none, none)
        places = PlaceFinder(for_places or for_views, sign_in)
        unknown: Told = {}

        def news(observed: Told) -> None:  # `_places` is read late: the thread may begin before it is assigned
            self._places.publish_partial(observed)

        def look_at_places(desired: DesiredSlos | None) -> Told:
            return places.look(desired.inputs if desired else NO_INPUTS, news)

        self._places = self._aside("zoe-places", look_at_places, unknown, unknown)

    def set_desired(self, desired: DesiredSlos) -> StorageState:
        """Pass this to the threads; return the results of their last polls."""
        number = self._slos.set_desired(replace(desired, views={}, undecided=frozenset()))
        promised = {promise.execution_id: promise for promise in desired.promises}
        guarantees: dict[ExecutionId, BandwidthGuarantee | None] = {**dict.fromkeys(desired.withheld), **promised}
        before = self._since
        self._since = {
            text: before[text] if text in before and before[text][0] == new else (new, number)
            for text, new in guarantees.items()
        }
        self._views.set_desired(replace(desired, promises=(), withheld=frozenset(), users=None, told=frozenset()))
        return self.last_state()

    def last_state(self) -> StorageState:
        """Return the last results, at most `interval_s` and the controller's timeouts old.

        Results for guarantees that changed after the poll began are left out, since the SLO may be about to change.
        Changes of other guarantees of the same tenant do not matter.
        """
        number, observed = self._slos.last_result
        meant = {text for text, (_, since) in self._since.items() if since <= number}
        refused = {text: why for text, why in observed.refused.items() if text in meant}
        of_views = self._views.last_result[1]
        return replace(
            observed,
            held=observed.held & meant,
            refused=refused,
            verdicts=of_views.verdicts,
            unanswered=of_views.unanswered,
            missing=observed.missing & meant,
        )

    def locate(self, objects: frozenset[Located]) -> None:
        """Pass these inputs to the thread that asks for places."""
        self._places.set_desired(DesiredSlos(inputs=objects))

    def places(self) -> Told:
        """Return the results of the last poll, and the partial ones of the running poll."""
        return self._places.last_result[1]

    def moved_bytes(self) -> Mapping[str, float] | None:
        """Return bytes per second to and from each address, by the last poll."""
        return self._its.report.moved

    def report(self) -> BandwidthReport:
        """Return the report of the last poll."""
        return self._its.report

    def close(self) -> None:
        """Stop the threads after their running polls."""
        self._slos.close()
        self._views.close()
        self._places.close()

    def _aside(
        self, name: str, look: Callable[[DesiredSlos | None], T], first: T, failed: T
    ) -> Reconciliation[DesiredSlos, T]:
        """Return a thread that polls beside the ticks."""
        return ReconcileThread(name, look, first, failed, self._waker, self._interval_s)


def _look_at_views(views: ViewReconciler, desired: DesiredSlos | None) -> ViewAnswers:
    return ViewAnswers() if desired is None else views.answers(desired.views.values(), desired.undecided)
