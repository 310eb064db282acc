"""CPU seconds of orphaned processes count to the group of a part, if the machine supports groups."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from scripts.testing import cpu_groups
from scripts.testing.costs import read_records
from scripts.testing.cpu_groups import CpuGroup
from scripts.testing.session import pytest_run
from tests.support.waiting import until

BUSY = "import time\nwhile time.process_time() < 0.3: pass"
# A child of its own session, whose parent ends before it.
LEFT = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {BUSY!r}], start_new_session=True)"
WAITS = "import time; print('up', flush=True); time.sleep(600)"


@pytest.fixture
def group(monkeypatch: pytest.MonkeyPatch) -> Iterator[CpuGroup]:
    monkeypatch.setattr(cpu_groups, "LEAVE_S", 0.2)
    made = CpuGroup.make()
    if made.path is None:
        pytest.skip("this machine lets no control group be made here")
    yield made
    made.end()


def test_cpu_time_of_orphans_counts(group: CpuGroup) -> None:
    done = subprocess.run(group.command([sys.executable, "-c", LEFT]), check=True, stdout=subprocess.PIPE)
    assert done.stdout == b""  # which ends when the last one has closed it
    _, used_s = group.end()
    assert used_s is not None
    assert 0.3 <= used_s < 5
    assert group.path is not None
    assert not group.path.exists()


@pytest.mark.parametrize("end", ["pass", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_programs_that_outlive_their_tests_are_named_and_ended(group: CpuGroup, tmp_path: Path, end: str) -> None:
    """A test's program whose own child has a session of its own, as a demo's has, in a group of its own."""
    (tmp_path / "test_some.py").write_text(
        "import os, pathlib, signal, subprocess, sys\n"
        "def test_leaves():\n"
        f"    left = subprocess.Popen([sys.executable, '-c', {WAITS!r}], start_new_session=True, stdout=-1)\n"
        "    left.stdout.readline()\n"
        "    inner = pathlib.Path(os.environ['ZOE_TEST_CPU_GROUP'], 'inner')\n"
        "    inner.mkdir()\n"
        "    (inner / 'cgroup.procs').write_text(str(left.pid))\n"
        f"    pathlib.Path({str(tmp_path / 'pid')!r}).write_text(str(left.pid))\n"
        f"    {end}\n"
    )
    result = pytest_run("some", [str(tmp_path), "-W", "ignore"], tmp_path)
    assert result.exit_code == (0 if end == "pass" else -signal.SIGKILL)
    assert bool(result.broken) == (end != "pass")
    assert [WAITS in command for command in result.outlived] == [True]
    until(lambda: not psutil.pid_exists(int((tmp_path / "pid").read_text())))


def test_exit_codes_and_arguments_are_those_of_the_command(group: CpuGroup) -> None:
    program = "import sys; print(sys.argv[1:]); sys.exit(3)"
    done = subprocess.run(
        group.command([sys.executable, "-c", program, "$0 'x", ""]), check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "[\"$0 'x\", '']\n", "")


def test_a_command_that_may_not_enter_runs_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "cgroup.procs").mkdir()
    done = subprocess.run(CpuGroup(tmp_path).command(["echo", "ran"]), check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("ran\n", "")


def test_without_a_group_a_part_runs_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_groups, "MOUNTS", tmp_path / "none")
    (tmp_path / "test_some.py").write_text("def test_fine(): pass\n")
    result = pytest_run("a", [str(tmp_path)], tmp_path)
    assert (result.exit_code, result.cpu_s, len(result.passed)) == (0, None, 1)


def test_a_test_costs_what_its_programs_spend_apart_from_fixtures(tmp_path: Path, group: CpuGroup) -> None:
    """The program that it leaves ends before the test."""
    (tmp_path / "test_some.py").write_text(
        "import pytest, subprocess, sys\n"
        f"def spend(): subprocess.run([sys.executable, '-c', {LEFT!r}], stdout=-1)\n"
        "@pytest.fixture(scope='session')\ndef server(): spend()\n"
        "@pytest.fixture(scope='module')\ndef page(server): spend()\n"
        "def test_spends(page): spend()\n"
    )
    result = pytest_run("a", [str(tmp_path)], tmp_path)
    records = list(read_records(tmp_path / "a.jsonl"))
    assert records[-1] == {"whole_s": result.cpu_s}
    (test,) = [record for record in records if "test" in record]
    for cost_s in (test["own_s"], test["shared_s"], test["session"]["server"]):
        assert 0.25 <= cost_s < 0.6
