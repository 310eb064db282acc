"""`make serve STORAGE=1` as a program of its own, without Spark's installation."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.support.runtimes import runtimes_of_the_clone
from zoe_embedded.runtimes.runtime import CLONE

COMMAND = (
    sys.executable,
    "-c",
    """
import sys
from zoe_embedded import stack
from zoe_embedded.demos import serve
stack.ensure_runtime = lambda _: None
sys.exit(serve.main())
""",
    "--storage",
)


def variables(home: Path) -> Mapping[str, str]:
    """Return the environment in which it serves this home."""
    own = {"ZOE_HOME": str(home), "XDG_CONFIG_HOME": str(home / "config")}
    return {**os.environ, **runtimes_of_the_clone(), **own}


@contextmanager
def served(home: Path) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """Start it; yield the program and the file of its output, and end it if it still runs."""
    output = home / "serve.out"
    with output.open("wb") as file:
        running = subprocess.Popen(
            COMMAND, env=variables(home), cwd=CLONE, stdout=file, stderr=file, start_new_session=True
        )
    try:
        yield running, output
    finally:
        if running.poll() is None:
            running.terminate()
            running.wait(60)
