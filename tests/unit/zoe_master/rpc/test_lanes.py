"""The lane of each request to the master; a request that waits for an engine delays no other."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.support.waiting import until
from zoe_lib.messaging.client import MasterClient, MasterRefused
from zoe_lib.messaging.keys import ensure_keys
from zoe_lib.messaging.server import Refusal, Server
from zoe_master.backends.base import Backend, BackendError, OutputChunk, PortAddress
from zoe_master.rpc.handlers import FILES, OUTPUT, SCHEDULER, TERMINALS, RpcHandlers

AT_ONCE = None
# A new request names its lane here: only answers from memory are given at once.
LANES = {
    "hint": AT_ONCE,
    "status": AT_ONCE,
    "position": AT_ONCE,
    "plugins": AT_ONCE,
    "services": AT_ONCE,
    "usage": AT_ONCE,
    "storage": AT_ONCE,
    "address": AT_ONCE,
    "explain": SCHEDULER,
    "missing_instances": SCHEDULER,
    "eta": SCHEDULER,
    "plan": SCHEDULER,
    "plan_together": SCHEDULER,
    "dry_run": SCHEDULER,
    "node_loss": SCHEDULER,
    "logs": OUTPUT,
    "files": FILES,
    "move_workspace": FILES,
    "make_volume": FILES,
    "remove_volume": FILES,
    "terminal": TERMINALS,
}
# Methods that every back-end answers from memory. All others may wait for an engine, a disk or the network.
FROM_MEMORY = {"usage", "address", "observe"}
BODIES: dict[str, dict[str, Any]] = {
    "address": {"service_id": "x.c.0", "port": "web"},
    "services": {"execution_id": "x"},
    "position": {"wanted": 1},
}


class HangingEngines:
    """A back-end with hanging engines: methods that need one return only after release."""

    def __init__(self) -> None:
        self.waiting: list[str] = []
        self.may_end = threading.Event()

    def observe(self) -> list[Any]:
        return []

    def usage(self) -> list[Any]:
        return []

    def address(self, _service: str, _port: str) -> PortAddress:
        return PortAddress("127.0.0.1", 80)

    def __getattr__(self, name: str) -> Any:
        assert name not in FROM_MEMORY

        def hang(*_: object) -> OutputChunk:
            self.waiting.append(name)
            assert self.may_end.wait(60)
            raise BackendError("the engine did not answer")

        return hang


@pytest.fixture
def backend() -> Iterator[HangingEngines]:
    made = HangingEngines()
    yield made
    made.may_end.set()


@pytest.fixture
def answers(backend: Any) -> RpcHandlers:
    signs = SimpleNamespace(headers=lambda *_: {})
    master: Any = SimpleNamespace(latest=None, execution=lambda _id: None, port_secrets=signs)
    master.propose = master.dry_run = lambda *_: None
    waker: Any = SimpleNamespace(wake=lambda: None)
    return RpcHandlers(master, backend, waker, "test", 1)


@pytest.fixture
def client(answers: RpcHandlers, backend: HangingEngines, tmp_path: Path) -> Iterator[MasterClient]:
    ensure_keys(tmp_path)
    server = Server("tcp://127.0.0.1:*", tmp_path, answers.handlers(), answers.slow())
    made = MasterClient(server.endpoint, tmp_path, 60.0, 1)
    yield made
    backend.may_end.set()
    made.close()
    server.close()


def test_every_question_names_its_lane(answers: RpcHandlers) -> None:
    assert not answers.handlers().keys() & answers.slow().keys()
    lanes = dict.fromkeys(answers.handlers(), AT_ONCE) | {kind: slow.lane for kind, slow in answers.slow().items()}
    assert lanes == LANES


def test_quick_requests_read_the_back_end_from_memory(answers: RpcHandlers, backend: HangingEngines) -> None:
    for kind, handler in answers.handlers().items():
        handler(BODIES.get(kind, {}))
    assert backend.waiting == []
    methods = {name for name in vars(Backend) if not name.startswith("_")}
    assert methods >= FROM_MEMORY


@pytest.mark.parametrize(("latest", "wanted", "reached", "ticks"), [(None, 1, 0, 1), (7, 8, 7, 1), (7, 7, 7, 0)])
def test_a_position_that_no_tick_has_seen_wakes_the_loop(
    latest: int | None, wanted: int, reached: int, ticks: int
) -> None:
    wakes, nothing = list[None](), cast(Any, None)
    master: Any = SimpleNamespace(latest=None if latest is None else SimpleNamespace(read_to=latest))
    waker: Any = SimpleNamespace(wake=lambda: wakes.append(None))
    answers = RpcHandlers(master, nothing, waker, "test", 1)
    assert answers.handlers()["position"]({"wanted": wanted}) == {"reached": reached}
    assert len(wakes) == ticks


def refused(answers: RpcHandlers, kind: str, body: dict[str, Any]) -> str:
    """Return what is wrong with a request; empty if it has none of these errors."""
    slow = answers.slow().get(kind)
    try:
        if slow is None:
            answers.handlers()[kind](body)
        else:
            slow.handler(body, lambda: False)
    except Refusal as refusal:
        return str(refusal) if refusal.code == "bad_request" else ""
    return ""


def test_invalid_request_is_refused_in_plain_words(answers: RpcHandlers) -> None:
    bodies: list[dict[str, Any]] = [{}, {"execution_id": 5, "service_id": [], "x": 1}]
    told = {refused(answers, kind, body) for kind in ("address", "explain", "logs") for body in bodies}
    assert "execution_id: is missing" in told
    assert not [text for text in told if re.search("validation error|Input should|Field required|pydantic|Extra", text)]


def test_the_bounds_leave_room_for_others(answers: RpcHandlers) -> None:
    """One client never has all places of a kind, nor all threads of a lane but the scheduler's, whose requests end by a
    budget; and all together never have all threads of an API process (40 of anyio).
    """
    for slow in answers.slow().values():
        assert slow.of_asker_max < slow.in_all_max
        assert slow.in_all_max < 40
        assert slow.lane is SCHEDULER or slow.of_asker_max < slow.lane.threads


@pytest.mark.parametrize("askers", [1, 2, 10])
def test_while_engines_hang_all_but_their_output_is_answered(
    client: MasterClient, answers: RpcHandlers, backend: HangingEngines, askers: int
) -> None:
    codes: list[str] = []

    def read(number: int) -> None:
        try:
            client.ask("logs", {"service_id": f"x.c.{number}"}, asker=f"u{number % askers}")
        except MasterRefused as refused:
            codes.append(refused.code)

    asked = 40
    slow = answers.slow()["logs"]
    taken = min(slow.in_all_max, askers * slow.of_asker_max)
    threads = [threading.Thread(target=read, args=(number,)) for number in range(asked)]
    for thread in threads:
        thread.start()
    until(lambda: len(codes) == asked - taken)
    until(lambda: len(backend.waiting) == min(taken, OUTPUT.threads))
    assert set(codes) == {"logs_busy"}
    answered = [answer_to(client, kind) for kind in LANES if kind != "logs"]
    assert not {"logs_busy", "plan_busy"} & set(answered)
    assert len(backend.waiting) == min(taken, OUTPUT.threads)
    backend.may_end.set()
    for thread in threads:
        thread.join(60)
    assert codes.count("no_logs") == taken


def answer_to(client: MasterClient, kind: str) -> str:
    """Return the code of a refusal, or an empty text."""
    try:
        client.ask(kind, BODIES.get(kind, {}), asker="ben")
    except MasterRefused as refused:
        return refused.code
    return ""
