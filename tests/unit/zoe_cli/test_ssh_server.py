"""The program of a service that serves ssh, with a program in place of sshd that reports how it was started."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from zoe_cli.commands.inside.ssh_server import SERVE, set_up


@pytest.mark.parametrize("mask", ["0002", "0022", "0027"])
def test_programs_of_ssh_and_scp_have_the_umask_of_the_service(tmp_path: Path, mask: str) -> None:
    """Files that ssh, scp and editors made in `shared` had mode 0600: no other member could read them."""
    server = tmp_path / "sshd"
    server.write_text('#!/bin/sh\numask\ngrep Subsystem "$4"\n')
    server.chmod(0o755)
    environment = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        ["sh", "-c", f"umask {mask}; {SERVE}"],
        input=set_up("key", "host"),
        env=environment,
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode().split("\n")[:2] == [mask, f"Subsystem sftp internal-sftp -u {mask}"], done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["sshd"]
