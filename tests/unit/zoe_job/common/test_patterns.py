"""Names of output files."""

from __future__ import annotations

import pytest

from zoe_job.common.patterns import fill, per_task

JOB = {"SLURM_JOB_ID": "a7_3", "SLURM_ARRAY_JOB_ID": "a7", "SLURM_ARRAY_TASK_ID": "3", "SLURM_JOB_NAME": "sums"}


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("slurm-%A_%a.out", "slurm-a7_3.out"),
        ("%x-%j.log", "sums-a7_3.log"),
        ("%04a.out", "0003.out"),
        ("100%%", "100%"),
        ("%q-%", "%q-%"),
        ("\\%j", "%j"),
        ("out.%t", "out.2"),
    ],
)
def test_fields_are_filled(pattern: str, expected: str) -> None:
    assert fill(pattern, JOB, task=2) == expected


def test_outside_of_arrays_an_index_is_that_of_slurm() -> None:
    assert fill("%A_%a", {"SLURM_JOB_ID": "x1"}) == "x1_4294967294"


def test_a_file_for_each_task() -> None:
    assert [per_task(entry) for entry in ("a%t", "a%3t", "a%%t", "a%j")] == [True, True, False, False]
