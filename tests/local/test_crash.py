"""SIGKILL of the master at any moment of a start: every service runs once, and exactly once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.local.support import LocalWorld, shell, start_of, wait_until
from zoe_master.backends.base import ObservedState
from zoe_master.backends.local.supervisor import processes

REPOSITORY = Path(__file__).parents[2]
SERVICES = [f"e.c.{index}.1" for index in range(10)]
SCRIPT = "echo {index} >> {workspace}/ran; exit 3"
# Forks for each test: a program with everything imported, which is all that a second of CPU time would be spent on.
STARTERS = """
import sys
from tests.local.test_crash import fork_starter
for line in sys.stdin:
    fork_starter(line.rstrip())
"""


class Starters:
    """A program that forks others, which start all services of a world as a master does."""

    def __init__(self, program: subprocess.Popen[str]) -> None:
        self._program = program

    def begin(self, world: LocalWorld) -> int:
        """Fork one; its pid, when it is about to start the first service."""
        assert self._program.stdin is not None
        assert self._program.stdout is not None
        print(world.base, file=self._program.stdin, flush=True)
        return int(self._program.stdout.readline())


@pytest.fixture(scope="module")
def starters() -> Iterator[Starters]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(REPOSITORY), *sys.path))}
    command = [sys.executable, "-c", STARTERS]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    ) as program:
        yield Starters(program)


def fork_starter(base: str) -> None:
    """What a program without threads may do. The parent waits for its end, which is that of the master."""
    if pid := os.fork():
        os.waitpid(pid, 0)
        return
    world = LocalWorld(Path(base))
    world.backend.observe()
    print(os.getpid(), flush=True)
    start_all(world)
    time.sleep(1000)


def start_all(world: LocalWorld) -> None:
    for service in SERVICES:
        world.backend.start(start_of(shell(SCRIPT), service))


@pytest.mark.parametrize("after_s", [0.0, 0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15])
def test_killed_while_it_starts_services(world: LocalWorld, starters: Starters, after_s: float) -> None:
    pid = starters.begin(world)
    time.sleep(after_s)  # the moment of the crash varies
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: processes.read_process(pid) is None, world.waker)
    start_all(world)
    world.until(lambda: all(world.state(service) is ObservedState.ENDED for service in SERVICES))
    assert {o.exit_code for o in world.backend.observe()} == {3}
    ran = (world.settings.workspaces_dir / "tenant" / "ann" / "ran").read_text().split()
    assert sorted(ran) == sorted(str(index) for index in range(len(SERVICES)))
