"""Networks take turns, and the busiest one gives its places to others."""

from __future__ import annotations

import threading
from concurrent.futures import Future

import pytest

from tests.support.waiting import until
from zoe_api.http.attempts.lane import Lane, NoPlace


class Held:
    """A lane of one thread, blocked by its first task; records the order of the others."""

    def __init__(self, inside_max: int, of_network_max: int) -> None:
        self.lane = Lane("test", 1, inside_max, of_network_max)
        self.released = threading.Event()
        self.order: list[str] = []
        self.lane.submit("first", lambda: self.released.wait(60))
        until(lambda: self.lane.is_busy)

    def ask(self, network: str) -> Future[None]:
        return self.lane.submit(network, lambda: self.order.append(network))

    def release(self) -> list[str]:
        self.released.set()
        until(lambda: self.lane.inside == 0)
        self.lane.close()
        return self.order


def test_networks_take_turns() -> None:
    held = Held(100, 100)
    for network in [*["a"] * 5, *["b"] * 2, "c"]:
        held.ask(network)
    assert held.release() == ["a", "b", "c", "a", "b", "a", "a", "a"]


def test_one_network_has_so_many_places() -> None:
    held = Held(100, 3)
    for _ in range(3):
        held.ask("a")
    with pytest.raises(NoPlace):
        held.ask("a")
    held.ask("b")
    assert held.release() == ["a", "b", "a", "a"]


def test_a_newcomer_gets_the_last_place_of_the_longest_queue() -> None:
    held = Held(6, 100)
    of_a = [held.ask("a") for _ in range(3)]
    of_b = [held.ask("b") for _ in range(2)]
    held.ask("c")
    with pytest.raises(NoPlace):
        of_a[-1].result(60)
    with pytest.raises(NoPlace):
        held.ask("c")  # no task waits longer than it would then
    assert held.lane.inside == 6
    assert held.release() == ["a", "b", "c", "a", "b"]
    assert all(future.done() for future in (*of_a, *of_b))


def test_one_that_left_while_it_waited_is_not_done_and_keeps_nothing() -> None:
    held = Held(100, 100)
    assert held.ask("a").cancel()
    held.ask("b")
    assert held.release() == ["b"]


def test_an_error_is_told_to_the_one_who_asked() -> None:
    lane = Lane("test", 1, 1, 1)
    with pytest.raises(ZeroDivisionError):
        lane.submit("a", lambda: 1 // 0).result(60)
    until(lambda: lane.inside == 0)
    lane.close()


def test_answered_request_frees_its_place() -> None:
    lane, begin, seen = Lane("test", 1, 1, 1), threading.Event(), list[int]()
    asked = lane.submit("a", lambda: begin.wait(60))
    asked.add_done_callback(lambda _: seen.append(lane.inside))
    begin.set()
    until(lambda: seen)
    assert seen == [0]
    lane.close()


@pytest.mark.parametrize("waits", [0, 2])
def test_running_request_is_answered_after_close(waits: int) -> None:
    lane, begin = Lane("test", 1, 3, 3), threading.Event()
    asked = [lane.submit("a", lambda: begin.wait(60)) for _ in range(1 + waits)]
    until(lambda: lane.is_busy)
    lane.close()
    begin.set()
    assert asked[0].result(60)


def test_one_network_has_so_many_threads() -> None:
    lane = Lane("test", 2, 100, 100, of_network_at_once_max=1)
    released = threading.Event()
    of_a = [lane.submit("a", lambda: released.wait(60)) for _ in range(3)]
    assert lane.submit("b", lambda: "answered").result(60) == "answered"
    assert lane.inside == 3
    released.set()
    assert all(one.result(60) for one in of_a)
    lane.close()
