"""Applications of the catalogue, by a real master on a real swarm."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.images import provide
from tests.support.swarm_backend import SwarmHarness
from tests.swarm.cluster import Cluster
from zoe_embedded.demo_data import Dataset
from zoe_embedded.home import Account
from zoe_lib.descriptions import parse
from zoe_lib.domain.execution import Execution, ExecutionState
from zoe_lib.store.memory import MemoryStore
from zoe_master.master import Master

DESCRIPTIONS = Path(__file__).resolve().parents[2] / "app_descriptions"
NOBODY = Account("nobody", 65534, 65534)


class Installation:
    """A master with its journal in memory, over the Swarm back-end."""

    def __init__(self, harness: SwarmHarness) -> None:
        self.harness = harness
        self.workspace = harness.base / "workspaces" / "lab"
        self.workspace.mkdir(parents=True)
        for directory in (harness.base, self.workspace.parent, self.workspace):
            directory.chmod(0o755)
        harness.settings = replace(harness.settings, images=("zoe/*",), workspaces_dir=self.workspace.parent)
        self.store = MemoryStore()
        epoch = self.store.try_lead("test")
        assert epoch is not None
        self.master = Master(self.store, harness.backend, epoch)

    def run(self, name: str, deadline_s: float) -> Execution:
        """Submit an application and tick until it has ended."""
        application = parse(json.loads((DESCRIPTIONS / f"{name}.json").read_text()))
        submitted = Execution("e1", name, "lab", "ada", application, time.time())
        self.store.submit(submitted, "test")
        end_s = time.monotonic() + deadline_s
        while not self.store.execution("e1").terminal:
            assert time.monotonic() < end_s, self.harness.story()
            self.master.tick()
            self.harness.waker.wait(0.2)
        return self.store.execution("e1")

    def story(self, execution: Execution) -> str:
        """Why it failed: states and the end of what each service printed."""
        outputs = [
            f"--- {s.name} {s.cause} {s.message}\n{self.harness.output(s.id)[-3000:]}" for s in execution.services
        ]
        return "\n".join([f"{execution.state} {execution.message}", *outputs])


@pytest.fixture
def installation(harness: SwarmHarness) -> Iterator[Installation]:
    harness.reopen()
    return Installation(harness)


def test_a_batch_application_runs_to_its_end(installation: Installation) -> None:
    ended = installation.run("batch", 60)
    assert ended.state is ExecutionState.SUCCEEDED, installation.story(ended)
    assert installation.harness.output(ended.services[0].id) == "hello from main-0\n"


def test_the_energy_report_is_right(swarm: Cluster, installation: Installation) -> None:
    provide(swarm, "zoe/spark")
    data = Dataset(installation.workspace / "energy-report", NOBODY, rows=100_000)
    data.make(lambda _done, _total: None)
    os.chown(installation.workspace, NOBODY.uid, NOBODY.gid)
    ended = installation.run("energy-report", 240)
    assert ended.state is ExecutionState.SUCCEEDED, installation.story(ended)
    assert data.result() == data.expected()


def test_mpi_computes_pi_over_workers_that_know_each_other_by_a_secret(
    swarm: Cluster, installation: Installation
) -> None:
    provide(swarm, "zoe/mpi")
    os.chown(installation.workspace, NOBODY.uid, NOBODY.gid)
    ended = installation.run("mpi-pi", 120)
    assert ended.state is ExecutionState.SUCCEEDED, installation.story(ended)
    launcher = next(service for service in ended.services if "launcher" in service.component)
    assert "pi = 3.14159265" in installation.harness.output(launcher.id)
