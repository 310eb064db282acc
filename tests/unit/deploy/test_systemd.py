"""The systemd units that the documentation hands out, as systemd reads them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.needs import need_program

ROOT = Path(__file__).resolve().parents[3]
UNITS = sorted((ROOT / "deploy" / "systemd").glob("*.service"))


def troubles(directory: Path, name: str, text: str) -> str:
    """What systemd finds in a unit whose program is there."""
    program = directory / "program"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = directory / name
    lines = [f"ExecStart={program}" if line.startswith("ExecStart=") else line for line in text.splitlines()]
    unit.write_text("\n".join(lines))
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", unit], capture_output=True, text=True, check=False)
    return done.stderr + ("" if done.returncode == 0 else f"exit code {done.returncode}")


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_systemd_understands_every_line_and_the_program_is_ours(path: Path, tmp_path: Path) -> None:
    need_program("systemd-analyze")
    text = path.read_text()
    assert troubles(tmp_path, path.name, text) == ""
    assert f'{path.stem} = "' in (ROOT / "pyproject.toml").read_text()
    assert f"ExecStart=/opt/zoe/bin/{path.stem}\n" in text


def test_a_wrong_line_is_found(tmp_path: Path) -> None:
    need_program("systemd-analyze")
    assert "NoSuchThing" in troubles(tmp_path, "x.service", UNITS[0].read_text() + "\n[Service]\nNoSuchThing=yes\n")
