"""The process of one terminal: `main()` reads its order from the first line, and ends with its standard input."""

from __future__ import annotations

import json
import os
import signal

from zoe_master.backends.terminal.listener import accept, listen
from zoe_master.backends.terminal.program import TerminalProcess
from zoe_master.backends.terminal.transfer import TerminalTransfer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from zoe_master.backends.terminal.container_exec import ContainerExec


def main() -> None:
    """Serve one terminal; see `sessions` for the line and the answer."""
    order = json.loads(_first_line())
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    server = listen(order["host"])
    os.write(1, json.dumps({"port": server.getsockname()[1]}).encode() + b"\n")
    os.dup2(2, 1)
    connection = accept(server, order["secret"].encode(), 0, order["wait_s"])
    if connection is None:
        return
    woken, wakeup = os.pipe()
    for descriptor in (woken, wakeup):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    program, over = _start_program(order, wakeup)
    try:
        TerminalTransfer(connection, program, [0, woken], over).run()
    finally:
        connection.close()
        program.end()


def _start_program(
    order: dict[str, Any], wakeup: int
) -> tuple[TerminalProcess | ContainerExec, Callable[[], str | None]]:
    """Return the program, and a function that returns why its terminal must end early."""
    if "container" not in order:
        local = TerminalProcess(order["argv"], order["tty"], order["rows"], order["columns"])
        return local, lambda: _end_of_service(order["pid"], order["start_ticks"])
    # Imported only here: TLS takes as long to load as all other modules.
    from zoe_master.backends.terminal.container_exec import ContainerExec

    remote = ContainerExec(order, wakeup)
    return remote, lambda: remote.failure


def _first_line() -> bytes:
    line = b""
    while not line.endswith(b"\n") and (data := os.read(0, 65536)):
        line += data
    return line


def _end_of_service(pid: int, start_ticks: int) -> str | None:
    """Return why the terminal must end: the service's own process has ended."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            text = file.read()
        if int(text[text.rindex(b")") + 2 :].split()[19]) == start_ticks:
            return None
    except (OSError, ValueError, IndexError):
        pass
    return "the service has ended"
