"""The resident process: it imports every command once, and forks a child for each call."""

from __future__ import annotations

import atexit
import fcntl
import gc
import os
import signal
import socket
import sys
from importlib import import_module
from pathlib import Path

from zoe_cli.helper import child
from zoe_cli.helper.surroundings import socket_path, surroundings

IDLE_S = 300.0
_WAITING = 64
# Commands import these only when they need them.
_ALSO = ("httpx", "rich.console", "rich.table", "zoe_cli.tables", "zoe_cli.yaml_text", "zoe_client.client")

Stamps = dict[str, tuple[int, int, int]]


def main() -> None:
    """Serve calls until none has come for some minutes; end at once if another helper does."""
    # Registered first, it runs last, after what the imports register.
    atexit.register(child.end)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.chdir("/")
    try:
        around = surroundings()
        path = Path(socket_path(around))
        lock = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(path))
    except OSError:
        return
    stamps = _import_commands()
    call = _next_call(listening, path, stamps)
    if call is None:
        return
    os.close(lock)
    child.run(call, around)


def _import_commands() -> Stamps:
    """Import the modules of all commands; return the stamps of every imported file."""
    from zoe_cli.main import command

    for name in _ALSO:
        import_module(name)
    commands = command().commands
    for name in commands:
        commands[name]
    files = {file for module in list(sys.modules.values()) if (file := getattr(module, "__file__", None))}
    gc.collect()
    gc.freeze()
    return {file: _stamp(file) for file in files}


def _next_call(listening: socket.socket, path: Path, stamps: Stamps) -> socket.socket | None:
    """Return the connection of a call in the child that is to run it; None in this process, at its end."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nothing waits for a child
    listening.listen(_WAITING)
    listening.settimeout(IDLE_S)
    while True:
        try:
            call, _ = listening.accept()
            ended = _are_changed(stamps)
            child_id = -1 if ended else os.fork()
        except OSError:
            ended = True
        if ended:
            path.unlink(missing_ok=True)
            return None
        if child_id == 0:
            listening.close()
            return call
        call.close()


def _are_changed(stamps: Stamps) -> bool:
    """Return whether an imported file is another one by now, as after an upgrade."""
    try:
        return any(_stamp(file) != stamp for file, stamp in stamps.items())
    except OSError:
        return True


def _stamp(file: str) -> tuple[int, int, int]:
    found = os.stat(file)
    return found.st_ino, found.st_size, found.st_mtime_ns
