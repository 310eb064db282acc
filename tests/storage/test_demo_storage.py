"""`make demo-storage` from an empty home, at each store: a right answer, and fewer bytes by pushdown."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import psutil
import pytest

from tests.demo.test_demo import home
from tests.support.long import of_storage
from tests.support.needs import need_program
from tests.support.run_through import run_through
from zoe_embedded.ceph.store import PROGRAMS

__all__ = ["home"]

ROWS = 200_000
_WITHIN_S = 600


def run_demo(home: Path, store: str, **environment: str) -> subprocess.CompletedProcess[str]:
    rows = ("--rows", str(ROWS))
    return run_through(
        "zoe_embedded.demos.storage", *rows, "--store", store, within_s=_WITHIN_S,
        environment={"ZOE_HOME": str(home), **environment},
    )  # fmt: skip


@of_storage
@pytest.mark.parametrize("store", ["swift", "ceph", "seaweedfs"])
def test_the_demo_reads_less_by_pushdown_and_leaves_nothing_running(home: Path, store: str) -> None:
    for program in ("memcached", *(PROGRAMS if store == "ceph" else ())):
        need_program(program)
    done = run_demo(home, store)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The answer is right" in done.stdout
    assert re.search(r"query \d+: [\d.]+ of [\d.]+ MB read from the store\n", done.stdout), done.stdout
    assert "Warning" not in done.stdout + done.stderr
    last = re.fullmatch(r"bytes plain=(\d+) pushdown=(\d+)", done.stdout.splitlines()[-1])
    assert last is not None, done.stdout
    readings = sum(path.stat().st_size for path in home.glob("workspaces/*/*/energy-report/readings/*.csv"))
    assert int(last[1]) == readings
    assert 0 < int(last[2]) < readings / 4
    left = [
        process for process in psutil.process_iter(["cmdline"]) if str(home) in " ".join(process.info["cmdline"] or [])
    ]
    assert left == []
