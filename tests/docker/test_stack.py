"""`make serve BACKEND=docker` keeps its services over kills of the master."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.docker.one_engine import OneEngine
from tests.support.docker_backend import things

KILLS = 20 if os.environ.get("ZOE_TEST_LONG") else 2


def test_kills_of_the_master_leave_nothing_behind_and_double_nothing(engine: OneEngine, tmp_path: Path) -> None:
    for path in (tmp_path, *list(tmp_path.parents)[:2]):
        path.chmod(0o711)
    before = things(engine)
    inside = ["nsenter", "-t", str(engine.machine.first_pid), "--net", "env", f"DOCKER_HOST={engine.url}"]
    done = subprocess.run(
        [*inside, sys.executable, "-m", "tests.docker.kills", str(tmp_path / "home"), str(KILLS), "1"],
        capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    told: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    jobs = 3 * KILLS
    assert told == {"jobs": jobs, "states": {"succeeded": jobs}, "lines": jobs, "distinct": jobs}
    assert set(things(engine)) <= set(before)
