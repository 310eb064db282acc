"""A program that a test does not wait for any longer stops what it has started."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.run_through import run_through

PROGRAM = """
import pathlib, sys, time
pathlib.Path(sys.argv[1]).write_text("started")
try:
    time.sleep(600)
except KeyboardInterrupt:
    pathlib.Path(sys.argv[1]).write_text("stopped")
"""


def test_a_program_that_takes_too_long_may_still_stop(tmp_path: Path) -> None:
    (tmp_path / "waits.py").write_text(PROGRAM)
    mark = tmp_path / "mark"
    with pytest.raises(subprocess.TimeoutExpired):
        run_through("waits", str(mark), within_s=5, environment={"PYTHONPATH": str(tmp_path)})
    assert mark.read_text() == "stopped"


def test_what_it_says_and_its_exit_code_are_those_of_the_module(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text("import sys; print(sys.argv[1:]); print('why', file=sys.stderr); sys.exit(3)")
    done = run_through("ends", "a", within_s=60, environment={"PYTHONPATH": str(tmp_path)})
    assert (done.returncode, done.stdout, done.stderr) == (3, "['a']\n", "why\n")
