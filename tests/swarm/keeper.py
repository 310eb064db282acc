"""Holds the process that takes engines apart, which also happens when this one dies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


class Keeper:
    """`undo.py` at work; `bridge` is empty where there is none, `forwards` whether its forwarding had to be allowed."""

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
