"""The entry point: `main()` with the service's directory as its one argument."""

from __future__ import annotations

import contextlib
import os
import sys

from . import files
from .supervisor import Supervisor

LOCK_WAIT_S = 0.5


def main() -> None:
    """Supervise the service of this directory, unless another process already does or the service has ended."""
    directory = sys.argv[1]
    _detach()
    lock = files.take_lock(f"{directory}/{files.LOCK}", LOCK_WAIT_S)
    spec = files.read_start(directory)
    if lock is None or spec is None or os.path.exists(f"{directory}/{files.STATUS}"):
        return
    with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("-500")
    supervisor = Supervisor(directory, spec)
    try:
        supervisor.run()
    except Exception as error:
        import traceback

        traceback.print_exc()
        supervisor.abandon(f"its supervisor failed: {error!r}")


def _detach() -> None:
    """Detach from the master: its directory and inherited descriptors."""
    os.chdir("/")
    os.umask(0o077)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            with contextlib.suppress(OSError):
                os.close(int(name))
