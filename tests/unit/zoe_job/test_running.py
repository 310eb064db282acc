"""Scripts that run as they do in a service, without one: their signals, and their `srun`."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.support.waiting import until
from zoe_cli.slurm.draft import _RUN, programs
from zoe_job.job import NAME, Job
from zoe_job.script import SCRIPT


class Running:
    """Runs a script in a directory of its own."""

    def __init__(self, base: Path) -> None:
        self.files, self.work = base / "files", base / "work"
        self.work.mkdir()
        self._processes: list[subprocess.Popen[str]] = []

    def start(self, script: str, job: Job, **environment: str) -> subprocess.Popen[str]:
        texts = {**programs(), SCRIPT: script, NAME: json.dumps(asdict(job))}
        for name, text in texts.items():
            place = self.files / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
            place.chmod(0o755)
        given = {"PATH": os.defpath, "ZOE_EXECUTION_ID": f"x{self.work.parent.name}", **environment}
        command = [sys.executable, "-B", "-c", _RUN, str(self.files), "run"]
        process = subprocess.Popen(
            command,
            cwd=self.work,
            env=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._processes.append(process)
        return process

    def end(self) -> None:
        for process in self._processes:
            process.kill()
            process.communicate()


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    made = Running(tmp_path)
    yield made
    made.end()


def test_a_script_gets_the_signal_of_the_time_limit_once(running: Running) -> None:
    """A shell that gets it twice dies within its trap: from the group, and from the program that runs the script."""
    process = running.start(
        "#!/bin/bash\ntrap 'for i in 1 2 3; do sleep 0.05; echo saved; done; kill 0' EXIT\n: > ready\nsleep 60\n",
        Job("sums", output="/dev/null"),
    )
    until((running.work / "ready").exists)
    os.killpg(process.pid, signal.SIGTERM)
    output, _ = process.communicate()
    assert output == "saved\n" * 3
    # Slurm: as the shell ended. `kill 0` did not reach the program that tells it.
    assert process.returncode == 128 + signal.SIGTERM


def test_steps_run_whatever_python_a_script_puts_in_front_and_end_as_in_slurm(running: Running) -> None:
    other = running.work / "conda"
    other.mkdir()
    (other / "python3").write_text("#!/bin/sh\necho Python 2.7\nexit 9\n")
    (other / "python3").chmod(0o755)
    (running.work / "text").write_text("no program")
    process = running.start(
        "#!/bin/bash\nexport PATH=$PWD/conda:$PATH PYTHONHOME=/no/such\n"
        "srun echo step\nsrun ./nothing; echo $?\nsrun ./text; echo $?\n",
        Job("sums", output="/dev/null", error="errors"),
    )
    output, errors = process.communicate()
    assert output.splitlines() == ["step", "2", "13"], errors
    assert "execve(): ./nothing: No such file or directory" in errors
