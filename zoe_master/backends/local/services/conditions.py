"""What keeps a service of this machine from running or from being ready, as a sentence."""

from __future__ import annotations

from collections.abc import Callable

from zoe_master.backends.base import ObservedState
from zoe_master.backends.local.supervisor import files
from zoe_master.backends.local.supervisor.processes import Process, read_process

_STOPPED = ("T", "t")
"""States of a process that a signal or a debugger has stopped."""
_STOPPED_WORDS = "is stopped by a signal that Zoe did not send; SIGCONT continues it"


def condition_of(
    status: files.Document,
    state: ObservedState,
    probe: str,
    read: Callable[[int], Process | None] = read_process,
) -> str:
    """Return the sentence for a service that has not ended; empty if it runs as it should. `probe`: name of the port
    that it must answer on to be ready, with its time.
    """
    found = [str(status["message"])] if status.get("message") else []
    whose = {"its process": ("pid", "pid_start_ticks"), "its supervisor": ("shim_pid", "shim_start_ticks")}
    for name, (pid, ticks) in whose.items():
        process = read(status[pid]) if status.get(pid) else None
        if process is not None and process.start_ticks == status.get(ticks) and process.state in _STOPPED:
            found.append(f"{name} {_STOPPED_WORDS}")
    if state is ObservedState.STARTED and probe:
        found.append(probe)
    return "; ".join(found)


def probe_words(name: str, timeout_s: float) -> str:
    """Return what a service waits for whose port does not answer yet."""
    return f"port {name} does not answer yet; it has {timeout_s:g} s from its start"
