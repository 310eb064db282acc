"""End the processes that a dead supervisor has left behind."""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.executions.execution import ServiceId
from zoe_master.backends.local.services.specification import BACKEND_VARIABLE, SERVICE_VARIABLE
from zoe_master.backends.local.supervisor import files, processes
from zoe_master.backends.local.supervisor.cgroup import Cgroup
from zoe_master.backends.local.supervisor.volumes.attachment import detach


def end_leftovers(service_id: ServiceId, directory: Path, timeout_s: float = 30.0) -> bool:
    """Kill every process of the service and remove its control group; False if some processes survive.

    Its processes are those of its control group, of its component's session, and those with its name in their
    environment. Without control groups, a process that left the session and cleared its environment escapes.
    """
    spec = files.read_json(str(directory / files.START)) or {}
    status = files.read_json(str(directory / files.STATUS)) or {}
    cgroup = Cgroup.from_document(status.get("cgroup") or spec.get("cgroup"))
    if cgroup is not None:
        cgroup.forbid_forks()
    marks = {f"{SERVICE_VARIABLE}={service_id}", f"{BACKEND_VARIABLE}={spec.get('hint')}"}
    gone = _kill_all({mark.encode() for mark in marks}, status, cgroup, timeout_s)
    if cgroup is not None:
        cgroup.remove()
    for volume in spec.get("volumes", ()):
        detach(volume["directory"], volume["epoch"])
    return gone


def _kill_all(
    marks: set[bytes], status: files.Document, cgroup: Cgroup | None, timeout_s: float, clock: Clock = SYSTEM_CLOCK
) -> bool:
    deadline_s = clock.monotonic_s() + timeout_s
    while left := leftovers(marks, status, cgroup):
        if clock.monotonic_s() >= deadline_s:
            return False
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        clock.sleep(0.02)
    return True


def leftovers(marks: set[bytes], status: files.Document, cgroup: Cgroup | None) -> set[int]:
    """Return the pids of all living processes of the service; their environment contains `marks`."""
    found = set(cgroup.pids()) if cgroup is not None else set()
    alive = {pid: process for pid, process in processes.all_processes().items() if process.state != "Z"}
    session = _session(status)
    found |= {pid for pid, process in alive.items() if process.session == session}
    found |= {pid for pid in alive if _is_marked(pid, marks)}
    return found & alive.keys() - {os.getpid()}


def _session(status: files.Document) -> int | None:
    """Return the component's session, unless another process has reused its number.

    The kernel does not reuse the number while the session has members. So either its leader is gone and the members are
    ours, or there is a leader and its start time tells whether it is ours.
    """
    pid: int | None = status.get("pid")
    if pid is None:
        return None
    began = processes.start_ticks(pid)
    return pid if began is None or began == status.get("pid_start_ticks") else None


def _is_marked(pid: int, marks: set[bytes]) -> bool:
    try:
        environment = Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False
    return marks <= set(environment.split(b"\0"))
