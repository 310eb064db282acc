"""Run prologues and epilogues beside the master, each in a thread of a small pool."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import BinaryIO

import structlog

from zoe_master.loop.attempt_programs import AttemptProgramCall, AttemptProgramEnd, AttemptProgramKind

log = structlog.get_logger(__name__)

AT_ONCE_MAX = 16
"""Maximum programs that run at the same time: each is a process on the master's machine."""
_OUTPUT_BYTES_MAX = 4096
_WRITABLE_BY_OTHERS = 0o022
_ERRNO_BYTES_MAX = 16
# Runs a program in this process's group, and kills the group when the master is gone, however it ended: nothing else
# would end a program whose master was killed. Writes the error to the master if the program cannot be run.
_WATCH = """
import os, select, sys
program, no_input = sys.argv[1], [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0)]
try:
    child = os.posix_spawn(program, [program], os.environ, file_actions=no_input, setsigdef=(13, 25))
except OSError as error:
    os.write(0, b"%d" % error.errno)
    sys.exit(1)
ended = os.pidfd_open(child)
if ended not in select.select([0, ended], [], [])[0]:
    os.killpg(0, 9)
code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
if code < 0:
    os.kill(os.getpid(), -code)
os._exit(code)
"""


class ProgramRefused(Exception):  # noqa: N818
    """A prologue or an epilogue in the settings cannot run."""


class AttemptRunner:
    """Runs the programs of the settings. Thread-safe.

    A program gets its variables and nothing else of the master's environment, and no input. It runs again if the
    master ends meanwhile.
    """

    def __init__(self, programs: Mapping[AttemptProgramKind, str], timeout_s: float, wake: Callable[[], None]) -> None:
        self.programs = programs
        self._timeout_s = timeout_s
        self._wake = wake
        self._pool = ThreadPoolExecutor(AT_ONCE_MAX, thread_name_prefix="attempt-program")
        self._calls: dict[AttemptProgramCall, Future[AttemptProgramEnd]] = {}
        self._lock = Lock()
        self._running: set[subprocess.Popen[bytes]] = set()
        self._closed = False

    def is_set(self, kind: AttemptProgramKind) -> bool:
        """Return whether a program of this kind is set."""
        return kind in self.programs

    def result(self, call: AttemptProgramCall, variables: Mapping[str, str]) -> AttemptProgramEnd | None:
        """Return how a program ended; begin it at the first call, and return None until it has ended."""
        if call not in self._calls:
            self._calls[call] = self._pool.submit(self._run, call, dict(variables))
            self._calls[call].add_done_callback(lambda _: self._wake())
        future = self._calls[call]
        return future.result() if future.done() else None

    def is_begun(self, call: AttemptProgramCall) -> bool:
        """Return whether this runner has begun a program."""
        return call in self._calls

    def forget(self, call: AttemptProgramCall) -> None:
        """Drop the result of a program, once it is in the journal."""
        self._calls.pop(call, None)

    def close(self) -> None:
        """Kill what runs, and end the threads."""
        with self._lock:
            self._closed = True
            for process in self._running:
                _kill(process)
        self._pool.shutdown(cancel_futures=True)

    def _run(self, call: AttemptProgramCall, variables: Mapping[str, str]) -> AttemptProgramEnd:
        program = self.programs[call.kind]
        try:
            with tempfile.TemporaryFile() as output:
                code, why = self._exit_code(program, variables, output)
                end = AttemptProgramEnd(code, "\n".join(filter(None, (_tail(output), why))))
        except OSError as error:  # a full disk, or no room for another process
            end = AttemptProgramEnd(None, f"{program} cannot be run: {error.strerror}")
        log.info(call.kind.value, execution=call.execution_id, exit_code=end.exit_code, output=end.output)
        return end

    def _exit_code(self, program: str, variables: Mapping[str, str], output: BinaryIO) -> tuple[int | None, str]:
        """Return the exit code, None if it was killed, and a sentence if it did not end by itself."""
        link, other_end = socket.socketpair()
        with link:
            with other_end, self._lock:
                if self._closed:
                    return None, "the master ended"
                process = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", _WATCH, program], env={**_base(), **variables}, cwd="/",
                    stdin=other_end.fileno(), stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
                )  # fmt: skip
                self._running.add(process)
            try:
                code = process.wait(self._timeout_s)
            except subprocess.TimeoutExpired:
                _kill(process)
                process.wait()
                return None, f"killed after {self._timeout_s:g} s"
            finally:
                with self._lock:
                    self._running.discard(process)
            if error := link.recv(_ERRNO_BYTES_MAX):
                return None, f"{program} cannot be run: {os.strerror(int(error))}"
        return (code, "") if code >= 0 else (None, f"ended by signal {-code}")


def check_program(name: str, program: str) -> None:
    """Raise ProgramRefused, with the setting's name, unless the master can run it and others cannot change it."""
    if not program:
        return
    path = Path(program)
    if not path.is_absolute():
        raise ProgramRefused(f"{name}: {program} is not an absolute path")
    if not path.is_file():
        raise ProgramRefused(f"{name}: there is no file {program}")
    if not os.access(path, os.X_OK):
        raise ProgramRefused(f"{name}: {program} is not executable for user {os.geteuid()}: chmod +x")
    if path.stat().st_mode & _WRITABLE_BY_OTHERS:
        raise ProgramRefused(f"{name}: others can change {program}: chmod go-w")


def _base() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a program that has not ended, with its descendants."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _tail(output: BinaryIO) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(max(size - _OUTPUT_BYTES_MAX, 0))
    return output.read().decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}").strip()
