"""Scripts that run as they do in a service, without one: their signals, and their `srun`."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from tests.support.waiting import until
from zoe_job.common.job import NAME, Job
from zoe_job.steps.script import SCRIPT
from zoe_job.submission.draft import _RUN, job_of, programs
from zoe_job.submission.group_options import other_groups
from zoe_job.submission.packed import pack
from zoe_job.submission.request import request_of
from zoe_job.submission.script_lines import read_lines


class Running:
    """Runs a script in a directory of its own."""

    def __init__(self, base: Path) -> None:
        self.files, self.packed, self.work = base / "files", base / "packed", base / "work"
        self.work.mkdir()
        self._processes: list[subprocess.Popen[str]] = []

    def start(self, script: str, job: Job, **environment: str) -> subprocess.Popen[str]:
        """Start the nodes of a job, last the one that runs the script."""
        _write(self.files, {**programs(), SCRIPT: script, NAME: json.dumps(asdict(job))})
        _write(self.packed, pack(programs()))
        nodes = sum(group.nodes for group in job.groups)
        addresses = [f"127.0.0.1:{self._node(number, environment)}" for number in range(1, nodes)]
        return self._run(self.files, ["run"], {"ZOE_JOB_NODES": ",".join(addresses), **environment})

    def _node(self, number: int, environment: dict[str, str]) -> int:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = int(server.getsockname()[1])
        self._run(self.packed, ["node", str(number), "0", "127.0.0.1", str(port)], environment)
        return port

    def _run(self, files: Path, words: list[str], environment: dict[str, str]) -> subprocess.Popen[str]:
        given = {"PATH": os.defpath, "ZOE_EXECUTION_ID": f"x{self.work.parent.name}", **environment}
        process = subprocess.Popen(
            [sys.executable, "-B", "-c", _RUN, str(files), *words],
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


def _write(directory: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        place = directory / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
        place.chmod(0o755)


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    made = Running(tmp_path)
    yield made
    made.end()


def test_a_script_gets_the_signal_of_the_time_limit_once(running: Running) -> None:
    """A shell that gets it twice dies within its trap: from the group, and from the program that runs the script."""
    process = running.start(
        "#!/bin/bash\ntrap 'for i in 1 2 3; do sleep 0.05; echo saved; done; kill 0' EXIT\n: > ready\nsleep 60\n",
        Job("sums", output="/dev/null", error="errors"),
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


TEXTS = sorted((Path(__file__).parent / "texts").glob("*.sh"))


@pytest.mark.parametrize("text", TEXTS, ids=[text.stem for text in TEXTS])
def test_a_script_prints_and_ends_as_on_slurm(running: Running, text: Path) -> None:
    """`python -m benchmarks.slurm_scripts.own` recorded what Debian's Slurm printed."""
    script = text.read_text()
    lines = read_lines(script)
    request, _ = request_of(lines.given)
    others, refused = other_groups(request, lines.given, lines.others, [])
    assert (lines.refused, refused) == ([], [])
    job = replace(job_of(request, lines, text.name, others), output="out", error="err")
    process = running.start(script, job)
    output, errors = process.communicate()
    assert f"{output}exit code {process.returncode}\n" == text.with_suffix(".expected").read_text(), errors
    assert (running.work / "out").read_text() == output
