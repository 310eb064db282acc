"""A storage controller as a process that begins with everything imported."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import cast

from tests.support.forked import Forked
from tests.support.waiting import until
from zoe_embedded.log_files import log_to
from zoe_embedded.swift.controller import ControllerSite


class ForkedControllerSite(ControllerSite):
    """A site whose controllers are forked."""

    def _spawn(self, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        with log_to(self.log) as log:
            output = Path(f"/proc/{os.getpid()}/fd/{log}")
            process = Forked("storage_controller.__main__", environment, output, Path("/"))
            # The copier of the log ends when nobody has the pipe.
            until(lambda: Path(f"/proc/{process.pid}/fd/2").readlink() == output.readlink())
        return cast("subprocess.Popen[bytes]", process)
