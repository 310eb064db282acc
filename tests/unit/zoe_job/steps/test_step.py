"""What the options of one srun say, beside the job's."""

from __future__ import annotations

from pathlib import Path

import pytest

from zoe_job.common.slurm_options import BadOptionError, MissingOptionError
from zoe_job.steps.heterogeneous import Part
from zoe_job.steps.shares import shares_of
from zoe_job.steps.step import settings_of

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


@pytest.mark.parametrize(
    ("of_job", "words", "cores"),
    [({}, "true", None), ({}, "-c 1 true", "1"), ({"SLURM_CPUS_PER_TASK": "3"}, "true", "3"), (JOB, "-c 2 true", "2")],
)
def test_cores_of_a_task_stand_in_its_environment_if_they_were_given(
    of_job: dict[str, str], words: str, cores: str | None
) -> None:
    """Slurm sets it in a step only then."""
    [share] = shares_of([Part(settings_of(words.split(), of_job), range(1))], 0, [[1]], of_job)
    assert (share.environment.get("SLURM_CPUS_PER_TASK"), share.environment["SLURM_NTASKS"]) == (cores, "1")


def test_a_job_that_says_nothing_has_one_task() -> None:
    assert settings_of(["prog"], {}).ntasks == 1


@pytest.mark.parametrize("words", ["-n0 prog", "-n x prog", "", "-l", "--nonsense prog", "--multi-prog nofile"])
def test_bad_words_are_refused(words: str) -> None:
    with pytest.raises(BadOptionError):
        settings_of(words.split(), JOB)


@pytest.mark.parametrize(
    "words",
    [
        "--mpi=pmix a",
        "--pty bash",
        "--task-prolog=x a",
        "--jobid=7 a",
        "--bcast=x a",
        "-W 2 a",
        "--test-only a",
    ],
)
def test_option_that_changes_the_meaning_of_a_step_is_refused(words: str) -> None:
    with pytest.raises(MissingOptionError):
        settings_of(words.split(), {**JOB, "SLURM_JOB_ID": "x1"})


def test_an_empty_job_id_is_a_mistake_of_the_script_as_in_slurm() -> None:
    with pytest.raises(BadOptionError, match="needs the id") as found:
        settings_of(["--jobid=", "a"], {**JOB, "SLURM_JOB_ID": "x1"})
    assert not isinstance(found.value, MissingOptionError)


def test_a_step_without_pmi_may_say_so() -> None:
    assert settings_of(["--mpi=none", "a"], JOB).command == ["a"]


def test_the_own_job_may_be_named() -> None:
    assert settings_of(["--jobid=x1", "a"], {**JOB, "SLURM_JOB_ID": "x1"}).command == ["a"]


def test_each_task_may_have_a_program_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "programs"
    file.write_text("# ranks program\n0,2 sh -c 'echo %t' \\\n  %o\n1 hostname\n3-9 sleep 1\n")
    found = settings_of(["-n4", "--multi-prog", str(file)], JOB).programs
    assert found == {"0": ["sh", "-c", "echo 0", "0"], "2": ["sh", "-c", "echo 2", "1"], "1": ["hostname"],
                     "3": ["sleep", "1"]}  # fmt: skip
    file.write_text("0 echo master\n* echo worker %t %o\n")
    mixed = settings_of(["-n3", "--multi-prog", str(file)], JOB).programs
    assert list(mixed.values()) == [["echo", "master"], ["echo", "worker", "1", "0"], ["echo", "worker", "2", "1"]]
    file.write_text("* true\n")
    assert settings_of(["-n2", "--multi-prog", str(file)], JOB).programs == {"0": ["true"], "1": ["true"]}


@pytest.mark.parametrize("text", ["0 true\n", "0-1 true\n1 true\n", "0-1\n", "x true\n", "0-1 'true\n"])
def test_a_file_of_programs_that_is_wrong_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "programs").write_text(text)
    with pytest.raises(BadOptionError):
        settings_of(["-n2", "--multi-prog", str(tmp_path / "programs")], JOB)


def test_export_option_selects_the_variables() -> None:
    environment = {"PATH": "/bin", "SECRET": "1", "SLURM_JOB_ID": "x", "A": "2"}
    assert settings_of(["--export=NONE", "p"], environment).variables == {"PATH": "/bin", "SLURM_JOB_ID": "x"}
    assert settings_of(["--export=A,B=3", "p"], environment).variables["B"] == "3"
    assert settings_of(["--export=ALL,B=3", "p"], environment).variables == {**environment, "B": "3"}


def test_nodes_are_chosen_and_excluded_by_their_names() -> None:
    nodes = {**JOB, "SLURM_JOB_NODELIST": "alpha,beta,gamma"}
    assert settings_of(["--exclude=gamma,alpha", "prog"], nodes).excluded == [2, 0]
    assert settings_of(["--relative=1", "prog"], nodes).excluded == [0]
    with pytest.raises(BadOptionError, match="no node delta"):
        settings_of(["--exclude=delta", "prog"], nodes)
