"""A lost node is fenced once, by the admin's program, and failures are reported."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.waiting import DEADLINE_S, until
from zoe_master.backends.swarm.manager.fencing import NodeFences
from zoe_master.backends.swarm.settings import SwarmSettings
from zoe_master.waker import TickWaker

Make = Callable[..., NodeFences]


@pytest.fixture
def waker() -> TickWaker:
    return TickWaker()


@pytest.fixture
def fences(tmp_path: Path, waker: TickWaker) -> Iterator[Make]:
    made: list[NodeFences] = []

    def make(script: str | None, timeout_s: float = 20.0) -> NodeFences:
        program = tmp_path / "fence"
        if script is not None:
            program.write_text(f"#!/bin/sh\n{script}\n")
            program.chmod(0o755)
        settings = SwarmSettings(state_dir=tmp_path, fence_command=program, fence_timeout_s=timeout_s)
        made.append(NodeFences(settings, waker))
        return made[-1]

    yield make
    for fences in made:
        fences.close()


def test_without_a_program_nothing_can_be_made_sure(tmp_path: Path) -> None:
    assert NodeFences(SwarmSettings(state_dir=tmp_path), TickWaker()).is_fenced("n1")


@pytest.fixture
def gate(tmp_path: Path) -> Path:
    """A pipe for a test's program: each line lets it continue once."""
    os.mkfifo(tmp_path / "gate")
    return tmp_path / "gate"


def test_it_is_closed_once_the_program_succeeded(fences: Make, tmp_path: Path, gate: Path) -> None:
    fence = fences(f'read line < {gate}; echo "$1" >> {tmp_path}/log')
    assert not fence.is_fenced("n1")
    assert "being fenced" in fence.problem("n1")
    gate.write_text("go\n")
    until(lambda: fence.is_fenced("n1"))
    assert (fence.problem("n1"), fence.problem("n2")) == ("", "")
    fence.note_return("n1")
    assert not fence.is_fenced("n1")
    gate.write_text("go\n")
    until(lambda: fence.is_fenced("n1"))
    assert (tmp_path / "log").read_text() == "n1\nn1\n"


def test_fencing_begun_before_a_return_does_not_count(
    fences: Make, waker: TickWaker, tmp_path: Path, gate: Path
) -> None:
    later = tmp_path / "later"
    os.mkfifo(later)
    fence = fences(f"if mkdir {tmp_path}/first; then read line < {gate}; else read line < {later}; fi")
    assert not fence.is_fenced("n1")
    until((tmp_path / "first").exists)
    fence.note_return("n1")
    assert not fence.is_fenced("n1")
    gate.write_text("go\n")
    assert waker.wait(DEADLINE_S)
    assert not fence.is_fenced("n1")
    later.write_text("go\n")
    until(lambda: fence.is_fenced("n1"))


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("echo no such switch >&2; exit 3", "exited with 3: no such switch"),
        (None, "No such file"),
        ("sleep 9", "longer"),
    ],
)
def test_a_failure_is_told_and_leaves_it_open(fences: Make, script: str | None, said: str) -> None:
    fence = fences(script, timeout_s=0.2 if script == "sleep 9" else 20.0)
    assert not fence.is_fenced("n1")
    until(lambda: said in fence.problem("n1"), lambda: fence.problem("n1"))
    assert not fence.is_fenced("n1")
