"""Child processes of the API: a small environment, a low priority, and an end at a limit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

# Requests of this process come first when there are too few cores.
_NICER = 2


class TooLong(Exception):  # noqa: N818 - the name is the fact
    """A child exceeded its time, CPU time or memory, and was ended; the message says which."""


def start(command: Sequence[str], directory: Path, more: Mapping[str, str] | None = None, **streams: Any) -> Child:
    """Start a program whose environment has the places of programs and modules, and `more`."""
    known = {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
    environment = {**known, "HOME": str(directory), **(more or {})}
    nice = ["nice", "-n", str(_NICER), *command]
    return subprocess.Popen(nice, env=environment, cwd=directory, start_new_session=True, **streams)


def run(
    command: Sequence[str], directory: Path, seconds: float, more: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """Return the output of a program; TooLong, after it was ended, if it runs for longer than this."""
    with start(command, directory, more, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as child:
        try:
            output, errors = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            raise TooLong(f"it took longer than {seconds:g} s") from None
        finally:
            child.kill()
    return subprocess.CompletedProcess(command, child.returncode, output, errors)


Child = subprocess.Popen[bytes]
