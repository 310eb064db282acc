"""Batch scripts of Slurm over several engines: steps cross nodes, and clients without the secret are refused."""

from __future__ import annotations

from typing import Any

from tests.support.images import provide
from tests.support.swarm_installation import Installation
from tests.swarm.cluster import Cluster
from zoe_job.submission.draft import job_draft, job_of
from zoe_job.submission.request import request_of
from zoe_job.submission.script_lines import read_lines
from zoe_lib.domain.executions.execution import Execution


def job(script: str, image: str | None = None) -> dict[str, Any]:
    """The description that `zoe sbatch` makes of a script."""
    lines = read_lines(script)
    request, wrong = request_of(lines.given)
    assert not wrong
    assert not lines.refused
    return job_draft(script, [], job_of(request, lines, "job"), request, image)


def run(installation: Installation, script: str, image: str | None = None) -> tuple[Execution, list[str]]:
    """The ended execution, and the lines of its output."""
    ended = installation.succeed(job(script, image), 120)
    return ended, installation.output(ended, "main").splitlines()


def test_tasks_run_on_both_nodes_and_their_output_comes_back(swarm: Cluster, installation: Installation) -> None:
    provide(swarm, "zoe/python")
    script = (
        "#!/bin/bash\n#SBATCH -N 2 --ntasks-per-node=2 --mem=256M -o out.txt\n"
        "srun -l sh -c 'echo task $SLURM_PROCID on $SLURM_NODEID at $SLURMD_NODENAME; cat' <<< words\n"
        "for node in $(scontrol show hostnames); do\n"
        "  srun -N1 -n1 -w $node sh -c 'echo own $SLURMD_NODENAME $(hostname)'\n"
        "done\n"
        "srun sh -c 'exit $SLURM_PROCID'; echo code $?\n"
    )
    ended, lines = run(installation, script)
    nodes = {service.node for service in ended.services}
    assert len(nodes) == 2
    tasks = [line for line in lines if ": task " in line and " at " in line]
    assert sorted(line.split(" at ")[0] for line in tasks) == [
        "0: task 0 on 0",
        "1: task 1 on 0",
        "2: task 2 on 1",
        "3: task 3 on 1",
    ]
    assert sum(line.endswith(": words") for line in lines) == 4
    own = [line.split()[1:] for line in lines if line.startswith("own")]
    assert len({name for name, _ in own}) == len({host for _, host in own}) == 2
    assert "code 3" in lines
    assert (installation.workspace / "out.txt").read_text().splitlines() == lines


def test_mpirun_starts_its_processes_by_srun(swarm: Cluster, installation: Installation) -> None:
    provide(swarm, "zoe/mpi")
    script = "#!/bin/bash\n#SBATCH -N 2 --ntasks-per-node=2 --mem=256M -o /dev/null\nmpirun mpi-ring\n"
    _, lines = run(installation, script, "zoe/mpi")
    assert sum(line.startswith("rank ") for line in lines) == 4, lines
    assert "ring = 6 with 4 processes" in "\n".join(lines)
