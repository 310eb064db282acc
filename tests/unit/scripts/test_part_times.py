"""The tables of a run, and what it says for scripts/parts.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scripts import part_times
from scripts.parts import PARTS, TAKES

TEST = {"kind": "test", "name": "tests/api/test_a.py::test_a", "seconds": 2.0, "cpu_s": 1.0, "all_cpu_s": 2.5}
END = {"kind": "end", "own_cpu_s": 1.0, "children_cpu_s": 0.5}


@pytest.fixture
def printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    runs = {
        "api": {"kind": "run", "seconds": 10.4, "cpu_s": 4.1},
        "local-back-end": {"kind": "run", "seconds": 30.0, "cpu_s": None},
    }
    for name, run in runs.items():
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, (TEST, END, run))))
    (tmp_path / "cli.jsonl").write_text(json.dumps(TEST))  # it is still running, or has crashed
    monkeypatch.setattr(part_times, "RECORDS", tmp_path)
    assert part_times.main() == 0
    return capsys.readouterr().out


def test_parts_tell_what_they_waited_for_and_all(printed: str) -> None:
    assert "| `api` | 1 | 2.0 | 1.5 | 4.1 |" in printed
    assert "| `local-back-end` | 1 | 2.0 | 1.5 |  |" in printed


def test_files_tell_it_too(printed: str) -> None:
    files = printed.partition("## Files")[2].partition("## Fixtures")[0]
    assert "| `tests/api/test_a.py` | 3 | 6.0 | 3.0 | 7.5 |" in files


def test_a_run_of_some_parts_is_not_told_as_a_whole_one(printed: str) -> None:
    left_out = ", ".join(name for name in TAKES if name not in ("api", "cli", "local back-end"))
    assert f"\nThe last run was not a whole one: it left out {left_out}.\n" in printed


def test_seconds_and_cores_are_written_as_the_runner_reads_them(printed: str) -> None:
    code = printed.partition("```python\n")[2].partition("```")[0]
    said: dict[str, object] = {}
    exec(code, said)
    measured = {"api": (10, 0.4), "local back-end": (30, 0.1)}
    assert said["TAKES"] == {**TAKES, **measured}


def test_every_part_says_what_it_takes() -> None:
    assert list(TAKES) == [part.name for part in PARTS]
    assert all((part.seconds, part.cores) == TAKES[part.name] for part in PARTS)
