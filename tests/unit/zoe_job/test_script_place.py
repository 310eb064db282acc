"""Where sbatch looks for a script."""

from __future__ import annotations

from pathlib import Path

import pytest

from zoe_job.submission.batch_script import _script_path


def test_a_script_is_found_here_or_on_path_as_sbatch_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    programs, here = tmp_path / "bin", tmp_path / "here"
    for place in (programs / "run.sh", here / "own.sh", programs / "own.sh"):
        place.parent.mkdir(exist_ok=True)
        place.touch()
    monkeypatch.chdir(here)
    monkeypatch.setenv("PATH", f"/no/such:{programs}")
    assert _script_path("run.sh") == programs / "run.sh"
    assert _script_path("own.sh") == Path("own.sh")
    assert _script_path("./run.sh") == Path("run.sh")
    assert _script_path("none.sh") == Path("none.sh")
