"""Notes on an execution while its credential for the object store has not arrived."""

from __future__ import annotations

from collections.abc import Mapping

from storage_bridge.bandwidth.assignment import Capacity
from storage_bridge.model import ExecutionBandwidth, StorageUnavailableError
from storage_bridge.simulated import SimulatedController
from tests.support.api import Api
from tests.support.documents import job
from tests.support.waiting import until
from zoe_lib.domain.values.storage import Credential
from zoe_master.storage.reconciler import InlineReconciler
from zoe_master.storage.spark_config import Place, SparkConfig


class Away(SimulatedController):
    """Gives credentials once it is back."""

    away = True

    def executions(self) -> Mapping[str, ExecutionBandwidth] | None:
        if self.away:
            raise StorageUnavailableError("it is away")
        return super().executions()


def test_one_that_waits_for_its_credential_says_so(postgres_url: str) -> None:
    api = Api(postgres_url, storage_services={"zoe": {"url": "http://swift/auth", "region": "R"}})
    there = Away(Capacity(100, {"disk": 100}))
    there.with_credentials = True
    places = {"zoe": Place("http://swift/auth", "R", own_credentials=True)}
    known = SparkConfig(places, [], lambda tenant: {"zoe": Credential(f"{tenant}:ada", "key")})
    try:
        api.start_master(storage=InlineReconciler(there), spark_config=known)
        reads = {"inputs": [{"name": "meters", "uri": "swift2d://meters.zoe/2015"}]}
        client = api.client()
        made = client.submit(job(storage=reads)).id
        reason = until(lambda: client.explain(made).reason if client.execution(made).state == "starting" else None)
        assert reason.code == "credential"
        assert "its own credential" in reason.sentence
        there.away = False
        until(lambda: client.execution(made).state == "running")
        assert client.explain(made).reason is None
    finally:
        api.close()
