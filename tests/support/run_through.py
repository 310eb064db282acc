"""Programs that start all of Zoe, run to their end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_STOPS_S = 60.0


def run_through(
    module: str, *options: str, within_s: float, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run a module. If the test ends before, by time or Ctrl-C, the program may still stop its children."""
    command = [sys.executable, "-m", module, *options]
    process = subprocess.Popen(
        command, env={**os.environ, **environment}, cwd=ROOT, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        said, errors = process.communicate(timeout=within_s)
    except BaseException:
        process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=_STOPS_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            for pipe in filter(None, (process.stdout, process.stderr)):
                pipe.close()  # its child may hold the other end
        raise
    return subprocess.CompletedProcess(command, process.returncode, said, errors)
