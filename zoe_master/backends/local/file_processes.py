"""The processes that serve users' files: one for each user of a tenant, started on request.

They are not services: nothing is reserved for them, and they end when idle. A record of each lets the next master use
it.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import select
import signal
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import structlog

from zoe_files import HOME
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.backends.base import BackendError, Endpoint, SystemUser
from zoe_master.backends.file_task import UMASK_OF_ALL, UMASK_OF_ITS_OWN, FileLimits, task_of
from zoe_master.backends.local.files import directories
from zoe_master.backends.local.files.users import ComponentUsers
from zoe_master.backends.local.files.workspaces import workspaces
from zoe_master.backends.local.supervisor import files, processes
from zoe_master.backends.services.failures import CannotStartError

log = structlog.get_logger(__name__)

HOST = "127.0.0.1"
# `-I -S` starts in a third of the time. All modules are imported before the switch to the user, possibly without
# access to them.
_PROGRAM = "import sys; sys.path.append({home!r}); from zoe_files.main import main; sys.exit(main())"
_START_TIMEOUT_S = 10.0
_ANSWER_BYTES_MAX = 1000


class FileProcesses:
    """Finds or starts the process of a user. Thread-safe."""

    def __init__(
        self,
        directory: Path,
        workspaces_dir: Path,
        limits: FileLimits,
        users: ComponentUsers,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._directory = directory
        self._workspaces_dir = workspaces_dir
        self._limits = limits
        self._users = users
        self._lock = threading.Lock()
        self._started: set[int] = set()

    def find_or_start(self, tenant: str, user: str, system_user: SystemUser | None) -> Endpoint:
        """Return the endpoint for a user's files; BackendError."""
        if not (directories.is_safe_name(tenant) and directories.is_safe_name(user)):
            raise BackendError(f"{user!r} of {tenant!r} cannot have a directory")
        with self._lock:
            self._reap()
            try:
                task = self._task(tenant, user, system_user)
                record = self._directory / f"{tenant}+{user}.json"
                return self._running(record, task) or self._start(record, task)
            except CannotStartError as error:
                raise BackendError(str(error)) from None
            except OSError as error:
                raise BackendError(f"cannot serve the files of {user}: {error.strerror}") from error

    def end(self, tenant: str, user: str) -> None:
        """End the process of a user, if there is one."""
        with self._lock:
            record = self._directory / f"{tenant}+{user}.json"
            _end(files.read_json(str(record)) or {})
            record.unlink(missing_ok=True)
            self._reap()

    def close(self) -> None:
        """End them all; uploads can continue once the next master has started others."""
        with self._lock:
            for record in self._directory.glob("*.json"):
                _end(files.read_json(str(record)) or {})
                record.unlink(missing_ok=True)
            self._reap(wait_s=2.0)

    def _task(self, tenant: str, user: str, system_user: SystemUser | None) -> dict[str, Any]:
        owner = self._users.user_for(system_user)
        own, shared = workspaces(self._workspaces_dir, tenant, user, owner)
        return task_of(
            {"workspace": str(own), "shared": str(shared)},
            (HOST, 0),
            self._limits,
            None if owner is None else {"uid": owner.uid, "gid": owner.gid},
            UMASK_OF_ALL if owner is None else UMASK_OF_ITS_OWN,
        )

    def _running(self, record: Path, task: Mapping[str, Any]) -> Endpoint | None:
        """Return the endpoint of the recorded process if it serves this task; else end it."""
        known = files.read_json(str(record))
        if known is None or not _is_alive(known):
            return None
        if known.get("task") != _digest(task):
            _end(known)
            return None
        return Endpoint(known["host"], known["port"], known["secret"])

    def _start(self, record: Path, task: Mapping[str, Any]) -> Endpoint:
        secret = secrets.token_urlsafe(32)
        pid, answer = _launch_program({**task, "secret": secret})
        self._started.add(pid)
        word, _, rest = answer.partition(" ")
        if word != "port" or not rest.isdigit():
            _kill(pid)
            raise BackendError(f"the program that serves files did not start: {rest or answer or 'no answer in time'}")
        known = {
            "pid": pid,
            "start_ticks": processes.start_ticks(pid),
            "boot_id": files.boot_id(),
            "host": HOST,
            "port": int(rest),
            "secret": secret,
            "task": _digest(task),
        }
        try:
            files.write_json(str(record), known)
        except OSError as error:
            # The next master does not find it, and starts another one; this one ends when idle.
            log.warning("cannot record the process that serves files", why=error.strerror)
        return Endpoint(HOST, int(rest), secret)

    def _reap(self, wait_s: float = 0.0) -> None:
        until_s = self._clock.monotonic_s() + wait_s
        while True:
            self._started = {pid for pid in self._started if not _reap(pid)}
            if not self._started or self._clock.monotonic_s() >= until_s:
                return
            self._clock.sleep(0.01)


def _reap(pid: int) -> bool:
    """Return whether that child has ended; collects its exit status, so that no zombie stays."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return True


def _launch_program(task: Mapping[str, Any]) -> tuple[int, str]:
    """Start the program, give it the task, and return its pid and its answer, empty if there is none in time."""
    task_read, task_write = os.pipe()
    answer_read, answer_write = os.pipe()
    try:
        pid = os.posix_spawn(
            sys.executable,
            [sys.executable, "-I", "-S", "-c", _PROGRAM.format(home=str(HOME))],
            {"PATH": os.defpath, "LANG": "C.UTF-8"},
            file_actions=[
                (os.POSIX_SPAWN_DUP2, task_read, 0),
                (os.POSIX_SPAWN_DUP2, answer_write, 1),
                (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
            ],
            setsid=True,
            setsigdef=signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP},
            setsigmask=(),
        )
        os.close(answer_write)
        answer_write = -1
        with suppress(BrokenPipeError):
            os.write(task_write, json.dumps(task).encode() + b"\n")  # less than the capacity of a pipe
        os.close(task_write)
        task_write = -1
        return pid, _line(answer_read)
    finally:
        for descriptor in (task_read, task_write, answer_read, answer_write):
            if descriptor >= 0:
                os.close(descriptor)


def _line(descriptor: int, clock: Clock = SYSTEM_CLOCK) -> str:
    until_s, text = clock.monotonic_s() + _START_TIMEOUT_S, b""
    while not text.endswith(b"\n") and len(text) < _ANSWER_BYTES_MAX:
        ready, _, _ = select.select([descriptor], [], [], max(until_s - clock.monotonic_s(), 0.0))
        piece = os.read(descriptor, _ANSWER_BYTES_MAX) if ready else b""
        if not piece:
            break
        text += piece
    return text.decode(errors="replace").strip()


def _digest(task: Mapping[str, Any]) -> str:
    """Return a hash that distinguishes tasks, and versions of the program."""
    program = [path.read_text() for path in sorted((HOME / "zoe_files").glob("*.py"))]
    return hashlib.sha256(json.dumps([task, program], sort_keys=True).encode()).hexdigest()


def _is_alive(known: Mapping[str, Any]) -> bool:
    pid = known.get("pid", 0)
    process = processes.read_process(pid)
    return (
        process is not None
        and process.state != "Z"
        and (known.get("boot_id"), known.get("start_ticks")) == (files.boot_id(), process.start_ticks)
    )


def _end(known: Mapping[str, Any]) -> None:
    """End the process of a record, if it still has its pid."""
    try:
        handle = os.pidfd_open(known["pid"])
    except (OSError, KeyError):
        return
    try:
        if _is_alive(known):
            signal.pidfd_send_signal(handle, signal.SIGKILL)
    except ProcessLookupError:
        pass
    finally:
        os.close(handle)


def _kill(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)  # a child that is not reaped keeps its pid
