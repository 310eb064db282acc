"""Programs of MPI in batch scripts, as processes of one machine: `mpirun` starts its processes by `srun`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.stack import running_stack, zoe
from zoe_embedded.stack import Stack

NODES = [{"name": name, "cores": 4, "memory_bytes": 4 << 30} for name in ("a", "b")]
HEAD = "#!/bin/bash\n#SBATCH -N 2 --ntasks-per-node=2 --mem=256M -t 2 -o /dev/null\n"
SUM = "from mpi4py import MPI as M; c = M.COMM_WORLD; print('rank', c.rank, 'of', c.size, 'sum', c.allreduce(c.rank))"


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running_stack(forked=True, mpi=True, local_nodes=NODES) as made:
        yield made


def run(stack: Stack, script: str, tmp_path: Path) -> tuple[int, list[str]]:
    """Run a script to its end; return how `zoe sbatch` ended, and the lines of its output."""
    file = tmp_path / "job.sh"
    file.write_text(HEAD + script)
    done = zoe(stack, "sbatch", "--parsable", "--wait", "--image", "zoe/mpi", str(file), timeout_s=120)
    assert done.stdout.strip(), done.stderr
    return done.returncode, zoe(stack, "logs", done.stdout.strip()).stdout.splitlines()


def test_mpirun_starts_one_world_over_the_nodes_of_a_job(stack: Stack, tmp_path: Path) -> None:
    code, lines = run(
        stack,
        f"""mpirun python3 -c "{SUM}"\nmpirun sh -c 'echo node $SLURM_NODEID'\nmpirun -n 1 echo one\n""",
        tmp_path,
    )
    assert code == 0, lines
    assert sorted(line for line in lines if line.startswith("rank")) == [f"rank {n} of 4 sum 6" for n in range(4)]
    assert sorted(line for line in lines if line.startswith("node")) == ["node 0", "node 0", "node 1", "node 1"]
    assert lines.count("one") == 1


def test_the_exit_code_of_mpirun_is_that_of_the_job(stack: Stack, tmp_path: Path) -> None:
    code, lines = run(stack, "mpirun sh -c 'exit 3'\n", tmp_path)
    assert code != 0, lines
    code, lines = run(stack, "mpirun sh -c 'exit 3' || echo code $?\n", tmp_path)
    assert (code, lines[-1]) == (0, "code 3")
