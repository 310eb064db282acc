"""CPU seconds of what nobody waits for count to the group of a part, wherever the machine lets one be made."""

from __future__ import annotations

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


@pytest.fixture
def group() -> Iterator[CpuGroup]:
    made = CpuGroup.make("a part")
    if made is None:
        pytest.skip("this machine lets no control group be made here")
    yield made
    made.close()


def test_what_nobody_waits_for_counts(group: CpuGroup) -> None:
    done = subprocess.run(group.command([sys.executable, "-c", LEFT]), check=True, stdout=subprocess.PIPE)
    assert done.stdout == b""  # which ends when the last one has closed it
    used_s = group.close()
    assert used_s is not None
    assert 0.3 <= used_s < 5
    assert not list(group._path.parent.glob(f"{group._path.name}*"))


def test_what_still_runs_goes_on_in_the_group_above(group: CpuGroup) -> None:
    waits = subprocess.Popen(
        group.command([sys.executable, "-c", "print(); input()"]), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert waits.stdout is not None
    waits.stdout.readline()
    inner = group._path / "inner"
    inner.mkdir()
    assert str(waits.pid) in (group._path / "cgroup.procs").read_text().split()
    assert group.close() is not None
    assert not group._path.exists()
    assert waits.poll() is None
    waits.communicate(b"\n")
    assert waits.returncode == 0


def test_what_an_interrupted_run_leaves_is_ended(group: CpuGroup, tmp_path: Path) -> None:
    """A test's program whose own child has a session of its own, as a demo's has."""
    waits = "import time; print('up', flush=True); time.sleep(600)"
    (tmp_path / "test_some.py").write_text(
        "import os, signal, subprocess, sys\n"
        f"WAITS = {waits!r}\n"
        "def test_waits():\n"
        "    left = subprocess.Popen([sys.executable, '-c', WAITS], start_new_session=True, stdout=subprocess.PIPE)\n"
        "    left.stdout.readline()\n"
        f"    open({str(tmp_path / 'pid')!r}, 'w').write(str(left.pid))\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
    )
    cases = pytest_run([str(tmp_path)], tmp_path / "some.jsonl")
    assert cases.exit_code == 2
    assert [waits in command for command in cases.outlived] == [True]
    until(lambda: not psutil.pid_exists(int((tmp_path / "pid").read_text())))


def test_exit_codes_and_arguments_are_those_of_the_command(group: CpuGroup) -> None:
    program = "import sys; print(sys.argv[1:]); sys.exit(3)"
    done = subprocess.run(
        group.command([sys.executable, "-c", program, "$0 'x", ""]), check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "[\"$0 'x\", '']\n", "")


def test_a_command_that_may_not_enter_runs_where_it_is(tmp_path: Path) -> None:
    group = CpuGroup(tmp_path)
    (tmp_path / "cgroup.procs").mkdir()
    done = subprocess.run(group.command(["echo", "ran"]), check=True, capture_output=True, text=True)
    assert (done.stdout, done.stderr) == ("ran\n", "")


def test_without_a_group_a_part_runs_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cpu_groups, "MOUNTS", tmp_path / "none")
    assert CpuGroup.make("a") is None
    (tmp_path / "test_some.py").write_text("def test_fine(): pass\n")
    cases = pytest_run([str(tmp_path)], tmp_path / "a.jsonl")
    assert (cases.exit_code, cases.cpu_s, len(cases.passed)) == (0, None, 1)


def test_a_part_tells_what_its_tests_left_running(tmp_path: Path, group: CpuGroup) -> None:
    """The process that it leaves ends before the last test, so all of it counts."""
    (tmp_path / "test_some.py").write_text(
        f"import subprocess, sys\ndef test_leaves(): subprocess.run([sys.executable, '-c', {LEFT!r}], stdout=-1)\n"
    )
    cases = pytest_run([str(tmp_path)], tmp_path / "a.jsonl")
    *records, run = read_records(tmp_path / "a.jsonl")
    assert (run["kind"], run["cpu_s"]) == ("run", cases.cpu_s)
    (test,) = [record for record in records if record["kind"] == "test"]
    assert test["cpu_s"] >= 0.25
