"""The environment of a script."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from zoe_job.common.job import Job
from zoe_job.steps import script
from zoe_job.steps.script import _environment
from zoe_master.backends.local.supervisor import entering
from zoe_master.backends.terminal import container_shell


@pytest.mark.parametrize("between_containers", [False, True])
def test_names_and_addresses_of_the_nodes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, between_containers: bool
) -> None:
    (tmp_path / "slurm_script").write_text("#!/bin/bash -l\n")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "srun").touch()
    secret = tmp_path / "secret"
    monkeypatch.setattr(script, "SECRET", secret)
    monkeypatch.setenv("ZOE_JOB_USER", "ada")
    monkeypatch.setenv("ZOE_JOB_WORKSPACE", "/workspaces/ada")
    if between_containers:
        secret.write_text("s")
    found = _environment(Job("sums", nodes=2, ntasks=2), tmp_path, ["main.x:own-1", "node.x:6818"], "own-1")
    # Srun reaches the first node without a port, the others by theirs.
    assert found["ZOE_SRUN_NODES"] == "own-1,node.x:6818"
    names = "main.x,node.x" if between_containers else "127.0.1.1,127.0.1.2"
    assert (found["SLURM_JOB_NODELIST"], found["SLURM_TASKS_PER_NODE"]) == (names, "1(x2)")
    assert (found["SLURM_JOB_USER"], "ZOE_JOB_USER" in found) == ("ada", False)
    assert (found["USER"], found["LOGNAME"], found["HOME"]) == ("ada", "ada", "/workspaces/ada")
    # Scripts ask whether a number of tasks was given; without a time limit there is an end, too.
    assert ("SLURM_NPROCS" in found, "SLURM_NTASKS" in found, found["SLURM_JOB_QOS"]) == (False, False, "normal")
    assert int(found["SLURM_JOB_END_TIME"]) - int(found["SLURM_JOB_START_TIME"]) == 365 * 24 * 3600
    assert (found["SLURM_PROCID"], found["SLURM_LOCALID"], found["SLURM_GTIDS"]) == ("0", "0", "0")
    # Scripts ask whether there is one, to go on from a checkpoint.
    assert "SLURM_RESTART_COUNT" not in found
    monkeypatch.setenv("ZOE_JOB_ATTEMPT", "3")
    again = _environment(Job("sums", nodes=2, ntasks=2), tmp_path, ["main.x:own-1", "node.x:6818"], "own-1")
    assert again["SLURM_RESTART_COUNT"] == "2"
    assert "srun" in found["BASH_FUNC_srun%%"]  # for a login shell, which sets PATH anew
    assert found["PATH"].startswith(f"{tmp_path}/bin:")


def test_shells_get_the_variables_and_the_directory_of_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    work = tmp_path / "a 'b"
    work.mkdir()
    monkeypatch.chdir(work)
    texts = {"SLURM_JOB_ID": "x1", "HOME": str(tmp_path), "ODD": "it's\n$HOME `x`", "BASH_FUNC_srun%%": "() { :; }"}
    script._write_for_shells({**texts, "PATH": f"{tmp_path}:{os.environ['PATH']}", "PWD": "/"})
    order = container_shell.begin("1", ["sh", "-c", 'printf "%s|" "$SLURM_JOB_ID" "$HOME" "$ODD" "$PWD"'], None)
    own = {"PATH": os.environ["PATH"], "TMPDIR": str(tmp_path)}
    expected = ["x1", str(tmp_path), texts["ODD"], str(work), ""]
    in_container = subprocess.run(order, env=own, cwd="/", capture_output=True, text=True, check=True).stdout
    assert in_container.split("|") == expected
    found = {"TMPDIR": str(tmp_path)}
    monkeypatch.chdir("/")
    entering._read_own(found)
    assert [found["SLURM_JOB_ID"], found["HOME"], found["ODD"], str(Path.cwd()), ""] == expected
    assert (tmp_path / script.FOR_SHELLS).stat().st_mode & 0o777 == 0o600
    assert script.FOR_SHELLS == entering.FOR_SHELLS
