"""The tests' client of Jupyter: a channel that does not hear the kernel at first loses no cell."""

from __future__ import annotations

import json
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket

from tests.support import notebook
from tests.support.notebook import Notebook
from tests.support.serving import Served


class DeafKernel:
    """Answers as Jupyter does, except that what it says of the first requests does not arrive."""

    def __init__(self, lost: int) -> None:
        self.lost = lost
        self.cells: list[str] = []
        routes = [
            Route("/api/kernels", self._start, methods=["POST"]),
            WebSocketRoute("/api/kernels/one/channels", self._talk),
        ]
        self.app = Starlette(routes=routes)

    async def _start(self, _: Request) -> JSONResponse:
        return JSONResponse({"id": "one"}, 201)

    async def _talk(self, channel: WebSocket) -> None:
        await channel.accept()
        async for request in channel.iter_json():
            if request["header"]["msg_type"] == "execute_request":
                self.cells.append(request["content"]["code"])
            self.lost -= 1
            if self.lost < 0:
                await channel.send_text(_answer(request, "stream", {"name": "stdout", "text": "1"}))
                await channel.send_text(_answer(request, "status", {"execution_state": "idle"}))


def _answer(request: dict[str, Any], kind: str, content: dict[str, Any]) -> str:
    return json.dumps({"parent_header": request["header"], "msg_type": kind, "content": content})


def test_a_cell_is_sent_once_when_the_kernel_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notebook, "_ASK_AGAIN_S", 0.01)
    kernel = DeafKernel(lost=3)
    served = Served(kernel.app)
    try:
        host, port = served.url.removeprefix("http://").split(":")
        assert Notebook(host, int(port)).execute("print(1)") == "1"
    finally:
        served.close()
    assert kernel.cells == ["print(1)"]
