"""Batch scripts of Slurm against the whole of Zoe: real services, real steps."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Zoe
from tests.support.ending import cancel_all
from tests.support.waiting import until
from zoe_client import Client
from zoe_embedded.stack import Stack

HEAD = "#!/bin/bash\n#SBATCH --mem=64M\n"


@pytest.fixture(autouse=True)
def nothing_left(stack: Stack) -> Iterator[None]:
    yield
    with Client(stack.url, stack.token) as client:
        cancel_all(client)


@pytest.fixture
def job(tmp_path: Path) -> Path:
    return tmp_path / "job.sh"


def output_of(stack: Stack, zoe: Zoe, *words: str) -> tuple[str, str, int]:
    """Run a job to its end; return its id, its output, and how sbatch ended."""
    done = zoe("sbatch", "--parsable", "--wait", *words)
    made = done.out.strip()
    assert made, done.err
    return made, zoe("logs", made).out, done.code


def test_tasks_run_on_all_nodes_with_their_ranks(stack: Stack, zoe: Zoe, job: Path) -> None:
    job.write_text(
        f"{HEAD}#SBATCH -N 2 -J ranks\n"
        'echo "$SLURM_JOB_NAME $1 $SLURM_JOB_NUM_NODES $SLURM_SUBMIT_DIR $PWD"\n'
        "srun -l sh -c 'echo task $SLURM_PROCID/$SLURM_NTASKS node $SLURM_NODEID; cat' <<< words\n"
        "srun -n2 sh -c 'exit $((3 * SLURM_PROCID))'; echo code $?\n"
        "srun -n3 true || echo refused\n"
        "scontrol show hostnames | wc -l\n"
    )
    made, output, code = output_of(stack, zoe, str(job), "a{b c")
    assert code == 0, output
    assert f"ranks a{{b c 2 {stack.workspace} {stack.workspace}\n" in output
    lines = output.splitlines()
    assert sorted(line for line in lines if line[:2] in ("0:", "1:")) == [
        "0: task 0/2 node 0",
        "0: words",
        "1: task 1/2 node 1",
        "1: words",
    ]
    assert {"code 3", "refused", "2"} <= set(lines)
    file = stack.workspace / f"slurm-{made}.out"
    assert file.read_text().splitlines() == lines
    file.unlink()


def test_steps_in_the_background_take_turns_for_the_cores(stack: Stack, zoe: Zoe, job: Path) -> None:
    job.write_text(
        f"{HEAD}#SBATCH -n 2 -o steps.out -e steps.err\n"
        "for i in 1 2 3 4 5 6; do\n"
        "  srun -n1 sh -c 'echo + ; sleep 0.3; echo -' &\n"
        "done\nwait\necho wrong >&2\n"
    )
    _, _, code = output_of(stack, zoe, str(job))
    assert code == 0
    running, most = 0, 0
    for line in (stack.workspace / "steps.out").read_text().splitlines():
        running += 1 if line == "+" else -1
        most = max(most, running)
    assert (running, most) == (0, 2)
    assert (stack.workspace / "steps.err").read_text() == "wrong\n"
    for name in ("steps.out", "steps.err"):
        (stack.workspace / name).unlink()


def test_an_array_has_its_variables_and_files(stack: Stack, zoe: Zoe, job: Path) -> None:
    job.write_text(
        f"{HEAD}#SBATCH --array=1-3:2%1 --output=part-%a.out\n"
        'echo "$SLURM_ARRAY_TASK_ID of $SLURM_ARRAY_TASK_COUNT, $SLURM_ARRAY_TASK_MIN-$SLURM_ARRAY_TASK_MAX"\n'
        '[ "$SLURM_JOB_ID" = "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID" ]\n'
    )
    done = zoe("sbatch", "--wait", str(job))
    assert done.code == 0, done.err
    for index in (1, 3):
        file = stack.workspace / f"part-{index}.out"
        assert file.read_text() == f"{index} of 2, 1-3\n"
        file.unlink()


def test_a_job_ends_as_its_script_ends(stack: Stack, zoe: Zoe, job: Path) -> None:
    job.write_text(f"{HEAD}#SBATCH -o /dev/null\nsrun sh -c 'exit 7'\n")
    made, output, code = output_of(stack, zoe, str(job))
    assert code == 7
    assert zoe("show", made, "-o", "json").json()["exit_code"] == 7
    assert "task 0: exit code 7" in output


def test_a_cancelled_job_leaves_no_task(stack: Stack, zoe: Zoe, job: Path) -> None:
    mark = stack.workspace / "alive"
    job.write_text(f"{HEAD}#SBATCH -N 2 -o /dev/null\nsrun sh -c 'while :; do touch alive; sleep 0.1; done'\n")
    made = zoe("sbatch", "--parsable", str(job)).out.strip()
    until(mark.exists)
    assert zoe("cancel", made).code == 0
    assert zoe("wait", made).code == 1
    mark.unlink(missing_ok=True)
    assert zoe("sbatch", "--wait", "--mem=64M", "-o", "/dev/null", "--wrap", "sleep 0.5; test ! -e alive").code == 0


def test_jobs_run_after_others(stack: Stack, zoe: Zoe) -> None:
    first = zoe("sbatch", "--parsable", "--mem=64M", "-o", "/dev/null", "-H", "--wrap", "true").out.strip()
    second = zoe("sbatch", "--parsable", "--mem=64M", "-o", "/dev/null", f"-dafterok:{first}", "--wrap", "true")
    assert zoe("release", first).code == 0
    assert zoe("wait", second.out.strip()).code == 0
