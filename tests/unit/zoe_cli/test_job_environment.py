"""Environment variables that `zoe sbatch` exports with a script."""

from __future__ import annotations

import pytest

from zoe_cli.job_environment import VALUE_LENGTH_MAX, VARIABLES_MAX, variables_read_by
from zoe_job.common.slurm_options import SBATCH, read
from zoe_job.submission.request import request_of


@pytest.mark.parametrize(
    ("script", "taken"),
    [
        ("echo $multiplier", ["multiplier"]),
        ('echo ${multiplier:-5} ${#other} "$multiplier"', ["multiplier", "other"]),
        ("multiplier=3\necho $multiplier", []),
        ("export multiplier=3; echo $multiplier", []),
        ("for multiplier in 1 2; do echo $multiplier; done; read -r other; echo $other", []),
        ("# $multiplier\necho '\\$other' \\$other", []),
        ("echo $HOME $PATH $SLURM_JOB_ID $LC_ALL $CONDA_PREFIX $unknown", []),
    ],
)
def test_variables_that_a_script_only_reads_are_exported(script: str, taken: list[str]) -> None:
    names = ("multiplier", "other", "HOME", "PATH", "SLURM_JOB_ID", "LC_ALL", "CONDA_PREFIX")
    assert list(variables_read_by(f"#!/bin/sh\n{script}\n", dict.fromkeys(names, "5")).values) == taken


def test_possible_secret_or_long_value_is_left_out_and_named() -> None:
    found = variables_read_by(
        "echo $MY_TOKEN $db_password $long", {"MY_TOKEN": "a", "db_password": "b", "long": "x" * 5000}
    )
    assert VALUE_LENGTH_MAX < 5000
    assert (found.values, found.left) == ({}, ("MY_TOKEN", "db_password", "long"))
    many = {f"v{number}": "1" for number in range(VARIABLES_MAX + 1)}
    assert variables_read_by(" ".join(f"${name}" for name in many), many).left == (f"v{VARIABLES_MAX}",)


@pytest.mark.parametrize(
    ("words", "every"), [("", True), ("--export=ALL,A=1", True), ("--export=NONE", False), ("--export=A=1", False)]
)
def test_an_export_without_all_takes_nothing_else(words: str, every: bool) -> None:
    given, _, _ = read(words.split(), SBATCH)
    request, findings = request_of(given)
    assert (request.export_all, findings) == (every, [])
