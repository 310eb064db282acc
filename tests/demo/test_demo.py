"""The main job: the demo from an empty home, and again; a wrong answer is not taken for a right one."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from rich.console import Console

from tests.support.run_through import run_through
from tests.support.runtimes import runtimes_of_the_clone
from zoe_embedded.demos.data import Dataset
from zoe_embedded.demos.demo import fit, judge
from zoe_embedded.runtimes.runtime import CLONE

_WITHIN_S = 1100


@pytest.fixture
def home() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="zoe-demo-"))
    directory.chmod(0o755)
    yield directory / "home"
    shutil.rmtree(directory)


def run_demo(home: Path) -> str:
    rows = ("--rows", "200000")  # `make demo` makes ten times as many
    environment = {**runtimes_of_the_clone(), "ZOE_HOME": str(home)}
    done = run_through("zoe_embedded.demos.demo", *rows, within_s=_WITHIN_S, environment=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_demo_gives_the_right_answer_twice_and_leaves_nothing_running(home: Path) -> None:
    first = run_demo(home)
    assert "The answer is right" in first
    for mark in ("queued", "admitted", "placed", "started", "ready", "ended"):
        assert f"  {mark} " in first
    assert first.count("(core)") == 3
    second = run_demo(home)
    assert "200,000 rows are already there" in second
    assert [p for p in psutil.process_iter(["cmdline"]) if str(home) in " ".join(p.info["cmdline"] or [])] == []


@pytest.mark.parametrize(("cores", "worker"), [(1, 0.4), (1.9, 1.3), (2, 1.4), (64, 1.4), (0, 0.1)])
def test_the_worker_fits_the_machine(cores: float, worker: float) -> None:
    document = json.loads((CLONE / "app_descriptions" / "energy-report.json").read_text())
    told = fit(document, cores)
    assert document["frameworks"][0]["parameters"]["worker_cores"] == worker
    assert bool(told) == (worker < 1.4)


def test_a_wrong_or_missing_answer_is_not_right(tmp_path: Path) -> None:
    data = Dataset(tmp_path / "energy-report", owner=None, rows=3000)
    data.make(lambda _done, _total: None)
    console = Console(quiet=True)
    assert not judge(console, data, "x1")
    result = tmp_path / "energy-report" / "result" / "result.json"
    result.parent.mkdir()
    rows = data.expected_rows()
    result.write_text(json.dumps(rows))
    assert judge(console, data, "x1")
    rows[0]["peak_wh"] += 1
    result.write_text(json.dumps(rows))
    assert not judge(console, data, "x1")
