"""What the object store can still guarantee, after each poll."""

from __future__ import annotations

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.model import StorageCapacity
from storage_bridge.simulated import SimulatedController
from zoe_lib.domain.promises import BandwidthGuarantee, Rates
from zoe_master.crash_points import never_crash
from zoe_master.storage.slo_reconciler import DesiredSlos, SloReconciler


class Ledger(SimulatedController):
    """Counts for each tenant what its executions are guaranteed, if that is more than its SLO, as Zoe's own does."""

    def __init__(self) -> None:
        super().__init__(Capacity(100, {"disk": 100}))
        self.with_credentials = True

    def capacity(self) -> StorageCapacity:
        whole = super().capacity()
        slos = {tenant: slo.read_bytes_per_s or 0 for tenant, slo in self.slos().items()}
        executions: dict[str, int] = {}
        for one in (self.executions() or {}).values():
            executions[one.tenant] = executions.get(one.tenant, 0) + (one.slo.read_bytes_per_s or 0)
        promised = sum(max(slos.get(name, 0), executions.get(name, 0)) for name in slos.keys() | executions.keys())
        return StorageCapacity(whole.read_bytes_per_s, whole.write_bytes_per_s, promised, 0)


def test_what_an_ended_execution_had_is_there_again_at_once() -> None:
    """Its guarantee ends with its credential: until then, the controller counts it as promised."""
    reconciler = SloReconciler(Ledger(), never_crash)
    guarantee = BandwidthGuarantee("x", "acme", Rates(read=80), required=True)
    before = reconciler.look(DesiredSlos((guarantee,), users={"x": "acme"}))
    assert before.held == {"x"}
    assert before.supply.rates.read == 100
    assert reconciler.look(DesiredSlos((), users={})).supply.rates.read == 100
