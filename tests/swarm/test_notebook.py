"""The Spark notebook: opened by its token alone, and what a cell says is computed on the workers."""

from __future__ import annotations

import json
import re
import socket
import uuid
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from typing import Any

import pytest
from websockets.sync.client import connect

from tests.support.images import provide
from tests.support.swarm_installation import Installation, document
from tests.swarm.cluster import Cluster
from zoe_lib.domain.execution import Execution, ExecutionState, ServiceState

CELL = """
import json, socket
from pyspark.sql import SparkSession
spark = SparkSession.builder.getOrCreate()
def part(numbers):
    import time
    time.sleep(0.5)  # so that one worker alone does not take them all
    yield socket.gethostname(), sum(numbers)
print(json.dumps(spark.sparkContext.parallelize(range(1000), 8).mapPartitions(part).collect()))
"""
CELL_DEADLINE_S = 120.0


@dataclass(frozen=True)
class Notebook:
    """A client of Jupyter's REST and WebSocket interface."""

    dial: Callable[[], socket.socket]
    token: str

    def ask(self, method: str, path: str) -> tuple[int, Any]:
        """Status and answer of a request."""
        connection = HTTPConnection("notebook-0:8888")
        connection.sock = self.dial()
        with closing(connection):
            connection.request(method, path, body="{}" if method == "POST" else None, headers=self._headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def execute(self, code: str) -> str:
        """What a cell prints in a kernel of its own."""
        status, kernel = self.ask("POST", "/api/kernels")
        assert status == 201, kernel
        url = f"ws://notebook-0:8888/api/kernels/{kernel['id']}/channels"
        with connect(url, sock=self.dial(), additional_headers=self._headers, open_timeout=30) as channel:
            request = _request(code)
            channel.send(json.dumps(request))
            printed = ""
            while True:
                message = json.loads(channel.recv(CELL_DEADLINE_S))
                if message["parent_header"].get("msg_id") != request["header"]["msg_id"]:
                    continue
                content = message["content"]
                assert message["msg_type"] != "error", content
                if message["msg_type"] == "stream" and content["name"] == "stdout":
                    printed += content["text"]
                if message["msg_type"] == "status" and content["execution_state"] == "idle":
                    return printed

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"token {self.token}"} if self.token else {}


def _request(code: str) -> dict[str, Any]:
    header = {
        "msg_id": uuid.uuid4().hex, "session": uuid.uuid4().hex, "username": "", "version": "5.3",
        "msg_type": "execute_request",
    }  # fmt: skip
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
    return {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}


@pytest.fixture
def running(swarm: Cluster, installation: Installation) -> Execution:
    provide(swarm, "zoe/spark", "zoe/jupyter-spark")
    submitted = installation.submit(document("spark-notebook"))
    return installation.until(
        submitted, lambda execution: all(s.state is ServiceState.READY for s in execution.services), 240
    )


def test_a_cell_computes_on_the_workers_and_only_the_token_lets_in(
    swarm: Cluster, installation: Installation, running: Execution
) -> None:
    token = re.search(r"/lab\?token=(\w{48})", installation.output(running, "notebook"))
    assert token, installation.output(running, "notebook")
    notebook = Notebook(lambda: installation.dial(running, "notebook", "lab"), token[1])
    for wrong in ("", "0" * 48):
        stranger = replace(notebook, token=wrong)
        assert stranger.ask("GET", "/api/kernels")[0] == 403
        assert stranger.ask("POST", "/api/kernels")[0] == 403
    parts = json.loads(notebook.execute(CELL))
    assert sum(total for _, total in parts) == sum(range(1000))
    hosts = {host for host, _ in parts}
    assert len(hosts) >= 2
    assert hosts <= {f"spark-worker-{index}" for index in range(4)}
    told = json.dumps([installation.containers(running), swarm.manager.api.services(), swarm.manager.api.secrets()])
    assert "zoe/jupyter-spark" in told
    assert token[1] not in told
    assert installation.end(running.id).state is ExecutionState.CANCELLED
