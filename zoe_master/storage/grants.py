"""Request guarantees before a launch, and journal those in force."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import structlog

from zoe_lib.domain.executions.events import (
    Event,
    InputsDecided,
    StorageDeclined,
    StorageGranted,
    StorageRefused,
    StorageWithdrawn,
)
from zoe_lib.domain.executions.execution import Execution, ExecutionState, Mark
from zoe_lib.domain.executions.promises import (
    BandwidthSupply,
    Rates,
    StoreCapacity,
    awaits_grant,
    awaits_inputs,
    preferred_rates,
    promises,
    requested_rates,
    view_schemes,
)
from zoe_master.scheduler.ordering.snapshot import Plan
from zoe_master.state.crash_points import CrashPoint, Hit
from zoe_master.state.state_cache import StateCache
from zoe_master.state.tick_context import TickContext
from zoe_master.storage.execution_credentials import ExecutionCredentials
from zoe_master.storage.own_credentials import OwnCredentials
from zoe_master.storage.reconciler import StorageReconciler
from zoe_master.storage.slo_reconciler import DesiredSlos, StorageState
from zoe_master.storage.transfer_journal import TransferJournal
from zoe_master.storage.view_reconciler import InputViews

log = structlog.get_logger(__name__)

_PROMISED_TO_OTHERS = "the store cannot guarantee that much at present"
_NO_CONTROLLER = "no storage controller is configured"
_NOT_HELD = "the storage controller no longer guarantees it"

_STARTED = (ExecutionState.STARTING, ExecutionState.RUNNING)


class GuaranteeGrants:
    """Connects the state cache to the reconciler; without a reconciler there are no guarantees."""

    def __init__(
        self,
        cache: StateCache,
        reconciler: StorageReconciler | None,
        hit: Hit,
        views: InputViews | None = None,
        own: OwnCredentials | None = None,
    ) -> None:
        self._own = own or OwnCredentials(lambda _: False, enabled=False)
        self._cache = cache
        self._transfers = TransferJournal(cache, hit)
        self._views = views or InputViews(view_schemes(False))
        self._reconciler = reconciler
        self._hit = hit
        # While the controller is away, the last known supply counts, so that no guarantee is withdrawn for that reason.
        self._supply: Rates | None = None
        self._away_since_s: float | None = None
        self.capacity: StoreCapacity | None = None
        """Total capacity for guarantees, including other clients; None while unknown."""

    def observe(self) -> StorageState | None:
        """Return the state of the storage, once for the whole tick; None without a controller."""
        return self._reconciler.last_state() if self._reconciler is not None else None

    def sync(self, plan: Plan, tick: TickContext, storage: StorageState | None) -> None:
        """Request the guarantees and views of active executions, and journal those in force.

        `storage` is the state from which the plan was made, so both count the same supply.

        An execution that requires bandwidth starts nothing before its guarantee is in force. One that prefers bandwidth
        starts without it, and the journal says so. The journal also records, once for each attempt, why the controller
        refuses, and each withdrawal of a guarantee. No execution starts services before the way to read its inputs is
        decided.
        """
        active = self._cache.active()
        users = self._own.wanted_credentials(active)
        if self._reconciler is None or storage is None:
            self._own.take(ExecutionCredentials(offered=False))
            for execution in filter(_to_be_decided, active):
                self._decide(execution, StorageState(), _NO_CONTROLLER, tick)
            return
        supply = storage.supply
        if not supply.problem:
            self._supply = supply.rates
        desired = promises(active, self._supply)
        promised = {promise.execution_id: promise.rates for promise in desired}
        views = {view.id: view for execution in active for view in self._views.views_for(execution).values()}
        undecided = frozenset(v.id for e in active if _to_be_decided(e) for v in self._views.views_for(e).values())
        granted = [execution for execution in active if _has_grant(execution)]
        withheld = frozenset(execution.id for execution in granted) - promised.keys()
        observed = self._reconciler.set_desired(
            DesiredSlos(
                desired,
                views=views,
                undecided=undecided,
                withheld=withheld,
                users=users,
                told=self._transfers.written,
            )
        )
        if not observed.supply.problem:
            self._away_since_s = None
            self._own.take(observed.credentials)
        elif self._away_since_s is None:
            self._away_since_s = tick.now_s
        self._hit(CrashPoint.STORAGE_SYNCED)
        self.capacity = observed.capacity or self.capacity
        for execution in granted:
            if execution.id in observed.missing:
                why = (
                    _PROMISED_TO_OTHERS if execution.id in withheld else observed.refused.get(execution.id) or _NOT_HELD
                )
                self._withdraw(execution, why, tick)
        for execution in filter(_lacks_grant, active):
            if execution.id in observed.held:
                self._grant(execution, promised[execution.id], tick)
            elif execution.id in observed.refused:
                self._report_refusal(execution, observed.refused[execution.id], tick)
            elif execution.id in plan.starts and preferred_rates(execution.application) is not None:
                self._report_refusal(execution, _why_not(execution, supply, promised), tick)
        self._decide_inputs(active, observed, tick)
        self._transfers.write(observed.ended, tick)

    def _grant(self, execution: Execution, rates: Rates, tick: TickContext) -> None:
        read, write = rates.read or None, rates.write or None
        granted = StorageGranted(at_s=tick.now_s, cause_id=tick.plan_id, read_bytes_per_s=read, write_bytes_per_s=write)
        self._cache.append(execution, [granted])

    def _withdraw(self, execution: Execution, why: str, tick: TickContext) -> None:
        had = requested_rates(execution.application) or Rates()
        withdrawn = StorageWithdrawn(
            at_s=tick.now_s,
            cause_id=tick.plan_id,
            read_bytes_per_s=had.read or None,
            write_bytes_per_s=had.write or None,
            why=why,
        )
        self._cache.append(execution, [withdrawn])

    def _report_refusal(self, execution: Execution, why: str, tick: TickContext) -> None:
        """Report a refusal, once for each attempt; no effect without a reason."""
        if not why or execution.storage_problem:
            return
        wish = preferred_rates(execution.application)
        event: Event = StorageRefused(at_s=tick.now_s, cause_id=tick.plan_id, why=why)
        if wish is not None:
            read, write = wish.read or None, wish.write or None
            event = StorageDeclined(
                at_s=tick.now_s, cause_id=tick.plan_id, read_bytes_per_s=read, write_bytes_per_s=write, why=why
            )
        self._cache.append(execution, [event])

    def _decide_inputs(self, active: Sequence[Execution], observed: StorageState, tick: TickContext) -> None:
        """Decide how inputs are read, once for each attempt.

        As soon as all verdicts exist; plainly, if the controller has given none for `storage_patience_s`. A controller
        that has been away for that long already causes no further wait.
        """
        patience_s = self._cache.policy.storage_patience_s
        gone = self._away_since_s is not None and tick.now_s >= self._away_since_s + patience_s
        for before in filter(_to_be_decided, active):
            execution = self._cache.get(before.id)
            if execution is None or not _to_be_decided(execution):
                continue
            asked = [view.id for view in self._views.views_for(execution).values()]
            if all(text in observed.verdicts for text in asked):
                self._decide(execution, observed, "", tick)
            elif gone and not awaits_grant(execution):
                self._decide(execution, observed, observed.supply.problem, tick)
            elif tick.now_s >= execution.marks[Mark.PLACED] + patience_s:
                why = next((f": {observed.unanswered[text]}" for text in asked if text in observed.unanswered), "")
                late = observed.supply.problem or f"the storage controller made no view within {patience_s:g} s{why}"
                self._decide(execution, observed, late, tick)

    def _decide(self, execution: Execution, observed: StorageState, otherwise: str, tick: TickContext) -> None:
        inputs = self._views.ways_to_read(execution, observed.verdicts, otherwise, otherwise != _NO_CONTROLLER)
        for name in (read.name for read in inputs if read.unanswered):
            log.warning("an input is read plainly", execution=execution.id, input=name, why=otherwise)
        self._cache.append(execution, [InputsDecided(at_s=tick.now_s, cause_id=tick.plan_id, inputs=inputs)])
        self._hit(CrashPoint.INPUTS_DECIDED)


def _why_not(execution: Execution, supply: BandwidthSupply, promised: Mapping[str, Rates]) -> str:
    """Return why a starting execution lacks its preferred bandwidth; empty while an answer is pending."""
    return supply.problem or ("" if execution.id in promised else _PROMISED_TO_OTHERS)


def _lacks_grant(execution: Execution) -> bool:
    """Return whether an execution may want bandwidth and has not been granted it."""
    wants = execution.state in _STARTED and execution.application.storage is not None
    return wants and Mark.STORAGE_GRANTED not in execution.marks


def _has_grant(execution: Execution) -> bool:
    """Return whether an execution was granted bandwidth, which may still be withdrawn."""
    return execution.state in _STARTED and Mark.STORAGE_GRANTED in execution.marks


def _to_be_decided(execution: Execution) -> bool:
    return execution.state is ExecutionState.STARTING and awaits_inputs(execution)
