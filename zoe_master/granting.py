"""Asks the storage controller before anything is launched, and tells executions what they are promised."""

from __future__ import annotations

from collections.abc import Mapping

from zoe_lib.domain.events import Event, StorageDeclined, StorageGranted
from zoe_lib.domain.execution import Execution, ExecutionState, Mark
from zoe_lib.domain.promises import Rates, Supply, by_tenant, preferred, promises
from zoe_master.picture import Picture
from zoe_master.scheduler.snapshot import Plan
from zoe_master.steps import Reach, Step
from zoe_master.storage import Keeper, Wanted


class Granting:
    """Between the picture and the keeper of a controller; without a keeper nothing is promised to anybody."""

    def __init__(self, picture: Picture, keeper: Keeper | None, reach: Reach) -> None:
        self._picture = picture
        self._keeper = keeper
        self._reach = reach
        # While the controller is away the last known supply counts, so that nothing promised is taken back for that.
        self._supply = Supply()

    def supply(self) -> Supply | None:
        """What can be promised; None when there is no controller."""
        return self._keeper.seen().supply if self._keeper is not None else None

    def locality(self) -> Mapping[str, frozenset[str]]:
        """Names of the nodes that hold an object, by its URI, as far as it was asked for and is reported."""
        return self._keeper.seen().locality if self._keeper is not None else {}

    def sync(self, plan: Plan, now_s: float, plan_id: str) -> None:
        """Want what active executions are promised, and journal whose promise is in force.

        One that requires its bandwidth starts nothing before that; one that prefers it is told when it starts without.
        """
        if self._keeper is None:
            return
        active = self._picture.active()
        supply = self._keeper.seen().supply
        if not supply.problem:
            self._supply = supply
        promised = promises(active, self._supply)
        wanted = by_tenant(active, promised)
        self._keeper.want(Wanted(wanted, self._inputs_of_queue()))
        self._reach(Step.STORAGE_SYNCED)
        in_force = self._keeper.seen().slos
        held = {tenant for tenant, rates in wanted.items() if rates.fits_in(in_force.get(tenant, Rates()))}
        for execution in active:
            if execution.state is not ExecutionState.STARTING or Mark.STORAGE_GRANTED in execution.marks:
                continue
            if execution.id in promised and execution.tenant in held:
                self._picture.append(execution, [_granted(promised[execution.id], now_s, plan_id)])
            elif execution.id in plan.starts and (supply.problem or execution.id not in promised):
                self._decline(execution, now_s, plan_id)

    def _inputs_of_queue(self) -> frozenset[str]:
        """URIs whose places matter to the policy soon."""
        if "locality" not in self._picture.policy.weighers:
            return frozenset()
        waiting = (execution.application.storage for execution in self._picture.backlog)
        return frozenset(one.uri for storage in waiting if storage is not None for one in storage.inputs)

    def _decline(self, execution: Execution, now_s: float, plan_id: str) -> None:
        wish = preferred(execution.application)
        if wish is not None:
            declined = StorageDeclined(
                at_s=now_s,
                cause_id=plan_id,
                read_bytes_per_s=wish.read or None,
                write_bytes_per_s=wish.write or None,
            )
            self._picture.append(execution, [declined])


def _granted(rates: Rates, now_s: float, plan_id: str) -> Event:
    return StorageGranted(
        at_s=now_s, cause_id=plan_id, read_bytes_per_s=rates.read or None, write_bytes_per_s=rates.write or None
    )
