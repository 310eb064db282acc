"""Following an execution without the SDK: to its end, or as far as possible."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, cast

import pytest

from zoe_cli.commands.watching import quick_follow
from zoe_cli.commands.watching.quick_follow import follow_quickly
from zoe_cli.units import clock
from zoe_client.errors import Unreachable
from zoe_client.http.sse import ServerEvent
from zoe_client.quick.plain import Execution
from zoe_client.quick.quick import QuickClient
from zoe_client.wire import OwnUseView


def execution(state: str = "running", attempts: int = 1) -> Execution:
    services = [{"id": "w", "name": "w-0", "component": "w", "index": 0, "attempt": 1}]
    services += [
        {"id": f"m{attempt}", "name": "main-0", "component": "main", "index": 0, "attempt": attempt}
        for attempt in range(1, attempts + 1)
    ]
    components = [{"name": "w"}, {"name": "main", "ends_application": True}]
    found = {"id": "x1", "state": state, "services": services, "description": {"components": components}}
    return cast(Execution, {**found, "inputs": [], "marks": {}, "storage_problem": "", "reason": None})


def piece(text: bytes, offset: int) -> ServerEvent:
    return ServerEvent(str(offset), "log", json.dumps({"data": base64.b64encode(text).decode()}))


OWN = "Your own execution x0 holds 2 of 2 cores: cancel it, or wait."


class Server:
    """Answers like a client of a server in these states, one after the other."""

    def __init__(
        self, events: Sequence[ServerEvent | Exception | None], seen: Sequence[Execution], streams: bool = True
    ):
        self.streams, self.paths = streams, list[str]()
        self._events, self._seen = events, list(seen)

    def stream(self, path: str) -> Iterator[ServerEvent | None]:
        self.paths.append(path)
        for event in self._events:
            if isinstance(event, Exception):
                raise event
            yield event

    @property
    def sdk(self) -> Any:
        """The SDK's client, which knows why an execution waits for room."""
        own = OwnUseView(ids=["x0"], count=1, what="cores", held=2.0, total=2.0)
        return SimpleNamespace(explain=lambda _: SimpleNamespace(own_use=own, start_p50_s=None))

    def execution(self, execution_id: str) -> Execution:
        assert execution_id == "x1"
        return self._seen.pop(0) if len(self._seen) > 1 else self._seen[0]


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick_follow, "_PAUSE_S", 0.0)


def followed(server: Any) -> quick_follow.OutputPosition:
    return follow_quickly(cast(QuickClient, server), execution())


def test_it_shows_the_output_and_returns_how_it_ended(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    states = [execution(), execution("stopping"), execution("succeeded")]
    server = Server([ServerEvent("", "waiting", "{}"), piece(b"one\n", 4), piece(b"\xff", 5)], states)
    found = followed(server)
    assert (found.ended or {}).get("state") == "succeeded"
    assert server.paths == ["/executions/x1/services/m1/logs/stream"]
    assert capfdbinary.readouterr().out == b"one\n\xff"


def test_the_reason_for_waiting_is_told_once_with_the_expected_start(capfd: pytest.CaptureFixture[str]) -> None:
    reason = {"code": "no_resources", "sentence": "2 cores."}
    changed = {**reason, "sentence": "3 cores."}
    behind = {"code": "behind_in_queue", "sentence": "Others."}
    pulling = {"code": "image_pulling", "sentence": "It is fetched."}  # the time of the forecast has passed
    waiting: Any = {**execution(), "name": "sums", "forecast": None}
    states = [{**waiting, "reason": told} for told in (None, reason, reason, changed)]
    states.append({**waiting, "reason": behind, "forecast": {"start_p50_s": 9e9}})
    states.append({**waiting, "reason": pulling, "forecast": {"start_p50_s": 1.0}})
    followed(Server([None] * 6, [*cast(list[Execution], states), execution("succeeded")]))
    assert capfd.readouterr().err.splitlines() == [
        "sums waits: 2 cores.",
        OWN,
        "Ctrl-C leaves it in the queue; `zoe cancel x1` cancels it",
        f"sums waits: Others. It is expected to start at {clock(9e9)}.",
        OWN,
        "sums waits: It is fetched.",
    ]


@pytest.mark.parametrize(
    ("server", "offset"),
    [
        (Server([piece(b"one\n", 4), Unreachable("cut")], [execution()]), 4),  # the SDK continues from there
        (Server([piece(b"one\n", 4)], [execution()]), 4),  # it is not over
        (Server([piece(b"one\n", 4)], [execution("succeeded", attempts=2)]), 4),  # another attempt followed
        (Server([], [execution()], streams=False), 0),  # behind a proxy
    ],
)
def test_unusual_answer_is_left_to_the_sdk(server: Server, offset: int) -> None:
    found = followed(server)
    assert (found.service_id, found.offset, found.ended) == ("m1", offset, None)


def test_a_server_that_goes_after_the_output_is_left_to_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server([piece(b"one\n", 4)], [execution()])
    answers = iter([execution()])

    def gone(_: str) -> Execution:
        if (found := next(answers, None)) is None:
            raise Unreachable("restarting")
        return found

    monkeypatch.setattr(server, "execution", gone)
    assert (followed(server).offset, followed(Server([], [execution()])).ended) == (4, None)
