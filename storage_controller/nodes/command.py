"""Runs the program that restarts a node: without a shell, within a timeout, keeping the end of its output."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress

from zoe_lib.clock import SYSTEM_CLOCK, Clock

OUTPUT_CHARACTERS_MAX = 2000
_PASSED = ("PATH", "HOME", "LANG", "LC_ALL", "TZ")  # others may be secrets of the controller
_END_S = 5.0
_PIECE_BYTES = 65536


def run(command: Sequence[str], seconds: float, clock: Clock = SYSTEM_CLOCK) -> tuple[int | None, str]:
    """Return its exit code and the end of its output. Code None: it did not start, or was killed after `seconds`, as
    the text says. Processes that it leaves behind continue if they have a separate session.
    """
    environment = {name: os.environ[name] for name in _PASSED if name in os.environ}
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd="/",
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return None, f"{command[0]} does not start: {error}"
    until_s = clock.monotonic_s() + seconds
    assert process.stdout is not None
    with process.stdout as output:
        text = _read(output.fileno(), process, until_s, clock)
    try:
        return process.wait(max(until_s - clock.monotonic_s(), 0.0)), text
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(_END_S)
        return None, f"{text}\nkilled: it ran for more than {seconds:g} s".strip()


def _read(pipe: int, process: subprocess.Popen[bytes], until_s: float, clock: Clock) -> str:
    """Return the end of the output until the process ends, or until the time is over."""
    found, ready = b"", select.poll()
    ready.register(pipe, select.POLLIN)
    while (left_s := until_s - clock.monotonic_s()) > 0:
        if ready.poll(min(left_s, 0.1) * 1000):
            piece = os.read(pipe, _PIECE_BYTES)
            if not piece:
                break
            found = (found + piece)[-4 * OUTPUT_CHARACTERS_MAX :]
        elif process.poll() is not None:
            break  # a process that it left behind holds the pipe
    text = found.decode(errors="replace")
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text).strip()[-OUTPUT_CHARACTERS_MAX:]
