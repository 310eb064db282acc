"""Programs beside the master: their ends, their bounds, and settings that cannot work."""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.support.waiting import until
from zoe_master.background.attempt_runner import AttemptRunner, ProgramRefused, check_program
from zoe_master.loop.attempt_programs import AttemptProgramCall, AttemptProgramEnd, AttemptProgramKind

CALL = AttemptProgramCall(AttemptProgramKind.PROLOGUE, "e1", 1)


def script(folder: Path, text: str) -> str:
    path = folder / "program"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@contextmanager
def running(program: str, timeout_s: float = 30.0) -> Iterator[tuple[AttemptRunner, list[int]]]:
    woken: list[int] = []
    runner = AttemptRunner({AttemptProgramKind.PROLOGUE: program}, timeout_s, lambda: woken.append(1))
    try:
        yield runner, woken
    finally:
        runner.close()


def ended(program: str, timeout_s: float = 30.0) -> AttemptProgramEnd:
    with running(program, timeout_s) as (runner, woken):
        end = until(lambda: runner.result(CALL, {"ZOE_USER": "ada"}))
        until(lambda: woken)
        return end


def test_its_end_has_exit_code_and_output_of_both_kinds(tmp_path: Path) -> None:
    assert ended(script(tmp_path, "echo out; echo err >&2; exit 4")) == AttemptProgramEnd(4, "out\nerr")


def test_it_gets_its_variables_and_nothing_else_of_the_master(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZOE_DATABASE_URL", "secret")
    found = dict(line.split("=", 1) for line in ended(script(tmp_path, "env")).output.splitlines())
    assert {"ZOE_USER": "ada", "LANG": "C.UTF-8"}.items() <= found.items()
    assert found.keys() <= {"ZOE_USER", "LANG", "PATH", "PWD", "OLDPWD", "SHLVL", "_"}


def test_it_is_killed_with_its_descendants_when_it_takes_too_long(tmp_path: Path) -> None:
    end = ended(script(tmp_path, "echo begun; sleep 61 & echo $!; wait"), timeout_s=0.3)
    begun, child, why = end.output.splitlines()
    assert (end.exit_code, begun, why) == (None, "begun", "killed after 0.3 s")
    until(lambda: not Path(f"/proc/{child}").exists() or "Z" in Path(f"/proc/{child}/stat").read_text().split()[2])


def test_it_ends_with_a_master_that_was_killed(tmp_path: Path) -> None:
    program = script(
        tmp_path, f"sleep 61 & echo $! $$ > {tmp_path}/pids.new; mv {tmp_path}/pids.new {tmp_path}/pids; wait"
    )
    master = os.fork()
    if master == 0:
        with running(program) as (runner, _):
            runner.result(CALL, {})
            time.sleep(60)
        os._exit(0)
    until((tmp_path / "pids").exists)
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert all(psutil.pid_exists(pid) for pid in pids)
    os.kill(master, signal.SIGKILL)
    os.waitpid(master, 0)
    until(lambda: not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" for pid in pids))


@pytest.mark.parametrize("part", ["tempfile.TemporaryFile", "subprocess.Popen"])
def test_a_full_machine_is_a_failed_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(f"zoe_master.background.attempt_runner.{part}", full)
    end = ended(script(tmp_path, "exit 0"))
    assert (end.exit_code, end.output) == (None, f"{tmp_path}/program cannot be run: No space left on device")


def test_of_long_output_the_end_is_kept(tmp_path: Path) -> None:
    output = ended(script(tmp_path, "seq 100000")).output
    assert len(output) <= 4096
    assert output.endswith("\n100000")


def test_one_that_is_gone_or_killed_says_so(tmp_path: Path) -> None:
    path = tmp_path / "gone"
    assert ended(str(path)) == AttemptProgramEnd(None, f"{path} cannot be run: No such file or directory")
    assert ended(script(tmp_path, "kill -9 $$")) == AttemptProgramEnd(None, "ended by signal 9")


def test_closing_kills_what_runs(tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    with running(script(tmp_path, f"echo $$ > {mark}; sleep 61")) as (runner, _):
        assert runner.result(CALL, {}) is None
        pid = until(lambda: mark.exists() and mark.read_text().strip())
    until(lambda: not Path(f"/proc/{pid}").exists())


@pytest.mark.parametrize(
    ("mode", "path", "why"),
    [
        (0o755, "relative", "not an absolute path"),
        (0o755, "{folder}/none", "there is no file"),
        (0o755, "{folder}", "there is no file"),
        (0o644, "{folder}/program", "not executable"),
        (0o777, "{folder}/program", "others can change"),
    ],
)
def test_settings_that_cannot_work_are_refused(tmp_path: Path, mode: int, path: str, why: str) -> None:
    script(tmp_path, "true")
    (tmp_path / "program").chmod(mode)
    with pytest.raises(ProgramRefused, match=why):
        check_program("prologue", path.format(folder=tmp_path))


def test_no_program_and_a_sound_one_are_accepted(tmp_path: Path) -> None:
    check_program("prologue", "")
    check_program("prologue", script(tmp_path, "true"))
