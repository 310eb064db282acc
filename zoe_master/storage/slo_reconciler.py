"""Make the SLOs of a storage controller equal to the guarantees of executions, and determine which are in force.

A controller knows one SLO for each tenant: the sum of its guarantees. They are added one by one, so that a refused one
does not affect the others, and preferred bandwidth does not affect required bandwidth.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import structlog

from storage_bridge.base import StorageController
from storage_bridge.model import (
    BandwidthSlo,
    EndedTransfers,
    StorageCapacity,
    StorageRefusedError,
    StorageUnavailableError,
    View,
    ViewVerdict,
)
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import ExecutionId
from zoe_lib.domain.executions.promises import BandwidthGuarantee, BandwidthSupply, Rates, StoreCapacity, by_tenant
from zoe_lib.domain.values.storage import Located
from zoe_master.state.crash_points import CrashPoint, Hit
from zoe_master.storage.execution_credentials import CredentialReconciler, ExecutionCredentials
from zoe_master.storage.report import BandwidthReport, available_rates, report, store_capacity

log = structlog.get_logger(__name__)

_NOT_ASKED = BandwidthSupply(problem="the storage controller has not answered yet")
AWAY = BandwidthSupply(problem="the storage controller cannot be reached")
_UNANSWERED = "the storage controller does not answer"


@dataclass(frozen=True, slots=True)
class StorageState:
    """The result of the last poll: the total capacity for guarantees, and the guarantees in force (`held`).

    `refused`: why the controller refused others, in its words, by execution. `verdicts`: whether undecided views pay,
    by id; `unanswered`: why others have no verdict yet. `missing`: executions whose guarantee was requested or
    withheld, and is known not to be in force. `capacity`: total capacity for guarantees, including other clients; None
    while unknown. `credentials`: those of executions. `ended`: transfers of ended credentials.
    """

    supply: BandwidthSupply = _NOT_ASKED
    held: frozenset[ExecutionId] = frozenset()
    refused: Mapping[ExecutionId, str] = field(default_factory=dict)
    verdicts: Mapping[str, ViewVerdict] = field(default_factory=dict)
    unanswered: Mapping[str, str] = field(default_factory=dict)
    missing: frozenset[ExecutionId] = frozenset()
    capacity: StoreCapacity | None = None
    credentials: ExecutionCredentials = field(default_factory=ExecutionCredentials)
    ended: tuple[EndedTransfers, ...] = ()

    @property
    def was_polled(self) -> bool:
        """Return False before the first poll has ended."""
        return self.supply is not _NOT_ASKED


@dataclass(frozen=True, slots=True)
class DesiredSlos:
    """The desired state: guarantees in the order of their requests, and exactly these views, by id.

    `undecided`: views to measure, to determine whether they pay. `withheld`: executions that had a guarantee of
    preferred bandwidth, and get none now. `inputs`: inputs whose places are needed. `users`: the tenants of executions
    that need their own credentials; None if no service accepts any. `told`: generations of credentials whose transfers
    are in the journal.
    """

    promises: tuple[BandwidthGuarantee, ...] = ()
    inputs: frozenset[Located] = frozenset()
    views: Mapping[str, View] = field(default_factory=dict)
    undecided: frozenset[str] = frozenset()
    withheld: frozenset[ExecutionId] = frozenset()
    users: Mapping[ExecutionId, str] | None = None
    told: frozenset[int] = frozenset()

    def missing(self, held: frozenset[ExecutionId]) -> frozenset[ExecutionId]:
        """Return the executions without a guarantee, if only those of `held` are in force."""
        return frozenset(promise.execution_id for promise in self.promises) - held | self.withheld


class SloReconciler:
    """Polls the SLOs of a controller."""

    def __init__(self, controller: StorageController, hit: Hit, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._controller = controller
        self._hit = hit
        self._credentials = CredentialReconciler(controller)
        self.report = BandwidthReport(problem=_NOT_ASKED.problem)

    def look(self, desired: DesiredSlos | None) -> StorageState:
        """Make the SLOs as desired (None: unknown yet, so change nothing), and return the state after that."""
        try:
            there = _in_force(self._controller)
            asking = _SloPoll(self._controller, there, self._hit)
            if desired is not None:
                asking.make(desired.promises)
                there = _in_force(self._controller)
            held = asking.held_executions(there)
            guaranteed = (
                {promise.execution_id: promise.rates for promise in desired.promises if promise.execution_id in held}
                if desired
                else {}
            )
            users, told = (desired.users, desired.told) if desired is not None else (None, frozenset[int]())
            credentials = self._credentials.look(users, guaranteed, told)
            # Only now: until its credential ends, the controller counts the guarantee of an ended execution.
            capacity = self._controller.capacity()
        except StorageUnavailableError as error:
            log.warning("the storage controller cannot be reached", why=str(error))
            self.report = BandwidthReport(self._clock.now_s(), AWAY.problem, self._controller.circuit_open())
            return StorageState(AWAY)
        self.report = self._report(there, capacity)
        promised = Rates(capacity.promised_read_bytes_per_s, capacity.promised_write_bytes_per_s)
        everything = store_capacity(capacity)
        # Promises of the controller to other clients are not available to this Zoe.
        others = promised - sum(there.values(), Rates())
        supply = BandwidthSupply(available_rates(capacity) - others, others=others, away="; ".join(capacity.away))
        missing = desired.missing(held) if desired is not None else frozenset()
        self.report = replace(self.report, executions=self._credentials.moved)
        return StorageState(
            supply,
            held,
            asking.refused,
            missing=missing,
            capacity=everything,
            credentials=credentials,
            ended=self._credentials.ended,
        )

    def _report(self, granted: Mapping[str, Rates], capacity: StorageCapacity) -> BandwidthReport:
        """Return the report for users; a controller without reports delays nothing else."""
        try:
            return report(self._controller, granted, capacity, self._clock)
        except StorageUnavailableError as error:
            return BandwidthReport(self._clock.now_s(), f"the storage controller does not report its SLOs: {error}")


class _SloPoll:
    """One poll of the SLOs. `there`: SLOs in force, by tenant; `refused`: why guarantees are not, by execution.

    `_taken`: the guarantees that were not refused. If one got no answer, the SLOs in force show whether it was set.
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
        """Remove undesired SLOs, then request required bandwidth, then preferred bandwidth.

        Raises StorageUnavailableError, but not for preferred bandwidth: that is logged, and the next poll retries.
        """
        self._lower(by_tenant(promises))
        self._ask([promise for promise in promises if promise.required])
        preferred = [promise for promise in promises if not promise.required]
        try:
            self._ask(preferred)
        except StorageUnavailableError as error:
            log.warning("the storage controller does not answer about preferred bandwidth", why=str(error))
            answered = self.refused.keys() | {guarantee.execution_id for guarantee in self._taken}
            unanswered = [promise for promise in preferred if promise.execution_id not in answered]
            self.refused |= {promise.execution_id: _UNANSWERED for promise in unanswered}
            self._taken += unanswered
            return
        self._lower(self._sums)

    def held_executions(self, there: Mapping[str, Rates]) -> frozenset[ExecutionId]:
        """Return the executions whose guarantees are within the SLOs in force."""
        sums: dict[str, Rates] = defaultdict(Rates)
        found = set()
        for promise in self._taken:
            together = sums[promise.tenant] + promise.rates
            if together.fits_in(there.get(promise.tenant, Rates())):
                sums[promise.tenant] = together
                found.add(promise.execution_id)
        return frozenset(found)

    def _ask(self, promises: Sequence[BandwidthGuarantee]) -> None:
        """Request all guarantees of a tenant together; if that is refused, one by one."""
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
        """Add this much to the tenant's SLO; return why that is refused, or an empty text.

        No request exceeds an earlier refusal, since many executions may want the same.
        """
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
        """Lower the SLOs to these bounds; remove those without a bound."""
        for tenant, there in sorted(self._there.items()):
            left = there.at_most(most.get(tenant, Rates()))
            if left == Rates():
                self._controller.clear_slo(tenant)
                del self._there[tenant]
                self._hit(CrashPoint.SLO_CLEARED)
            elif left != there:
                self._set(tenant, left)

    def _set(self, tenant: str, rates: Rates) -> str:
        """Set an SLO; return why it is refused, or an empty text."""
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
