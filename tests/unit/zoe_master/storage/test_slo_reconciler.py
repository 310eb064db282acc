"""The remaining guarantees of the object store, after each poll."""

from __future__ import annotations

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.model import BandwidthSlo, StorageCapacity
from storage_bridge.simulated import SimulatedController
from zoe_lib.domain.executions.promises import BandwidthGuarantee, Rates
from zoe_master.state.crash_points import never_crash
from zoe_master.storage.slo_reconciler import DesiredSlos, SloReconciler


class Ledger(SimulatedController):
    """Counts for each tenant the guarantees of its executions, if they exceed its SLO, like Zoe's own."""

    def __init__(self) -> None:
        super().__init__(Capacity(100, {"disk": 100}))
        self.with_credentials = True

    def capacity(self) -> StorageCapacity:
        whole = super().capacity()
        slos = {tenant: slo.read_bytes_per_s or 0 for tenant, slo in self.slos().items()}
        executions: dict[str, int] = {}
        for execution in (self.executions() or {}).values():
            executions[execution.tenant] = executions.get(execution.tenant, 0) + (execution.slo.read_bytes_per_s or 0)
        promised = sum(max(slos.get(name, 0), executions.get(name, 0)) for name in slos.keys() | executions.keys())
        return StorageCapacity(whole.read_bytes_per_s, whole.write_bytes_per_s, promised, 0)


def test_guarantee_of_an_ended_execution_is_free_at_once() -> None:
    """Its guarantee ends with its credential: until then, the controller counts it as promised."""
    reconciler = SloReconciler(Ledger(), never_crash)
    guarantee = BandwidthGuarantee("x", "acme", Rates(read=80), required=True)
    before = reconciler.look(DesiredSlos((guarantee,), users={"x": "acme"}))
    assert before.held == {"x"}
    assert before.supply.rates.read == 100
    assert reconciler.look(DesiredSlos((), users={})).supply.rates.read == 100


def test_bandwidth_promised_by_policies_is_not_free() -> None:
    """The whole store delivers 100 B/s: a standing SLO, or a rule, of another tenant leaves 60 of them."""
    controller = SimulatedController(Capacity(100, {"disk": 100}))
    reconciler = SloReconciler(controller, never_crash)
    assert reconciler.look(DesiredSlos()).supply.rates.read == 100
    controller.standing = {"other": BandwidthSlo(40, None)}
    supply = reconciler.look(DesiredSlos()).supply
    assert (supply.rates.read, supply.others) == (60, Rates(40, 0))
    guarantee = BandwidthGuarantee("x", "acme", Rates(read=50), required=True)
    held = reconciler.look(DesiredSlos((guarantee,)))
    assert (held.held, held.supply.rates.read) == ({"x"}, 60)


def test_a_dead_store_has_no_supply_and_keeps_what_is_in_force() -> None:
    """The controller answers, and says that the store moves nothing."""
    controller = SimulatedController(Capacity(100, {"disk": 100}))
    reconciler = SloReconciler(controller, never_crash)
    guarantee = BandwidthGuarantee("x", "acme", Rates(read=50), required=True)
    assert reconciler.look(DesiredSlos((guarantee,))).held == {"x"}
    controller.store_away = "no proxy of the object store answers"
    dead = reconciler.look(DesiredSlos((guarantee,)))
    assert (dead.held, dead.missing) == ({"x"}, frozenset())
    assert (dead.supply.rates, dead.supply.away) == (Rates(), controller.store_away)
    assert (dead.capacity and dead.capacity.rates) == Rates(100, 100), "what can never fit is judged by the whole store"
    assert reconciler.report.capacity == Rates()
    controller.store_away = ""
    assert reconciler.look(DesiredSlos((guarantee,))).supply.rates == Rates(100, 100)


def test_bandwidth_promised_by_policies_is_reported_as_granted() -> None:
    controller = SimulatedController(Capacity(100, {"disk": 100}))
    controller.standing = {"other": BandwidthSlo(40, None), "acme": BandwidthSlo(10, 20)}
    reconciler = SloReconciler(controller, never_crash)
    reconciler.look(DesiredSlos((BandwidthGuarantee("x", "acme", Rates(read=50), required=True),)))
    granted = {name: bandwidth.granted for name, bandwidth in reconciler.report.tenants.items()}
    assert granted == {"acme": Rates(50, 20), "other": Rates(40, 0)}
