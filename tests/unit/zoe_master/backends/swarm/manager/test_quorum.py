"""Managers that answer from memory: a quorum is counted, and reads prove nothing about changes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from docker.errors import APIError

from tests.support.manual_clock import ManualClock
from zoe_master.backends.swarm.manager.managers import Managers
from zoe_master.backends.swarm.manager.quorum import NoQuorumError, check_quorum


def listed(*reachability: str | None) -> list[dict[str, Any]]:
    """Managers by their reachability; None: a worker."""
    return [{"ManagerStatus": {"Reachability": each}} if each is not None else {} for each in reachability]


@pytest.mark.parametrize(
    ("nodes", "reached"),
    [
        (("reachable", "unreachable", "unreachable"), "1 of 3"),
        (("reachable", "unreachable"), "1 of 2"),
        (("reachable", "reachable", "unreachable", "unreachable", "unknown"), "2 of 5"),
        (("reachable", None, None, "unreachable", "unreachable"), "1 of 3"),
    ],
)
def test_a_minority_of_managers_has_no_quorum(nodes: tuple[str | None, ...], reached: str) -> None:
    with pytest.raises(NoQuorumError, match=f"managers reachable: {reached}$"):
        check_quorum(listed(*nodes))


@pytest.mark.parametrize(
    "nodes", [("reachable",), ("reachable", "reachable", "unreachable"), ("reachable", None, None)]
)
def test_a_majority_of_managers_has_a_quorum(nodes: tuple[str | None, ...]) -> None:
    check_quorum(listed(*nodes))


def never(_: Any) -> None:
    raise TimeoutError


def refused(_: Any) -> None:
    raise APIError("", response=SimpleNamespace(status_code=409))  # type: ignore[arg-type]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def managers(clock: ManualClock) -> Managers:
    engines: Any = [SimpleNamespace(api=name) for name in ("one", "two")]
    return Managers(engines, clock)


def fail(request: Any, question: Any) -> None:
    with pytest.raises((OSError, APIError)):
        request(question)


def test_reads_prove_nothing_about_changes(managers: Managers, clock: ManualClock) -> None:
    fail(managers.change, never)
    clock.advance(4)
    managers.ask(str)
    assert (managers.stuck, managers.silent) == (True, False)
    clock.advance(40)  # nothing was tried for long: the next change shows it
    assert not managers.stuck


@pytest.mark.parametrize("answer", [str, refused])
def test_an_answered_change_shows_that_changes_are_made_again(
    managers: Managers, clock: ManualClock, answer: Any
) -> None:
    fail(managers.change, never)
    clock.advance(4)
    assert managers.stuck
    if answer is refused:
        fail(managers.change, answer)
    else:
        managers.change(answer)
    assert not managers.stuck


def test_a_manager_without_a_quorum_is_left_for_the_next_one(managers: Managers) -> None:
    asked: list[str] = []

    def look(api: Any) -> str:
        asked.append(api)
        if api == "one":
            raise NoQuorumError("alone")
        return str(api)

    assert managers.ask(look) == "two"
    assert managers.ask(look) == "two"
    assert asked == ["one", "two", "two"]
