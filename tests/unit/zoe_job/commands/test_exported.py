"""Which variables of a script go on to the jobs that it submits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from zoe_job.commands import exported
from zoe_job.commands.exported import changed_variables
from zoe_job.common.channel import listen
from zoe_job.common.job import Job, variables
from zoe_job.common.slurm_options import BadOptionError
from zoe_job.steps.node import Node

BEGUN = {"PATH": "/bin", "LANG": "C", "SLURM_JOB_ID": "x1", "KEPT": "1"}


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The variables of a script, as it began."""
    monkeypatch.setattr(exported, "_initial_variables", lambda _: BEGUN)
    return dict(BEGUN)


def test_changed_variables_are_exported(begun: dict[str, str]) -> None:
    programs = Path(exported.__file__).resolve().parents[2] / "bin"
    new = {"FOO": "a b", "PATH": f"/mine{os.pathsep}{programs}{os.pathsep}/bin", "LANG": "de"}
    assert changed_variables({**begun, **new}) == {"FOO": "a b", "PATH": f"/mine{os.pathsep}/bin", "LANG": "de"}


@pytest.mark.parametrize(
    "name", ["HOME", "PWD", "SLURM_X", "ZOE_API_URL", "ZOE_API_TOKEN_FILE", "BASH_FUNC_x%%", "TMPDIR", "_"]
)
def test_variables_of_the_job_itself_are_not_exported(begun: dict[str, str], name: str) -> None:
    assert changed_variables({**begun, name: "new"}) == {}


def test_possible_secret_is_not_exported_but_named(begun: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    new = {"DB_PASSWORD": "x", "AWS_SECRET_ACCESS_KEY": "y", "STEP": "2"}
    assert changed_variables({**begun, **new}) == {"STEP": "2"}
    told = capsys.readouterr().err
    assert all(name in told for name in ("DB_PASSWORD", "AWS_SECRET_ACCESS_KEY"))
    assert "STEP" not in told


@pytest.mark.parametrize("text", ["x" * 70_000, "\udcff"])
def test_variable_that_cannot_be_exported_is_refused(begun: dict[str, str], text: str) -> None:
    with pytest.raises(BadOptionError, match="--export"):
        changed_variables({**begun, "FOO": text})


def test_the_node_tells_with_which_variables_the_script_began(monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"exported-{os.getpid()}"  # other clones may run this test, too
    monkeypatch.setenv("ZOE_EXECUTION_ID", "x-exported")
    node = Node(0, name)
    node.environment = {"FOO": "1"}
    listeners = listen(name, None, None)
    node.serve(listeners)
    assert changed_variables({"ZOE_SRUN": name, "FOO": "1", "BAR": "2"}) == {"BAR": "2"}
    with pytest.raises(BadOptionError, match="--export=NONE"):
        changed_variables({"FOO": "1"})


@pytest.mark.parametrize(("given", "wanted"), [(None, "/work"), ("sub", "/work/sub"), ("/data", "/data")])
def test_a_job_knows_from_where_it_was_submitted(given: str | None, wanted: str) -> None:
    found = variables(Job("sums", submit_directory=given, image="i"), ["n"], {"ZOE_JOB_WORKSPACE": "/work"})
    assert (found["SLURM_SUBMIT_DIR"], found["ZOE_IMAGE"]) == (wanted, "i")


@pytest.mark.parametrize(("attempt", "wanted"), [("1", None), ("2", "1"), ("11", "10")])
def test_only_a_job_that_runs_again_has_a_number_of_restarts(attempt: str, wanted: str | None) -> None:
    assert variables(Job("sums"), ["n"], {"ZOE_JOB_ATTEMPT": attempt}).get("SLURM_RESTART_COUNT") == wanted
