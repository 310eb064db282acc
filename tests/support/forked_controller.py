"""A storage controller as a process that begins with everything imported."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import cast

from tests.support.forked import Forked
from zoe_embedded.swift.controller import ControllerSite


class ForkedControllerSite(ControllerSite):
    """A site whose controllers are forked."""

    def _spawn(self, environment: dict[str, str]) -> subprocess.Popen[bytes]:
        process = Forked("storage_controller.__main__", environment, self.log, Path("/"))
        return cast("subprocess.Popen[bytes]", process)
