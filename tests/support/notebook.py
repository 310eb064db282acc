"""A client of Jupyter's REST and WebSocket interface, and a cell that computes on a Spark cluster."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection
from typing import Any

from websockets.sync.client import connect

from tests.support.waiting import until

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
    """`extra` is what every request bears besides the token."""

    host: str
    port: int
    token: str
    extra: Mapping[str, str] = field(default_factory=dict)

    def check_strangers(self) -> None:
        """Nobody without the token, or with another one, gets in."""
        for wrong in ("", "0" * len(self.token)):
            stranger = replace(self, token=wrong)
            assert stranger.ask("GET", "/api/kernels")[0] == 403
            assert stranger.ask("POST", "/api/kernels")[0] == 403

    def ask(self, method: str, path: str) -> tuple[int, Any]:
        """Status and answer of a request."""
        connection = HTTPConnection(self.host, self.port, timeout=30)
        with closing(connection):
            connection.request(method, path, body="{}" if method == "POST" else None, headers=self._headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    def execute(self, code: str) -> str:
        """What a cell prints in a kernel of its own."""
        status, kernel = self.ask("POST", "/api/kernels")
        assert status == 201, kernel
        url = f"ws://{self.host}:{self.port}/api/kernels/{kernel['id']}/channels"
        with connect(url, additional_headers=self._headers, open_timeout=30) as channel:
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
        return {**self.extra, **({"Authorization": f"token {self.token}"} if self.token else {})}


def _request(code: str) -> dict[str, Any]:
    header = {
        "msg_id": uuid.uuid4().hex, "session": uuid.uuid4().hex, "username": "", "version": "5.3",
        "msg_type": "execute_request",
    }  # fmt: skip
    content = {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}
    return {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}


def token_in(output: Callable[[], str]) -> str:
    """The token that Jupyter made, which it prints once it serves."""
    found = until(lambda: re.search(r"/lab\?token=(\w{48})", output()), output)
    assert found
    return found[1]


def check_sum(printed: str) -> set[str]:
    """The cell's answer is right; the names of the hosts that computed it."""
    parts = json.loads(printed)
    assert sum(total for _, total in parts) == sum(range(1000))
    return {host for host, _ in parts}
