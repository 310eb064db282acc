"""The Spark notebook: only the proxy's secret opens it, a cell is computed on the workers, and Spark knows Stocator."""

from __future__ import annotations

import json

import pytest

from tests.support.images import provide
from tests.support.notebook import CELL, Notebook, check_sum
from tests.support.swarm_installation import Installation, document
from tests.swarm.cluster import Cluster
from zoe_lib.domain.executions.execution import Execution, ExecutionState, ServiceState

STOCATOR = """
jvm, conf = spark._jvm, spark.sparkContext._jsc.hadoopConfiguration()
found = {"class": jvm.org.apache.hadoop.fs.FileSystem.getFileSystemClass("swift2d", conf).getName()}
try:
    spark.read.text("swift2d://container.nowhere/object").count()
except Exception as error:
    found["error"] = str(error)
print(json.dumps(found))
"""
PACKAGES = """
import duckdb, matplotlib, pandas, zoe_client
print(zoe_client.Client.__name__)
"""


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
    # One cell for all, since each has a kernel and a driver of its own.
    computed, known, client = notebook.execute(CELL + STOCATOR + PACKAGES).splitlines()
    hosts = check_sum(computed)
    assert len(hosts) >= 2
    assert hosts <= {f"spark-worker-{index}" for index in range(4)}
    stocator = json.loads(known)
    assert stocator["class"] == "com.ibm.stocator.fs.ObjectStoreFileSystem"
    # Stocator's own complaint: nothing says where that service is.
    assert "com.ibm.stocator.fs.common.exception.ConfigurationParseException" in stocator["error"]
    assert client == "Client"
    told = json.dumps([installation.containers(running), swarm.manager.api.services(), swarm.manager.api.secrets()])
    assert "zoe/jupyter-spark" in told
    assert token not in told
    assert token not in installation.output(running, "notebook")
    assert installation.end(running.id).state is ExecutionState.CANCELLED
