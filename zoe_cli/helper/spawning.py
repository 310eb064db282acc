"""Start the resident helper behind a command that ran without one."""

import os
import signal
import sys

from zoe_cli.helper.surroundings import read_at_start

# The caller's other variables, such as a token, would stay readable in the list of processes.
_KEPT = frozenset({"HOME", "PATH", "XDG_RUNTIME_DIR"})


def start_helper(variables: dict[str, str]) -> None:
    """Start the helper for callers with these variables, and return at once; do nothing if this system cannot."""
    kept = {name: value for name, value in variables.items() if name in _KEPT or read_at_start(name)}
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    try:
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-P", "-m", "zoe_cli.helper"],
            kept,
            file_actions=nothing,
            setsid=True,
            setsigmask=(),
            setsigdef=(
                signal.SIGINT,
                signal.SIGQUIT,
                signal.SIGHUP,
                signal.SIGTERM,
                signal.SIGCHLD,
                signal.SIGTSTP,
                signal.SIGIO,
            ),
        )
    except (OSError, NotImplementedError):
        return
