"""A resident helper for commands of tests (`zoe_cli/helper/`)."""

from __future__ import annotations

import os
import re
import signal
import socket
import struct
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.support.stack import ZOE
from tests.support.waiting import until

TIMEOUT_S = 120
PLAIN_WAY = 99
# A command that would run in its own process ends with this code instead.
_HELPED = f"""
import sys
from zoe_cli.helper import caller, spawning
spawning.start_helper = lambda variables: None
caller._run_here = lambda: sys.exit({PLAIN_WAY})
caller.main()
"""
HELPED = [sys.executable, "-c", _HELPED]
PLAIN = [str(ZOE)]
Outcome = tuple[int, str, str]


@dataclass(frozen=True)
class Helper:
    """The helper of a folder, and the variables of its callers."""

    variables: dict[str, str]
    folder: Path

    def start(self) -> int:
        """Start one behind a command, and wait until it listens; return its process."""
        assert self.plainly("--version", ZOE_HELPER="1")[0] == 0
        return until(self.process)

    def process(self) -> int | None:
        """Return the process that listens."""
        for path in self.folder.glob("????????"):
            with socket.socket(socket.AF_UNIX) as channel:
                try:
                    channel.connect(str(path))
                except OSError:
                    continue
                found = channel.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
                return int(struct.unpack("iII", found)[0])
        return None

    def end(self) -> None:
        """End it, if there is one."""
        process = self.process()
        if process is not None:
            os.kill(process, signal.SIGKILL)
            until(lambda: self.process() is None)

    def helped(self, *words: str, **more: str) -> Outcome:
        """Run a command by the helper; its code is PLAIN_WAY if that does not run it."""
        return outcome([*HELPED, *words], {**self.variables, **more})

    def plainly(self, *words: str, **more: str) -> Outcome:
        """Run a command in its own process."""
        return outcome([*PLAIN, *words], {**self.variables, "ZOE_HELPER": "0", **more})


def outcome(command: list[str], variables: dict[str, str]) -> Outcome:
    """Return exit code, output and errors of a command without durations."""
    done = subprocess.run(
        command, env=variables, text=True, capture_output=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL, check=False
    )
    return done.returncode, without_durations(done.stdout), without_durations(done.stderr)


def without_durations(text: str) -> str:
    """Return the text with N instead of numbers that differ from call to call, and with single spaces: a column is as
    wide as its longest duration.
    """
    return re.sub(r" +", " ", re.sub(r"\b(\d+m\d\ds|\d+\.\d+s?)(?=\W|$)", "N", text))
