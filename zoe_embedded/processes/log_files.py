"""Log files of started programs, bounded in size and number."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from zoe_embedded.processes import rotating
from zoe_lib.settings.config import Settings


@contextmanager
def log_to(path: Path, settings: Settings | None = None) -> Iterator[int]:
    """Yield a file descriptor for the output of programs started in the block, and of their children.

    `log_file_bytes_max` and `log_files_max` come from the environment of this process, unless they are given.
    """
    bounds = settings or Settings()
    copier = [sys.executable, "-I", "-S", rotating.__file__, str(path)]
    reading, writing = os.pipe()
    try:
        try:
            command = [*copier, str(bounds.log_file_bytes_max), str(bounds.log_files_max)]
            subprocess.run(command, stdin=reading, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        finally:
            os.close(reading)
        yield writing
    finally:
        os.close(writing)
