"""Makes the SLOs of a storage controller what executions are promised, and finds out which promises it holds.

A controller knows one SLO of each tenant: the sum of its promises. Which promises are in that sum is decided here, one
after the other, so that one that is refused costs nothing but itself, and what is preferred nothing that is required.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from storage_bridge.base import StorageController
from storage_bridge.model import (
    BandwidthSlo,
    StorageCapacity,
    StorageRefusedError,
    StorageUnavailableError,
    View,
    ViewVerdict,
)
from zoe_lib.domain.execution import ExecutionId
from zoe_lib.domain.promises import BandwidthGuarantee, BandwidthSupply, Rates, StoreCapacity, by_tenant
from zoe_lib.domain.storage import Located
from zoe_master.crash_points import CrashPoint, Hit
from zoe_master.storage.report import BandwidthReport, report, store_capacity

log = structlog.get_logger(__name__)

_NOT_ASKED = BandwidthSupply(problem="the storage controller has not answered yet")
AWAY = BandwidthSupply(problem="the storage controller cannot be reached")
_UNANSWERED = "the storage controller does not answer"


@dataclass(frozen=True, slots=True)
class StorageState:
    """What the last look at the controller found: what can be promised in all, and whose promises are in force.

    `refused`: why others are not, in the controller's words, by execution. `verdicts`: whether views that were not
    decided pay, by id. `missing`: of whom it is known that nothing is in force, of those whose promises were wanted or
    withheld. `capacity`: what the store can promise in all, to others, too; None while it is not told.
    """

    supply: BandwidthSupply = _NOT_ASKED
    held: frozenset[ExecutionId] = frozenset()
    refused: Mapping[ExecutionId, str] = field(default_factory=dict)
    verdicts: Mapping[str, ViewVerdict] = field(default_factory=dict)
    missing: frozenset[ExecutionId] = frozenset()
    capacity: StoreCapacity | None = None

    @property
    def looked(self) -> bool:
        """False before the first look: an answer is still to come."""
        return self.supply is not _NOT_ASKED


@dataclass(frozen=True, slots=True)
class DesiredSlos:
    """What is to be in force, in the sequence in which it is asked for.

    `views` by id, and no others; `undecided` are those of which it is to be found out whether they pay. `withheld`:
    executions that were granted what they prefer, and are promised nothing now. `inputs`: whose places are asked for.
    """

    promises: tuple[BandwidthGuarantee, ...] = ()
    inputs: frozenset[Located] = frozenset()
    views: Mapping[str, View] = field(default_factory=dict)
    undecided: frozenset[str] = frozenset()
    withheld: frozenset[ExecutionId] = frozenset()

    def missing(self, held: frozenset[ExecutionId]) -> frozenset[ExecutionId]:
        """Return who has nothing of it when only the promises of these are in force."""
        return frozenset(promise.execution_id for promise in self.promises) - held | self.withheld


class SloReconciler:
    """One look after the other."""

    def __init__(self, controller: StorageController, hit: Hit) -> None:
        self._controller = controller
        self._hit = hit
        self.report = BandwidthReport(problem=_NOT_ASKED.problem)

    def look(self, desired: DesiredSlos | None) -> StorageState:
        """Make it what is wanted (None: not known yet, nothing is touched) and tell how it is then."""
        try:
            there = _in_force(self._controller)
            asking = _Asking(self._controller, there, self._hit)
            if desired is not None:
                asking.make(desired.promises)
                there = _in_force(self._controller)
            capacity = self._controller.capacity()
        except StorageUnavailableError as error:
            log.warning("the storage controller cannot be reached", why=str(error))
            self.report = BandwidthReport(time.time(), AWAY.problem, self._controller.circuit_open())
            return StorageState(AWAY)
        self.report = self._told(there, capacity)
        promised = Rates(capacity.promised_read_bytes_per_s, capacity.promised_write_bytes_per_s)
        everything = store_capacity(capacity)
        # What others were promised by the controller is not there for us.
        supply = BandwidthSupply(everything.rates - promised + sum(there.values(), Rates()))
        held = asking.held(there)
        missing = desired.missing(held) if desired is not None else frozenset()
        return StorageState(supply, held, asking.refused, missing=missing, capacity=everything)

    def _told(self, granted: Mapping[str, Rates], capacity: StorageCapacity) -> BandwidthReport:
        """For users; what it cannot tell holds up nothing."""
        try:
            return report(self._controller, granted, capacity)
        except StorageUnavailableError as error:
            return BandwidthReport(time.time(), f"the storage controller does not report its SLOs: {error}")


class _Asking:
    """One look at the SLOs. `there`: what is in force, by tenant; `refused`: why promises are not, by execution.

    `taken`: the promises that were not refused; of those that were not answered to, what is in force tells.
    """

    def __init__(self, controller: StorageController, there: Mapping[str, Rates], hit: Hit) -> None:
        self._controller = controller
        self._hit = hit
        self._there = dict(there)
        self._taken: list[BandwidthGuarantee] = []
        self._sums: dict[str, Rates] = defaultdict(Rates)
        self._said: dict[str, list[tuple[Rates, str]]] = defaultdict(list)
        self.refused: dict[ExecutionId, str] = {}

    def make(self, promises: Sequence[BandwidthGuarantee]) -> None:
        """Take back what nobody wants, then ask for what is required, then for what is preferred.

        StorageUnavailableError; but that there is no answer to what is preferred is only said, and looked at again.
        """
        self._lower(by_tenant(promises))
        self._ask([promise for promise in promises if promise.required])
        preferred = [promise for promise in promises if not promise.required]
        try:
            self._ask(preferred)
        except StorageUnavailableError as error:
            log.warning("the storage controller does not answer about preferred bandwidth", why=str(error))
            answered = self.refused.keys() | {one.execution_id for one in self._taken}
            unanswered = [promise for promise in preferred if promise.execution_id not in answered]
            self.refused |= {promise.execution_id: _UNANSWERED for promise in unanswered}
            self._taken += unanswered
            return
        self._lower(self._sums)

    def held(self, there: Mapping[str, Rates]) -> frozenset[ExecutionId]:
        """Whose promises are in what is in force."""
        sums: dict[str, Rates] = defaultdict(Rates)
        found = set()
        for promise in self._taken:
            together = sums[promise.tenant] + promise.rates
            if together.fits_in(there.get(promise.tenant, Rates())):
                sums[promise.tenant] = together
                found.add(promise.execution_id)
        return frozenset(found)

    def _ask(self, promises: Sequence[BandwidthGuarantee]) -> None:
        """All of a tenant at once; where that is refused, one after the other."""
        of_tenant: dict[str, list[BandwidthGuarantee]] = defaultdict(list)
        for promise in promises:
            of_tenant[promise.tenant].append(promise)
        for tenant, guarantees in of_tenant.items():
            if not self._refusal(tenant, by_tenant(guarantees)[tenant]):
                self._take(guarantees)
                continue
            for promise in guarantees:
                if why := self._refusal(tenant, promise.rates):
                    self.refused[promise.execution_id] = why
                else:
                    self._take([promise])

    def _take(self, promises: Sequence[BandwidthGuarantee]) -> None:
        self._taken += promises
        for promise in promises:
            self._sums[promise.tenant] += promise.rates

    def _refusal(self, tenant: str, more: Rates) -> str:
        """Return why the tenant cannot have so much beside what was taken; nothing once it has.

        What is no less than something that was refused is not asked for: there may be many who want the same."""
        rates = self._sums[tenant] + more
        if rates.fits_in(self._there.get(tenant, Rates())):
            return ""
        for refused, why in self._said[tenant]:
            if refused.fits_in(rates):
                return why
        why = self._set(tenant, rates)
        if why:
            self._said[tenant].append((rates, why))
        return why

    def _lower(self, most: Mapping[str, Rates]) -> None:
        """Leave no tenant more than so much."""
        for tenant, there in sorted(self._there.items()):
            left = there.at_most(most.get(tenant, Rates()))
            if left == Rates():
                self._controller.clear_slo(tenant)
                del self._there[tenant]
                self._hit(CrashPoint.SLO_CLEARED)
            elif left != there:
                self._set(tenant, left)

    def _set(self, tenant: str, rates: Rates) -> str:
        """Put it in force; why not, where it is refused."""
        try:
            self._controller.set_slo(tenant, BandwidthSlo(rates.read or None, rates.write or None))
        except StorageRefusedError as error:
            log.warning("the storage controller refuses an SLO", tenant=tenant, why=str(error))
            return error.sentence
        self._there[tenant] = rates
        self._hit(CrashPoint.SLO_SET)
        return ""


def _in_force(controller: StorageController) -> dict[str, Rates]:
    return {t: Rates(slo.read_bytes_per_s or 0, slo.write_bytes_per_s or 0) for t, slo in controller.slos().items()}
