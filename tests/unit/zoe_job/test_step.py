"""What the options of one srun say, beside the job's."""

from __future__ import annotations

import pytest

from zoe_job.slurm_options import BadOptionError
from zoe_job.step import settings_of

JOB = {"SLURM_NNODES": "2", "SLURM_NTASKS": "4", "SLURM_NTASKS_PER_NODE": "2", "SLURM_CPUS_PER_TASK": "3"}


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("prog", (4, 3, None, None)),
        ("-n1 prog", (1, 3, None, None)),
        ("-N1 prog", (2, 3, 1, 2)),
        ("-N2 -n2 -c1 prog", (2, 1, 2, 2)),
        ("--ntasks-per-node=1 prog", (2, 3, None, 1)),
    ],
)
def test_a_step_takes_what_it_does_not_say_from_the_job(words: str, expected: tuple[object, ...]) -> None:
    found = settings_of(words.split(), JOB)
    assert (found.ntasks, found.cores, found.nodes, found.per_node) == expected


def test_a_job_that_says_nothing_has_one_task() -> None:
    assert settings_of(["prog"], {}).ntasks == 1


@pytest.mark.parametrize("words", ["-n0 prog", "-n x prog", "", "-l", "--nonsense prog", "--multi-prog file"])
def test_bad_words_are_refused(words: str) -> None:
    with pytest.raises(BadOptionError):
        settings_of(words.split(), JOB)


def test_what_is_exported() -> None:
    environment = {"PATH": "/bin", "SECRET": "1", "SLURM_JOB_ID": "x", "A": "2"}
    assert settings_of(["--export=NONE", "p"], environment).variables == {"PATH": "/bin", "SLURM_JOB_ID": "x"}
    assert settings_of(["--export=A,B=3", "p"], environment).variables["B"] == "3"
    assert settings_of(["--export=ALL,B=3", "p"], environment).variables == {**environment, "B": "3"}
