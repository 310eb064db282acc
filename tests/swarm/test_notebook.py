"""The Spark notebook: only the proxy's secret opens it, and what a cell says is computed on the workers."""

from __future__ import annotations

import json

import pytest

from tests.support.images import provide
from tests.support.notebook import CELL, Notebook, check_sum
from tests.support.swarm_installation import Installation, document
from tests.swarm.cluster import Cluster
from zoe_lib.domain.execution import Execution, ExecutionState, ServiceState


@pytest.fixture
def running(swarm: Cluster, installation: Installation) -> Execution:
    provide(swarm, "zoe/spark", "zoe/jupyter-spark")
    submitted = installation.submit(document("spark-notebook"))
    return installation.until(
        submitted, lambda execution: all(s.state is ServiceState.READY for s in execution.services), 240
    )


def test_a_cell_computes_on_the_workers_and_only_the_proxys_secret_lets_in(
    swarm: Cluster, installation: Installation, running: Execution
) -> None:
    token = installation.master.port_secrets.secret(running)
    at = installation.address(running, "notebook", "lab")
    notebook = Notebook(at.host, at.port, token, at.headers)
    notebook.check_strangers()
    hosts = check_sum(notebook.execute(CELL))
    assert len(hosts) >= 2
    assert hosts <= {f"spark-worker-{index}" for index in range(4)}
    packages = "import duckdb, matplotlib, pandas, zoe_client; print(zoe_client.Client.__name__)"
    assert notebook.execute(packages).strip() == "Client"
    told = json.dumps([installation.containers(running), swarm.manager.api.services(), swarm.manager.api.secrets()])
    assert "zoe/jupyter-spark" in told
    assert token not in told
    assert token not in installation.output(running, "notebook")
    assert installation.end(running.id).state is ExecutionState.CANCELLED
