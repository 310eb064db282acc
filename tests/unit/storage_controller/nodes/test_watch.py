"""The loop that checks nodes: since when each is in its state, the effect of modes, and restarts."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from storage_controller.answers import RequestRefusedError
from storage_controller.database.supervision import Mode, Supervisor
from storage_controller.nodes import watch as node_watch
from storage_controller.nodes.collector import NodeCollector
from storage_controller.nodes.command import run
from storage_controller.nodes.health import Bounds, Findings, NodeState
from storage_controller.nodes.restarts import RUNNING_MAX, NodeRestarts
from storage_controller.nodes.watch import NodeWatch, StoreNodes
from storage_controller.settings import NodeKind, NodeSettings
from tests.support.manual_clock import ManualClock
from tests.support.waiting import until


class World:
    """Two nodes with given answers; a clock; a mode."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.told = {"http://a": Findings(), "http://b": Findings()}
        self.clock, self.mode, self.supervisor = ManualClock(100.0), Mode.ON, Supervisor()
        monkeypatch.setattr(node_watch, "ask", lambda _http, _kind, url, _timeout_s: self.told[url])
        nodes = {name: NodeSettings(kind=NodeKind.OBJECT, url=f"http://{name}") for name in "ab"}
        self.watch = NodeWatch(nodes, self.supervisor, lambda: self.mode, Bounds(), timeout_s=30.0, clock=self.clock)

    def look(self, after_s: float = 10.0) -> list[tuple[str, NodeState, str, float | None]]:
        self.clock.advance(after_s)
        self.watch.look()
        return [(node.name, node.state, node.reason, node.since_s) for node in self.watch.nodes()]


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    return World(monkeypatch)


def test_a_state_has_a_time_since_when_and_silence_is_counted_from_the_last_answer(world: World) -> None:
    assert [node.state for node in world.watch.nodes()] == [NodeState.UNKNOWN] * 2
    up = ("a", NodeState.UP, "", 110.0)
    assert world.look()[0] == up
    world.told["http://b"] = Findings(away="connection refused")
    assert world.look() == [up, ("b", NodeState.AWAY, "no answer for 10 s: connection refused", 120.0)]
    assert world.look(15) == [up, ("b", NodeState.AWAY, "no answer for 25 s: connection refused", 120.0)]
    world.told["http://b"] = Findings(quarantined=1)
    assert world.look()[1] == ("b", NodeState.FAILING, "1 object quarantined", 145.0)
    world.told["http://b"] = Findings(quarantined=2)
    assert world.look()[1] == ("b", NodeState.FAILING, "2 objects quarantined", 145.0)
    [state] = world.supervisor.states()
    assert (state.name, state.last) == ("health", "asked 2 nodes: 1 up, 1 failing")


def test_in_a_dry_run_nothing_is_told_and_off_nothing_is_asked(world: World) -> None:
    world.look()
    world.mode = Mode.DRY
    world.told["http://a"] = Findings(away="connection refused")
    assert {(state, reason) for _, state, reason, _ in world.look()} == {
        (NodeState.UNKNOWN, "the controller health is in a dry run: it checks nodes, and does not keep the results")
    }
    assert world.supervisor.states()[0].last == "asked 2 nodes: 1 up, 1 away"
    world.mode = Mode.OFF
    world.told.clear()
    assert {reason for _, _, reason, _ in world.look()} == {"the controller health is off"}


def test_silence_goes_on_between_two_looks(world: World) -> None:
    world.told["http://b"] = Findings(away="connection refused")
    world.look()
    world.clock.advance(4)
    [_, silent] = world.watch.nodes()
    assert (silent.reason, silent.since_s) == ("no answer for 4 s: connection refused", 110.0)


def test_a_mode_that_is_set_is_told_at_once(world: World) -> None:
    world.look()
    world.watch.mode_set(Mode.ON)
    assert [node.state for node in world.watch.nodes()] == [NodeState.UP] * 2, "it was on"
    for mode, reason in ((Mode.OFF, "the controller health is off"), (Mode.ON, "not asked yet")):
        world.watch.mode_set(mode)
        assert [(node.state, node.reason) for node in world.watch.nodes()] == [(NodeState.UNKNOWN, reason)] * 2
    world.watch.begin()
    until(lambda: world.watch.nodes()[0].state is NodeState.UP)
    world.clock.set(200.0)
    world.mode = Mode.ON
    world.watch.mode_set(Mode.ON)  # long before the interval ends
    until(lambda: world.watch.nodes()[0].at_s == 200.0)
    world.watch.close()


def test_a_database_that_is_away_leaves_the_mode(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> Mode:
        raise RequestRefusedError(503, "the database is away")

    monkeypatch.setattr(world.watch, "_mode", away)
    assert [state for _, state, _, _ in world.look()] == [NodeState.UP] * 2


def test_one_that_stands_by_asks_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    leads, asked = threading.Event(), threading.Event()
    monkeypatch.setattr(world.watch, "_leads", leads.is_set)
    monkeypatch.setattr(node_watch, "ask", lambda *_: asked.set() or Findings())
    world.watch.begin()
    world.watch.look_soon()
    assert not asked.wait(0.2)
    leads.set()
    world.watch.look_soon()
    until(asked.is_set)
    world.watch.close()


def test_metrics_have_one_state_for_each_node(world: World) -> None:
    world.told["http://b"] = Findings(away="connection refused")
    world.look()
    families = {
        metric.name: metric for metric in NodeCollector(StoreNodes(world.watch.nodes, NodeRestarts({}, 1.0))).collect()
    }
    held = [s.labels for s in families["zoe_storage_node_state"].samples if s.value == 1]
    assert [(entry["node"], entry["state"]) for entry in held] == [("a", "up"), ("b", "away")]
    assert len(families["zoe_storage_node_state"].samples) == 8


def node(*command: str) -> NodeSettings:
    return NodeSettings(kind=NodeKind.OBJECT, url="http://a", restart=list(command))


def test_a_restart_runs_once_at_a_time_and_tells_its_end() -> None:
    go_on, told = threading.Event(), threading.Event()

    def slow(command: Sequence[str], seconds: float) -> tuple[int | None, str]:
        assert (list(command), seconds) == (["do", "it"], 5.0)
        go_on.wait(60)
        return 3, "no such unit"

    names = [f"n{number}" for number in range(RUNNING_MAX + 1)]
    nodes = {**{name: node("do", "it") for name in names}, "bare": node()}
    restarts = NodeRestarts(nodes, 5.0, told.set, slow, ManualClock(50.0))
    for name in names[:-1]:
        restarts.begin(name, "root")
    for name, sentence in (
        ("n0", "n0 is being restarted"),
        (names[-1], "n0, n1, n2, n3 are being restarted; wait for one of them"),
        ("bare", "bare cannot be restarted from here: set swift_nodes.bare.restart to a command"),
        ("absent", "the store has no node absent in the settings of its controller"),
    ):
        with pytest.raises(RequestRefusedError, match=sentence):
            restarts.begin(name, "root")
    go_on.set()
    until(lambda: all((one := restarts.last_restart(name)) is not None and one.ended_s == 50.0 for name in names[:-1]))
    last = restarts.last_restart("n0")
    assert last is not None
    assert (last.code, last.output, last.author) == (3, "no such unit", "root")
    assert told.is_set()
    restarts.begin("n0", None)


def test_a_command_has_no_shell_no_secrets_and_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZOE_SDS_DATABASE_URL", "postgresql://secret")
    code, output = run(["/bin/sh", "-c", "env; echo wrong >&2; exit 4"], 30.0)
    assert (code, "secret" in output, output.endswith("wrong")) == (4, False, True)
    assert run(["/bin/echo", "$HOME; ls"], 30.0) == (0, "$HOME; ls")
    assert run(["/no/such/program"], 30.0)[0] is None
    assert run(["/no/such/program"], 30.0)[1].startswith("/no/such/program does not start: ")
    code, output = run(["/bin/sh", "-c", "echo begun; sleep 600"], 1.0)
    assert (code, output) == (None, "begun\nkilled: it ran for more than 1 s")
    code, output = run(["/bin/sh", "-c", "yes | head -c 5000000; echo end"], 60.0)
    assert (code, len(output), output[-3:]) == (0, 2000, "end")
    code, output = run(["/bin/sh", "-c", "sleep 600 & echo $!"], 30.0)  # a service that it leaves behind
    assert code == 0
    assert run(["/bin/kill", output], 30.0)[0] == 0
