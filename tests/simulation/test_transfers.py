"""Transfers of executions with credentials of their own get into the journal once, whenever masters die."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.model import BandwidthSlo, StorageRefusedError, StoreExecution, TransferTotals
from storage_bridge.simulated import SimulatedController
from tests.simulation.world import World, application, component, node
from zoe_client.vocabulary import Mark
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.domain.values.storage import Bandwidth, Credential, StorageDemand, StorageObject
from zoe_lib.domain.values.transfers import StoreTransfers
from zoe_lib.store.documents.codec import decode
from zoe_lib.store.values import JournalEntry
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.loop.master import Master
from zoe_master.state.crash_points import CrashPoint
from zoe_master.storage.spark_config import Place, SparkConfig

MB = 10**6
MOVED = TransferTotals(1_234_567_890_123, 45, 3.5, 9.25)
STORED = Credential("default:ann", "key-of-the-tenant")
STORAGE = StorageDemand((StorageObject("i", "swift2d://meters.zoe/2015"),))


class Site(World):
    """A world whose executions sign in to the object store by themselves."""

    def __init__(self, controller: type[SimulatedController] = SimulatedController, fails: int = 0) -> None:
        self.store_of_objects = controller(Capacity(100 * MB, {"disk": 100 * MB}))
        self.store_of_objects.with_credentials = True
        self._fails = fails
        super().__init__([node("n1")], behave=self._behave, controller=self.store_of_objects)

    def _behave(self, _: ServiceStart) -> ServiceBehaviour:
        self._fails -= 1
        return ServiceBehaviour(run_s=10.0, exit_code=int(self._fails >= 0))

    def restart(self) -> None:
        self.store.stop_leading()
        epoch = self.store.try_lead("test")
        assert epoch is not None
        places = {"zoe": Place("http://swift/auth", "R", own_credentials=True)}
        self.master = Master(
            self.store,
            self.backend,
            epoch,
            clock=self.clock,
            hit=self._reach,
            storage=self.keeper_of(self.store_of_objects),
            spark_config=SparkConfig(places, [], lambda _: {"zoe": STORED}),
        )

    def told(self, execution_id: str, kind: str = ev.StorageTransferred.kind) -> Sequence[JournalEntry]:
        return [entry for entry in self.store.journal(0, 1000, execution_id=execution_id) if entry.kind == kind]

    def until_running(self, execution_id: str) -> None:
        for _ in range(50):
            if self.state(execution_id) is ExecutionState.RUNNING:
                return
            self.run(0.5)
        raise AssertionError(self.get(execution_id))


def test_an_execution_that_has_ended_gets_what_it_moved_and_the_controller_forgets_it() -> None:
    site = Site()
    execution_id = site.submit(application(component("m", 1, 1), storage=STORAGE))
    site.until_running(execution_id)
    site.store_of_objects.totals[execution_id] = MOVED
    site.run(30.0)
    for _ in range(3):
        site.tick()
    assert site.state(execution_id) is ExecutionState.SUCCEEDED
    [entry] = site.told(execution_id)
    transfers = decode(StoreTransfers, entry.data["transfers"])
    assert transfers == StoreTransfers(1, MOVED.read_bytes, 45, 3.5, 9.25, whole=True, at_s=entry.at_s)
    assert entry.data["attempt"] == 1
    assert site.get(execution_id).transfers == transfers
    assert site.store_of_objects.ended_transfers() == []


@pytest.mark.parametrize("step", [CrashPoint.ENDED, CrashPoint.STORAGE_SYNCED, CrashPoint.STORAGE_TOLD])
@pytest.mark.parametrize("occurrence", [1, 2])
def test_a_master_that_dies_tells_it_once(step: CrashPoint, occurrence: int) -> None:
    site = Site()
    execution_id = site.submit(application(component("m", 1, 1), storage=STORAGE))
    site.until_running(execution_id)
    site.store_of_objects.totals[execution_id] = MOVED
    site.run(8.0)
    site.crash_once_at(step, occurrence)
    site.run(30.0)
    site.restart()  # also if it did not get there so often
    site.tick()
    site.restart()
    for _ in range(3):
        site.tick()
    assert len(site.told(execution_id)) == 1
    assert site.store_of_objects.ended_transfers() == []


def test_each_attempt_tells_what_it_moved() -> None:
    site = Site(fails=1)
    execution_id = site.submit(application(component("m", 1, 1), storage=STORAGE, retries=1))
    for amount in (100, 23):
        site.until_running(execution_id)
        site.store_of_objects.totals[execution_id] = TransferTotals(amount, 1)
        site.run(12.0)
    site.run(60.0)
    assert site.state(execution_id) is ExecutionState.SUCCEEDED
    told = site.told(execution_id)
    assert [(entry.data["attempt"], entry.data["transfers"]["read_bytes"]) for entry in told] == [(1, 100), (2, 23)]  # type: ignore[index]
    transfers = site.get(execution_id).transfers
    assert transfers is not None
    assert (transfers.read_bytes, transfers.written_bytes) == (123, 2)


def test_unknown_transfers_and_removed_executions_are_not_recorded() -> None:
    site = Site()
    unknown = site.submit(application(component("m", 1, 1), storage=STORAGE))
    without = site.submit(application(component("m", 1, 1)))
    site.run(40.0)
    site.store_of_objects.set_execution(StoreExecution("removed", "default", BandwidthSlo()))
    site.store_of_objects.totals["removed"] = MOVED
    for _ in range(3):
        site.tick()
    assert site.told(unknown) == site.told(without) == []
    assert site.get(unknown).transfers is None
    assert site.store_of_objects.ended_transfers() == [], "they are not asked for for ever"


def test_services_that_get_the_credential_of_their_tenant_say_so_once_for_each_attempt() -> None:
    class Refusing(SimulatedController):
        def set_execution(self, execution: StoreExecution) -> Credential:
            raise StorageRefusedError("PUT", f"no credential for {execution.id}")

    site = Site(Refusing, fails=1)
    execution_id = site.submit(application(component("m", 1, 1), storage=STORAGE, retries=1))
    for _ in range(int(2 * site.master.cache.policy.storage_patience_s) + 60):
        site.run(1.0)
    assert site.state(execution_id) is ExecutionState.SUCCEEDED
    assert len(site.told(execution_id, ev.TenantCredentialUsed.kind)) == 2
    assert Mark.TENANT_CREDENTIAL in site.get(execution_id).marks
    assert site.told(execution_id) == []


def test_transfers_teach_the_run_time_at_another_bandwidth() -> None:
    """The runs read 10 MB/s for nine of ten seconds, beside a guarantee of as much."""
    site = Site()
    slow, fast = (replace(STORAGE, bandwidth=Bandwidth(rate * MB)) for rate in (10, 80))
    for _ in range(3):
        execution_id = site.submit(application(component("m", 1, 1), storage=slow))
        site.until_running(execution_id)
        site.store_of_objects.totals[execution_id] = TransferTotals(90 * MB, 0, 9.0, 9.0)
        site.run(30.0)
    kept = site.master.cache.run_times
    kept.work_off(1000)
    [same], [better] = (
        kept.choices(application(component("m", 1, 1), storage=demand), "default", "ada") for demand in (slow, fast)
    )
    assert same.p50_s == pytest.approx(10.5, abs=1.0)
    assert better.p50_s < same.p50_s / 3
