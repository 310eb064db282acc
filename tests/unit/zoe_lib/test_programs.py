"""Programs print their purpose, and wrong settings, before they do anything."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.forked import run_forked

PROGRAMS = {
    "zoe-api": ("zoe_api.main", "ZOE_"),
    "zoe-keys": ("zoe_api.services.key_rotation", "ZOE_"),
    "zoe-master": ("zoe_master.main", "ZOE_"),
    "zoe-setup": ("zoe_api.setup", "ZOE_"),
    "zoe-storage": ("storage_controller.__main__", "ZOE_SDS_"),
}
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("ZOE_")}


# Arguments and files that a program needs before it reads its settings.
WORDS = {"zoe-keys": ("rotate", "messaging")}


def run(program: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """With everything imported: the imports would be most of the CPU time of all these runs."""
    return run_forked(PROGRAMS[program][0], *arguments, environment={**ENVIRONMENT, **environment})


def execute(program: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", PROGRAMS[program][0], *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={**ENVIRONMENT, **environment}, check=False
    )


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_is_shown_whatever_the_settings_are(program: str) -> None:
    shown = execute(program, "--help", ZOE_API_PORT="none", ZOE_SDS_PORT="none")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.startswith(f"usage: {program}")
    assert run(program, "--nonsense").returncode == 2


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_wrong_setting_is_a_sentence_and_no_traceback(program: str, tmp_path: Path) -> None:
    port = "PORT" if program == "zoe-storage" else "API_PORT"
    prefix = PROGRAMS[program][1]
    told = run(program, *WORDS.get(program, ()), **{f"{prefix}{port}": "70000"})
    assert told.returncode == 2
    expected = f"{program}: setting {port.lower()} ({prefix}{port}): must be at most 65535, is 70000"
    assert expected in told.stderr.splitlines()
    assert "Traceback" not in told.stderr
    assert "pydantic" not in told.stderr
    file = tmp_path / "zoe.toml"
    file.write_text("this is = no toml")
    told = run(program, *WORDS.get(program, ()), **{f"{prefix}CONFIG": str(file)})
    assert (told.returncode, told.stderr.startswith(f"{program}: {file} is not valid TOML: ")) == (2, True)


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_file_of_settings_that_cannot_be_read_is_refused(program: str, tmp_path: Path) -> None:
    for name, why in (("none", "No such file or directory"), (".", "it is not a regular file")):
        file = str(tmp_path / name)
        told = run(program, *WORDS.get(program, ()), **{f"{PROGRAMS[program][1]}CONFIG": file})
        assert (told.returncode, told.stderr) == (2, f"{program}: {file} cannot be read: {why}\n")


@pytest.mark.parametrize("program", ["zoe-api", "zoe-master"])
def test_a_directory_of_keys_that_cannot_be_made_is_a_sentence(program: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    told = run(program, ZOE_KEYS_DIR=str(tmp_path / "file" / "keys"))
    words = f"{program}: cannot make keys in {tmp_path}/file/keys: Not a directory; set keys_dir (ZOE_KEYS_DIR)"
    assert (told.returncode, told.stderr.startswith(words), told.stderr.count("\n")) == (2, True, 1)
