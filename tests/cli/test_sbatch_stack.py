"""Batch scripts of Slurm against the whole of Zoe: real services, real steps."""

from __future__ import annotations

import shutil
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


def test_groups_of_a_heterogeneous_job_run_one_step(stack: Stack, zoe: Zoe, job: Path) -> None:
    job.write_text(
        f"{HEAD}#SBATCH -n 1 -o /dev/null\n#SBATCH hetjob\n#SBATCH -n 1 --mem=80M\n"
        "srun -l --het-group=0,1 sh -c 'echo task $SLURM_PROCID/$SLURM_NTASKS node $SLURM_NODEID'\n"
        "srun echo server : echo client\n"
        'echo "$SLURM_HET_SIZE $SLURM_MEM_PER_NODE_HET_GROUP_1"\n'
    )
    made, output, code = output_of(stack, zoe, str(job))
    assert code == 0, output
    assert sorted(output.splitlines()) == ["0: task 0/2 node 0", "1: task 1/2 node 1", "2 80", "client", "server"]
    services = zoe("show", made, "-o", "json").json()["services"]
    assert sorted(service["component"] for service in services) == ["group-1", "main"]


def test_steps_in_the_background_take_turns_for_the_cores(stack: Stack, zoe: Zoe, job: Path) -> None:
    job.write_text(
        "#!/bin/bash\n#SBATCH --mem=256M -n 2 -o steps.out -e steps.err\n"  # six of srun wait at once
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


def test_steps_run_where_they_ask(stack: Stack, zoe: Zoe, job: Path) -> None:
    """As launchers of Ray, Dask and Spark do it: one server on each node, by its name."""
    job.write_text(
        f"{HEAD}#SBATCH -N 2 -o /dev/null\n"
        "for node in $(scontrol show hostnames); do\n"
        "  srun -N1 -n1 -w $node sh -c 'echo at $SLURMD_NODENAME $SLURM_NODEID' &\n"
        "done; wait\n"
        "srun -N1 -n1 -r 1 sh -c 'echo relative $SLURMD_NODENAME'\n"
        "srun -n1 -x $SLURMD_NODENAME sh -c 'echo without $SLURMD_NODENAME'\n"
        "srun -n1 -w elsewhere true; echo code $?\n"
        'echo "$SLURM_JOB_NODELIST"\n'
    )
    _, output, code = output_of(stack, zoe, str(job))
    assert code == 0, output
    lines = output.splitlines()
    names = lines[-1].split(",")
    assert sorted(line for line in lines if line.startswith("at")) == [f"at {name} 0" for name in sorted(names)]
    assert {f"relative {names[1]}", f"without {names[1]}", "code 1"} <= set(lines)
    assert "srun: error: this job has no node elsewhere" in lines


def test_output_of_steps_goes_to_new_files_and_a_step_ends_in_time(stack: Stack, zoe: Zoe, job: Path) -> None:
    job.write_text(
        f"{HEAD}#SBATCH -o /dev/null -n 2\n"
        "echo old > kept.txt; srun -n1 -o kept.txt true; wc -c < kept.txt; rm kept.txt\n"
        "srun -n1 -o nodir/x.txt echo hallo; echo code $?\n"
        "srun -n2 -o part-%t.txt sh -c 'echo $SLURM_PROCID'; cat part-0.txt part-1.txt; rm part-?.txt\n"
        "srun -n1 -i nothing cat; echo code $?\n"
        "srun -n1 yes | head -2\n"
        "srun -n1 bash -c 'setsid sleep 300 & sleep 300 & echo left'\n"
    )
    _, output, code = output_of(stack, zoe, str(job))
    assert code == 0, output
    lines = [line for line in output.splitlines() if not line.startswith("srun: error: task")]
    assert lines == [
        "0",
        "srun: error: cannot open nodir/x.txt: No such file or directory",
        "code 1",
        "0",
        "1",
        "srun: error: cannot open nothing: No such file or directory",
        "code 1",
        "y",
        "y",
        "left",
    ]


@pytest.mark.parametrize(("to", "reached"), [("", ["step"]), ("B:", ["shell"])])
def test_a_signal_before_the_end_reaches_steps_or_with_b_the_shell(
    stack: Stack, zoe: Zoe, job: Path, to: str, reached: list[str]
) -> None:
    job.write_text(
        f"{HEAD}#SBATCH -o /dev/null --time=1 --signal={to}USR1@59\n"
        "trap 'echo shell' USR1\n"
        "srun sh -c 'trap \"echo step; exit 0\" USR1; sleep 2.5 & wait' & wait; wait\n"
    )
    _, output, code = output_of(stack, zoe, str(job))
    assert code == 0, output
    assert [line for line in output.splitlines() if line in ("step", "shell")] == reached


def test_script_that_cannot_begin_reports_the_reason(stack: Stack, zoe: Zoe, job: Path) -> None:
    done = zoe("sbatch", "--parsable", "--wait", "--mem=64M", "-o", "/dev/null", "-i", "nothing", "--wrap", "cat")
    assert (done.code, zoe("logs", done.out.strip()).out) == (
        1,
        "zoe: cannot read nothing: No such file or directory\n",
    )
    for words, why in (
        (("-o", "nodir/a.out"), "cannot open nodir/a.out"),
        (("-o", "/dev/null", "-e", "nodir/a.err"), "cannot open nodir/a.err"),
        (("-o", "/dev/null", "-D", "nodir"), "cannot enter nodir"),
    ):
        done = zoe("sbatch", "--parsable", "--wait", "--mem=64M", *words, "--wrap", "touch ran")
        assert (done.code, zoe("logs", done.out.strip()).out) == (1, f"zoe: {why}: No such file or directory\n")
    assert not (stack.workspace / "ran").exists()
    job.write_text("#!/no/such/shell\n#SBATCH --mem=64M -o /dev/null\n")
    _, output, code = output_of(stack, zoe, str(job))
    assert code == 127
    assert output == "zoe: cannot run the interpreter of the script, /no/such/shell: No such file or directory\n"


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


def test_waiting_for_an_array_ends_with_the_largest_exit_code(stack: Stack, zoe: Zoe) -> None:
    words = ("--wait", "--mem=64M", "-o", "/dev/null", "--array=0-2", "--wrap", "exit $((3 * SLURM_ARRAY_TASK_ID))")
    assert zoe("sbatch", *words).code == 6


def test_a_job_ends_as_its_script_ends(stack: Stack, zoe: Zoe, job: Path) -> None:
    job.write_text(f"{HEAD}#SBATCH -o /dev/null\nsrun sh -c 'exit 7'\n")
    made, output, code = output_of(stack, zoe, str(job))
    assert code == 7
    assert zoe("show", made, "-o", "json").json()["exit_code"] == 7
    assert "task 0: exit code 7" in output


def test_a_job_that_calls_what_does_not_exist_has_failed(stack: Stack, zoe: Zoe, job: Path) -> None:
    job.write_text(
        f"{HEAD}#SBATCH -N 2 -o /dev/null --time=1 --signal=B:USR1@59\n"
        "verb=suspend; trap 'scontrol $verb $SLURM_JOB_ID; exit 0' USR1\n"
        'program=sinfo; srun -r 1 -N1 -n1 sh -c "$program -h; true"\n'
        "sleep 30 & wait\n"
    )
    made, output, code = output_of(stack, zoe, str(job))
    assert code == 1
    assert zoe("show", made, "-o", "json").json()["state"] == "failed"
    lines = output.splitlines()
    assert "sinfo: error: there is no sinfo in a job of Zoe; the job will end as failed" in lines
    assert lines[-3:] == [
        "zoe: the job has failed: these calls do not exist in a job of Zoe:",
        "zoe:   sinfo -h",
        f"zoe:   scontrol suspend {made}",
    ]


def test_a_requeue_wins_over_the_exit_code_and_its_consumer_waits(stack: Stack, zoe: Zoe, job: Path) -> None:
    """A common way to write checkpoints."""
    job.write_text(
        f"{HEAD}#SBATCH -o /dev/null --requeue\n"
        "trap 'scontrol requeue $SLURM_JOB_ID; exit 0' USR1\n"
        '[ -z "$SLURM_RESTART_COUNT" ] || { echo again $SLURM_RESTART_COUNT; exit 0; }\n'
        "kill -USR1 $$; sleep 30 & wait\n"  # as --signal does, but when the trap is there
    )
    made = zoe("sbatch", "--parsable", str(job)).out.strip()
    consumer = zoe("sbatch", "--parsable", "--mem=64M", "-o/dev/null", f"--dependency=afterok:{made}", "--wrap=true")
    assert zoe("wait", made).code == zoe("wait", consumer.out.strip()).code == 0
    first, second = (zoe("show", text, "-o", "json").json() for text in (made, consumer.out.strip()))
    told = zoe("logs", made).out + zoe("events", made).out
    assert (first["state"], first["attempt"], second["state"]) == ("succeeded", 2, "succeeded"), told
    assert second["marks"]["queued"] >= first["marks"]["ended"]
    assert "again 1" in zoe("logs", made).out


def test_a_job_submits_jobs_and_controls_them(stack: Stack, zoe: Zoe, job: Path) -> None:
    job.write_text(
        f"{HEAD}#SBATCH -o /dev/null -J outer\n"
        'stat -c %a "$ZOE_API_TOKEN_FILE"; export FOO="a b"; mkdir -p below; cd below\n'
        "made=$(sbatch --parsable --mem=64M -J inner -o /dev/null --wrap 'echo \"$FOO in $PWD\"; exit 4')\n"
        "next=$(sbatch --parsable --mem=64M -J next -o /dev/null -d afterok:$SLURM_JOB_ID --wrap 'echo successor')\n"
        "sattach $made.0; echo attach $?\n"
        "squeue -h -o '%j %t %r' -n next,inner; sacct -nPX -j $made -o state,exitcode\n"
        "scontrol update JobId=$next TimeLimit=7; scontrol show job $next | grep -o 'TimeLimit=.* '\n"
        "scancel $made; echo cancel $?; scontrol hold x1m00000000none; echo hold $?\n"
        "echo made $made next $next\n"
    )
    made, output, code = output_of(stack, zoe, str(job))
    assert code == 0, output
    *lines, ids = output.splitlines()
    inner, following = ids.split()[1], ids.split()[3]
    refused = f"Invalid job id specified for job x1m00000000none (x1m00000000none was not submitted by job {made})"
    assert lines == [
        "400",
        f"a b in {stack.workspace}/below",
        "attach 4",
        "next PD Dependency",
        "FAILED|4:0",
        "TimeLimit=00:07:00 ",
        "cancel 0",
        f"scontrol: error: {refused}",
        "hold 1",
    ]
    assert zoe("wait", following).code == 0
    shown = zoe("show", inner, "-o", "json").json()
    assert (shown["user"], shown["submitted_by"]) == ("admin", {"execution_id": made, "attempt": 1})
    assert f"submitted by job {made}" in zoe("show", inner).out
    assert zoe("show", made, "-o", "json").json()["submitted"] == [following, inner]
    (stack.workspace / "below").rmdir()


def test_home_is_the_workspace_also_of_many_at_once(stack: Stack, zoe: Zoe, job: Path) -> None:
    job.write_text(
        "#!/bin/bash\n#SBATCH --mem=64M --array=1-8 -o /dev/null\n"
        "mkdir -p ~/.cache/some && echo $SLURM_ARRAY_TASK_ID > ~/.cache/some/$SLURM_ARRAY_TASK_ID\n"
        '[ "$HOME" = "$SLURM_SUBMIT_DIR" ] && [ "${0##*/}" = slurm_script ] && [ -n "$USER" ]\n'
    )
    assert zoe("sbatch", "--wait", str(job)).code == 0
    kept = stack.workspace / ".cache" / "some"
    assert sorted(int(path.read_text()) for path in kept.iterdir()) == list(range(1, 9))
    shutil.rmtree(kept)
    assert zoe("run", "--wait", "--memory", "16MiB", "--image", "tiny", "--", "sh", "-c", "cd; pwd > kept").code == 0
    assert (stack.workspace / "kept").read_text() == f"{stack.workspace}\n"
    (stack.workspace / "kept").unlink()


def test_tasks_may_have_programs_of_their_own(zoe: Zoe, stack: Stack, job: Path) -> None:
    job.write_text(
        f"{HEAD}#SBATCH -N 1 -n 2 -o /dev/null\n"
        "printf '0 echo first\\n1-2 echo other %%t %%o\\n' > programs; srun -l --multi-prog programs; rm programs\n"
    )
    _, output, code = output_of(stack, zoe, str(job))
    assert (code, sorted(output.splitlines())) == (0, ["0: first", "1: other 1 0"])


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
