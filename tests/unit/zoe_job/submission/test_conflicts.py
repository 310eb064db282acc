"""Values that would be clamped, rounded or dropped, and options that contradict each other, are named."""

from __future__ import annotations

import pytest

from zoe_job.common.slurm_options import SBATCH, read
from zoe_job.submission.conflicts import gpus_of, shape_of, whole_request


def told(words: str) -> list[tuple[str, str]]:
    """Return the kind and the words of each finding: `-` is refused, `0` has no effect, `~` differs from Slurm."""
    given, rest, unknown = read(words.split(), SBATCH)
    assert not rest
    assert not unknown
    _, found = whole_request(given)
    return [
        ("~" if finding.partly else "0" if finding.harmless else "-", f"{finding.given.name}: {finding.why}")
        for finding in found
    ]


@pytest.mark.parametrize(
    ("words", "kind", "why"),
    [
        (
            "--deadline=now+1hour",
            "~",
            "deadline: a job that cannot end by then continues: lists show that it missed its deadline; --time ends it",
        ),
        ("--nice=1001", "-", "nice: priorities are from -1000 to 1000; --nice=1000 is the end of them"),
        ("--nice=-5000", "-", "nice: priorities are from -1000 to 1000; --nice=-1000 is the end of them"),
        ("--nice=--5", "-", "nice: not a number"),
        ("--priority=--5", "-", "priority: not a number"),
        ("--priority=1001", "-", "priority: priorities are from -1000 to 1000"),
        ("--priority=3 --nice=4", "0", "nice: --priority says the priority"),
        ("-n 2-4", "-", "ntasks: not a number above 0"),
        ("-N 2-4", "~", "nodes: the job gets 2, not up to 4"),
        ("-N 3 -n 2", "~", "nodes: the job gets 2, one for each task"),
        ("-N 2 -n 3", "~", "ntasks: each of the 2 nodes gets the cores of 2 tasks"),
        ("--mem=10M", "~", "mem: the job gets 64M, which the program around the script needs"),
        ("--mem=1G --mem-per-cpu=1G", "-", "mem-per-cpu: give only one of --mem, --mem-per-cpu"),
        ("--mem-per-gpu=1G", "-", "mem-per-gpu: the job asks for no GPU; use --mem"),
        ("--gpus=1000000", "-", "gpus: not a number of GPUs; use 2 or a100:2"),
        ("--gpus=-2", "-", "gpus: not a number of GPUs; use 2 or a100:2"),
        ("--gpus=two", "-", "gpus: not a number of GPUs; use 2 or a100:2"),
        ("--gpus=a100:2", "~", "gpus: the job gets any GPU: models such as a100 cannot be requested"),
        ("--gres=gpu:a100", "~", "gres: the job gets any GPU: models such as a100 cannot be requested"),
        ("-N 2 --gpus=3", "~", "gpus: each of the 2 nodes gets 2"),
        ("--gpus=4 --gpus-per-node=2", "-",
         "gpus-per-node: the GPUs of each node would be 2 by --gpus-per-node and 4 by --gpus; give one of them"),
        ("--begin=25:61", "-", "begin: use now+1hour, 16:00 or 2026-11-01T08:30"),
        ("--mail-type=END,ARRAY_TASKS", "~", "mail-type: an array notifies once, when all its indices have ended"),
        ("--mail-type=INVALID_DEPEND", "~", "mail-type: every failure notifies"),
        ("--signal=R:USR1@60 -t 5", "~", "signal: R needs reservations, which do not exist"),
        ("--signal=USR1@99999 -t 5", "-", "signal: not a signal with at most 65535 seconds; use USR1@60"),
        ("--signal=USR1@60", "0", "signal: without --time the job has no end before which to send it"),
        ("--kill-on-invalid-dep=maybe", "-", "kill-on-invalid-dep: use yes or no"),
        ("--job-name=a/b", "~", "job-name: lists show 'a-b'; SLURM_JOB_NAME and %x are as given"),
        ("--comment=" + "x" * 4097, "-", "comment: it has 4097 characters; the maximum is 4096"),
    ],
)  # fmt: skip
def test_altered_option_is_named(words: str, kind: str, why: str) -> None:
    assert told(words) == [(kind, why)]


@pytest.mark.parametrize(
    "words",
    ["--nice", "--nice=-1000", "-N 2 -n 4", "--gpus=4 --gpus-per-node=4 -N 1", "--gres=gpu:2(S:0)", "--begin=16:00:30",
     "-N 2 --gpus-per-node=4 --gpus-per-task=1 --ntasks-per-node=4", "--kill-on-invalid-dep=No", "--job-name=a.b_1"],
)  # fmt: skip
def test_honoured_option_is_not_named(words: str) -> None:
    assert told(words) == []


def test_shape_and_gpus_of_a_group() -> None:
    request, _ = whole_request(read(["-n", "5", "--ntasks-per-node=2", "--gpus-per-task=1", "--nice=7"], SBATCH)[0])
    assert shape_of(request) == (3, 5)
    assert gpus_of(request) == {"gpus-per-task": 2}
    assert request.wanted_priority == -7
