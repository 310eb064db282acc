"""How options of sbatch and srun are read."""

from __future__ import annotations

import pytest

from zoe_job.common.slurm_options import SBATCH, SRUN, BadOptionError, read


def said(*words: str) -> list[tuple[str, str | None]]:
    return [(given.name, given.value) for given in read(words, SBATCH)[0]]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["-n4"], [("ntasks", "4")]),
        (["-n", "4", "--time=1:00"], [("ntasks", "4"), ("time", "1:00")]),
        (["--job-name", "a b"], [("job-name", "a b")]),
        (["-HQ", "-N=2"], [("hold", None), ("quiet", None), ("nodes", "2")]),
        (["--exclusive", "--exclusive=user"], [("exclusive", None), ("exclusive", "user")]),
        (["--tasks-per-node=2", "--workdir=/x"], [("ntasks-per-node", "2"), ("chdir", "/x")]),
        (["--cpus-per-t", "3"], [("cpus-per-task", "3")]),
        (["--output="], [("output", "")]),
    ],
)
def test_options_are_read_as_getopt_reads_them(words: list[str], expected: list[tuple[str, str | None]]) -> None:
    assert said(*words) == expected


def test_words_after_the_program_belong_to_it() -> None:
    given, rest, unknown = read(["-l", "-n", "2", "prog", "-n", "9"], SRUN)
    assert ([entry.name for entry in given], rest, unknown) == (["label", "ntasks"], ["prog", "-n", "9"], [])


@pytest.mark.parametrize("word", ["--nonsense", "--gpu", "-Z", "--"])
def test_an_option_that_does_not_exist_is_named(word: str) -> None:
    assert read([word], SBATCH)[2] == ([] if word == "--" else [word])


@pytest.mark.parametrize("words", [["--ntasks"], ["-n"], ["--hold=yes"]])
def test_an_option_without_its_value_is_refused(words: list[str]) -> None:
    with pytest.raises(BadOptionError):
        read(words, SBATCH)
