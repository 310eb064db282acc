"""Orders for the process of a terminal in a local service."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from zoe_master.backends.base import TerminalRequest
from zoe_master.backends.local.supervisor import files

_PROGRAM = "import sys; sys.path.append({path!r}); from supervisor.entering import main; main()"
_BARE = (sys.executable, "-I", "-S", "-c", _PROGRAM.format(path=str(Path(__file__).parent)))


def terminal_order(directory: Path, status: files.Document, request: TerminalRequest) -> dict[str, Any]:
    """Return the order for a command in the service of this directory; `status` has the service's own process."""
    return {
        "argv": [*_BARE, str(directory), request.term if request.tty else "", *request.command],
        "tty": request.tty,
        "rows": request.rows,
        "columns": request.columns,
        "pid": status["pid"],
        "start_ticks": status["pid_start_ticks"],
    }
