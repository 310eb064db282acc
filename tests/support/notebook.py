"""A client of Jupyter's REST and WebSocket interface, and a cell that computes on a Spark cluster."""

from __future__ import annotations

import json
import socket
import uuid
from collections.abc import Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from http.client import HTTPConnection
from itertools import accumulate
from typing import Any
from urllib.parse import urlsplit

import httpx
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Subprotocol

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
R_CELL = """
readings <- data.frame(region = c("north", "south", "north"), kwh = c(2, 3, 5))
totals <- aggregate(kwh ~ region, readings, sum)
cat(R.version$language, paste(totals$region, totals$kwh))
"""
R_SAYS = "R north 7 south 3"
CELL_DEADLINE_S = 120.0
_ASK_AGAIN_S = 0.5
_JSON = "application/json"
_BINARY = Subprotocol("v1.kernel.websocket.jupyter.org")


@dataclass(frozen=True)
class Notebook:
    """`extra`: headers of every request besides the token; `name`: its name for the host."""

    host: str
    port: int
    token: str = ""
    extra: Mapping[str, str] = field(default_factory=dict)
    name: str = ""

    def check_strangers(self) -> None:
        """Check that clients without the token, or with another one, are refused."""
        for wrong in ("", "0" * 64):
            stranger = replace(self, token=wrong)
            assert stranger.ask("GET", "/api/kernels")[0] == 403
            assert stranger.ask("POST", "/api/kernels")[0] == 403

    def ask(self, method: str, path: str, content: object = None) -> tuple[int, Any]:
        """Status and answer of a request."""
        connection = HTTPConnection(self.host, self.port, timeout=30)
        with closing(connection):
            named = {"Host": f"{self.name}:{self.port}"} if self.name else {}
            body = json.dumps(content or {}) if method == "POST" else None
            connection.request(method, path, body=body, headers={**self._headers, **named})
            answer = connection.getresponse()
            said = answer.read()
            return answer.status, json.loads(said) if answer.headers.get_content_type() == _JSON else said.decode()

    def leave(self, path: str, cell_id: str, code: str) -> None:
        """Run a cell of a notebook as JupyterLab does, and close the page when the cell has begun."""
        asked = {"path": path, "type": "notebook", "name": "", "kernel": {"name": "python3"}}
        status, session = self.ask("POST", "/api/sessions", asked)
        assert status == 201, session
        with self._channels(session["kernel"]["id"], [_BINARY]) as channel:
            sent = _header("execute_request")
            channel.send(_binary("shell", sent, {}, {"cellId": cell_id}, _cell(code)))
            while f'"{sent["msg_id"]}"'.encode() not in channel.recv(CELL_DEADLINE_S, decode=False):
                pass

    def _channels(self, kernel_id: str, protocols: list[Subprotocol]) -> ClientConnection:
        url = f"ws://{self.name or self.host}:{self.port}/api/kernels/{kernel_id}/channels"
        raw = socket.create_connection((self.host, self.port))
        return connect(
            url, sock=raw, additional_headers=self._headers, subprotocols=protocols or None, open_timeout=30, proxy=None
        )

    def execute(self, code: str) -> str:
        """Return the output of a cell in a new kernel."""
        status, kernel = self.ask("POST", "/api/kernels")
        assert status == 201, kernel
        with self._channels(kernel["id"], []) as channel:
            _wait_for_kernel(channel)
            sent = _send(channel, "execute_request", _cell(code))
            printed = ""
            while True:
                message = json.loads(channel.recv(CELL_DEADLINE_S))
                if message["parent_header"].get("msg_id") != sent:
                    continue
                content = message["content"]
                assert message["msg_type"] != "error", content
                if message["msg_type"] == "stream" and content["name"] == "stdout":
                    printed += content["text"]
                if _is_idle(message):
                    return printed

    @property
    def _headers(self) -> dict[str, str]:
        return {**self.extra, **({"Authorization": f"token {self.token}"} if self.token else {})}


def through_the_proxy(url: str) -> Notebook:
    """As a browser that takes the ticket: the cookie of the application's origin, and no token of Jupyter's."""
    ticket = urlsplit(url)
    with httpx.Client(trust_env=False) as browser:
        here = ticket._replace(netloc=f"127.0.0.1:{ticket.port}").geturl()
        entered = browser.get(here, headers={"Host": ticket.netloc})
        assert (entered.status_code, entered.headers["location"]) == (303, "/lab")
        cookie = "; ".join(f"{name}={value}" for name, value in browser.cookies.items())
    origin = {"Cookie": cookie, "Origin": f"http://{ticket.netloc}"}
    return Notebook("127.0.0.1", ticket.port or 80, "", origin, ticket.hostname or "")


def _wait_for_kernel(channel: ClientConnection) -> None:
    """Request the kernel's info until its answer arrives, like every client of Jupyter.

    A server that finds a new kernel busy when a channel is opened does not wait until the channel is connected, and
    earlier messages of the kernel are lost.
    """
    asked: set[str] = set()

    def heard() -> bool:
        asked.add(_send(channel, "kernel_info_request", {}))
        with suppress(TimeoutError):
            while True:
                message = json.loads(channel.recv(_ASK_AGAIN_S))
                if _is_idle(message) and message["parent_header"].get("msg_id") in asked:
                    return True
        return False

    until(heard, deadline_s=CELL_DEADLINE_S)


def _is_idle(message: dict[str, Any]) -> bool:
    return bool(message["msg_type"] == "status" and message["content"]["execution_state"] == "idle")


def _send(channel: ClientConnection, kind: str, content: dict[str, Any]) -> str:
    """Send a request on the shell channel; its id."""
    header = _header(kind)
    request = {"header": header, "parent_header": {}, "metadata": {}, "content": content, "channel": "shell"}
    channel.send(json.dumps(request))
    return header["msg_id"]


def _header(kind: str) -> dict[str, str]:
    return {
        "msg_id": uuid.uuid4().hex, "session": uuid.uuid4().hex, "username": "", "version": "5.3", "msg_type": kind,
    }  # fmt: skip


def _binary(channel: str, *parts: object) -> bytes:
    """A message of the binary protocol: the number of offsets, the offsets, the name of the channel, and the parts."""
    texts = [channel.encode(), *(json.dumps(part).encode() for part in parts)]
    offsets = accumulate(map(len, texts), initial=8 * (len(texts) + 2))
    numbers = [len(texts) + 1, *offsets]
    return b"".join(number.to_bytes(8, "little") for number in numbers) + b"".join(texts)


def _cell(code: str) -> dict[str, Any]:
    return {"code": code, "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False}


def check_sum(printed: str) -> set[str]:
    """The cell's answer is right; the names of the hosts that computed it."""
    parts = json.loads(printed)
    assert sum(total for _, total in parts) == sum(range(1000))
    return {host for host, _ in parts}
