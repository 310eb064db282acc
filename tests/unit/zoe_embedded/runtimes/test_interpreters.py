"""Which Python a runtime is made with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from zoe_embedded.runtimes import interpreters
from zoe_embedded.runtimes.interpreters import ANY, SPARK, PythonMissingError, find_python


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program that says that it is Python 3.11; every user may run it."""
    path = tmp_path / "python3.11"
    path.write_text("#!/bin/sh\necho 3 11\n")
    path.chmod(0o755)
    return path


@pytest.fixture(autouse=True)
def nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with no other Python, whose directories every user may enter."""
    monkeypatch.setattr(interpreters, "_PLACES", ())
    monkeypatch.setattr(interpreters, "_open_to_all", lambda _: True)
    monkeypatch.setattr(sys, "version_info", (3, 13, 5))


def test_spark_gets_its_version_whichever_zoe_runs_on(program: Path) -> None:
    assert find_python(SPARK, "Spark", {"PATH": str(program.parent)}) == program


def test_named_python_is_preferred_if_it_fits(program: Path) -> None:
    other = program.with_name("other")
    other.write_text("#!/bin/sh\necho 3 13\n")
    other.chmod(0o755)
    path = str(program.parent)
    assert find_python(ANY, "MPI", {"PATH": path, "ZOE_RUNTIME_PYTHON": str(other)}) == other
    assert find_python(SPARK, "Spark", {"PATH": path, "ZOE_RUNTIME_PYTHON": str(other)}) == program


def test_runtime_for_any_python_uses_the_present_one() -> None:
    assert find_python(ANY, "MPI", {"PATH": ""}) == Path(sys.executable).resolve()


def test_a_machine_with_python_313_only_is_told_what_to_install() -> None:
    with pytest.raises(PythonMissingError, match=r"Spark needs python3\.11, which is not installed"):
        find_python(SPARK, "Spark", {"PATH": ""})


def test_a_program_for_another_version_is_not_used(program: Path) -> None:
    """pyenv puts a program of that name on the PATH that ends with an error."""
    program.write_text("#!/bin/sh\nexit 127\n")
    with pytest.raises(PythonMissingError):
        find_python(SPARK, "Spark", {"PATH": str(program.parent)})


@pytest.mark.parametrize("text", ["#!/bin/sh\necho no\n", "#!/bin/sh\nexit 3\n", "no program"])
def test_named_program_that_is_no_python_is_an_error(program: Path, text: str) -> None:
    program.write_text(text)
    with pytest.raises(PythonMissingError, match="is not a Python"):
        find_python(SPARK, "Spark", {"PATH": "", "ZOE_RUNTIME_PYTHON": str(program)})


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs components as others")
def test_root_is_told_that_components_cannot_use_a_private_one(program: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreters, "_open_to_all", lambda _: False)
    with pytest.raises(PythonMissingError, match="lies in a private directory"):
        find_python(SPARK, "Spark", {"PATH": str(program.parent)})


def test_the_interpreter_of_this_machine_has_the_version(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    try:
        python = find_python(SPARK, "Spark")
    except PythonMissingError:
        pytest.skip("needs a python3.11 that all users may execute")
    shown = [python, "-c", "import sys; print(sys.version_info[:2])"]
    assert subprocess.run(shown, capture_output=True, text=True, check=True).stdout == "(3, 11)\n"
