"""`make serve BACKEND=docker` keeps its services over kills of the master."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.docker.one_engine import OneEngine
from tests.support.docker_backend import things

KILLS = int(os.environ.get("ZOE_TEST_KILLS") or (20 if os.environ.get("ZOE_TEST_LONG") else 2))
_SECONDS_OF_A_KILL = 30


@pytest.fixture
def home() -> Iterator[Path]:
    """A home that other system users can enter."""
    base = Path(tempfile.mkdtemp(prefix="zoe-docker-stack-"))
    base.chmod(0o711)
    yield base / "home"
    shutil.rmtree(base)


def told_by(engine: OneEngine, program: str, *arguments: str) -> dict[str, Any]:
    """Return what a program prints in the network of the engine."""
    inside = ["nsenter", "-t", str(engine.machine.first_pid), "--net", "env", f"DOCKER_HOST={engine.url}"]
    done = subprocess.run(
        [*inside, sys.executable, "-m", f"tests.docker.{program}", *arguments],
        capture_output=True, text=True, timeout=300 + _SECONDS_OF_A_KILL * KILLS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return told


def test_kills_of_the_master_leave_nothing_behind_and_double_nothing(engine: OneEngine, home: Path) -> None:
    before = things(engine)
    told = told_by(engine, "kills", str(home), str(KILLS), "1")
    jobs = 3 * KILLS
    assert told == {"jobs": jobs, "states": {"succeeded": jobs}, "lines": jobs, "distinct": jobs}
    assert set(things(engine)) <= set(before)


def test_history_and_workspaces_stay_when_a_home_moves_from_local_to_docker(engine: OneEngine, home: Path) -> None:
    told = told_by(engine, "moving", str(home))
    assert told == {"before": "succeeded", "history": "succeeded", "after": "succeeded"}
