"""Any shell finds the processes of a terminal."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from zoe_master.backends.terminal import container_shell

SHELLS = [["/bin/sh"], ["busybox", "sh"], ["bash"]]


def run(shell: list[str], command: list[str], name: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, container_shell.NAME: name}
    return subprocess.Popen(
        [*shell, *command[1:]], env=environment, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def send(shell: list[str], name: str, signal: str) -> int:
    return subprocess.run([*shell, *container_shell.end(name, signal)[1:]], check=False).returncode


def left(mark: str) -> list[int]:
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if mark.encode() in (place / "cmdline").read_bytes().split(b"\0"):
                found.append(int(place.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("shell", SHELLS, ids=lambda shell: shell[0])
def test_all_that_a_terminal_began_is_ended_and_nothing_else(shell: list[str]) -> None:
    if shutil.which(shell[0]) is None:
        pytest.skip(f"tool: no {shell[0]}")
    name, seconds = container_shell.new_name(), f"1000{os.getpid()}"
    script = f"(setsid env -i sleep {seconds} &); (setsid sleep {seconds} &); sleep {seconds} & echo go; wait"
    other = subprocess.Popen(["sleep", seconds], start_new_session=True)
    program = run(shell, container_shell.begin(name, ["sh", "-c", script], None), name)
    try:
        assert program.stdout is not None
        assert program.stdout.readline() == b"go\n"
        while len(left(seconds)) < 4:
            time.sleep(0.01)
        assert send(shell, name, "KILL") == container_shell.SOME_LEFT
        program.wait(10)
        while send(shell, name, "KILL") == container_shell.SOME_LEFT:
            time.sleep(0.01)
        assert [pid for pid in left(seconds) if _runs(pid)] == [other.pid]
    finally:
        for pid in left(seconds):
            os.kill(pid, 9)
        other.wait()
        program.communicate()


def _runs(pid: int) -> bool:
    try:
        return ") Z " not in Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False


def test_a_program_that_is_not_there_is_named() -> None:
    program = run(["/bin/sh"], container_shell.begin("1", ["no-such-program"], None), "1")
    _, errors = program.communicate()
    assert (program.returncode, errors) == (
        container_shell.NOT_FOUND,
        b"zoe: cannot run 'no-such-program': No such file or directory\n",
    )


def test_arguments_tell_whose_command_it_is() -> None:
    begun = container_shell.begin("123", ["bash"], (24, 80))
    assert container_shell.name_in(begun[1:]) == "123"
    assert container_shell.name_in(["-c", "true"]) is None
    assert container_shell.name_in(container_shell.end("123", "KILL")[1:]) is None
