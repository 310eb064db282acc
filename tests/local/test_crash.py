"""SIGKILL of the master at any moment of a start: every service runs once, and exactly once."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.local.support import DEADLINE_S, LocalWorld, shell, start_of
from zoe_master.backends.base import ObservedState

REPOSITORY = Path(__file__).parents[2]
SERVICES = [f"e.c.{index}.1" for index in range(10)]
SCRIPT = "echo {index} >> {workspace}/ran; exit 3"
STARTER = """
import sys, time
from pathlib import Path
from tests.local.support import LocalWorld
from tests.local.test_crash import start_all
world = LocalWorld(Path(sys.argv[1]))
world.backend.observe()
print("now", flush=True)
start_all(world)
time.sleep(1000)
"""


def start_all(world: LocalWorld) -> None:
    for service in SERVICES:
        world.backend.start(start_of(shell(SCRIPT), service))


@pytest.mark.parametrize("after_s", [0.0, 0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15])
def test_killed_while_it_starts_services(world: LocalWorld, after_s: float) -> None:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(REPOSITORY), *sys.path))}
    command = [sys.executable, "-c", STARTER, str(world.base)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as starter:
        assert starter.stdout is not None
        assert starter.stdout.readline() == "now\n"
        time.sleep(after_s)  # the moment of the crash is what is varied
        starter.kill()
        starter.wait(DEADLINE_S)
    start_all(world)
    world.until(lambda: all(world.state(service) is ObservedState.ENDED for service in SERVICES))
    assert {o.exit_code for o in world.backend.observe()} == {3}
    ran = (world.settings.workspaces_dir / "tenant" / "ann" / "ran").read_text().split()
    assert sorted(ran) == sorted(str(index) for index in range(len(SERVICES)))
