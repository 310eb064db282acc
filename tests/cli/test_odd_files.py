"""What validate and dispatch say of files and names that are something else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Zoe

pytestmark = pytest.mark.usefixtures("server")


def words(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "job.json is empty"),
        ("#!/bin/sh\n#SBATCH -n 2\ntrue\n", "is a script: `zoe sbatch"),
        ('{"version": 4, "name": "x", "components": [{"resources": {"memory": "64 XB"}}]}', "'64 XB' is not a size"),
    ],
)
def test_validate_says_what_a_file_is(zoe: Zoe, tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / "job.json").write_text(content)
    done = zoe("validate", str(tmp_path / "job.json"))
    assert done.code == 2
    assert told.replace(" ", "") in words(done.err).replace(" ", "")


def test_dispatch_of_what_is_not_stored_says_the_way(zoe: Zoe, tmp_path: Path) -> None:
    done = zoe("dispatch", "none")
    assert (done.code, "zoe app ls" in done.err) == (3, True)
    file = zoe("dispatch", str(tmp_path / "job.json"))
    assert (file.code, "zoe app put" in words(file.err)) == (2, True)
