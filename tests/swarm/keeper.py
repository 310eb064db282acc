"""Holds the process that takes engines apart, which also happens when this one dies."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from scripts.testing.cpu_groups import ENGINES_PARENT


def group_of_containers(name: str) -> str:
    """Return the control group for an engine's containers, below that of the part, which so counts their CPU time."""
    return f"{os.environ.get(ENGINES_PARENT, '')}/{name}"


class Keeper:
    """`undo.py` at work; `cgroup` begins with "/", `bridge` is empty where there is none.

    `forwards`: whether its forwarding had to be allowed.
    """

    def __init__(self, base: Path, cgroup: str, bridge: str = "", forwards: bool = False) -> None:
        program = str(Path(__file__).with_name("undo.py"))
        self._process = subprocess.Popen(
            [sys.executable, "-I", program, str(base), bridge, cgroup, "yes" if forwards else ""],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"watching\n"

    def undo(self) -> None:
        """Everything, now."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()
