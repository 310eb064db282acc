"""What tasks print, and how a step ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zoe_job.steps.collecting import Collector
from zoe_job.steps.shares import Place, Share
from zoe_job.steps.step import Settings
from zoe_job.steps.tasks import RANK


def collector(ntasks: int, **settings: object) -> Collector:
    made = Settings(ntasks, 1, None, None, ["p"], **settings)  # type: ignore[arg-type]
    return Collector(Share(made, {"SLURM_JOB_ID": "x1"}, (Place(0, 0, range(ntasks)),), ntasks))


def end(one: Collector, rank: int, code: int) -> bool:
    return one.take(b"x", json.dumps({"rank": rank, "code": code}).encode())


def test_lines_of_tasks_do_not_mix(tmp_path: Path) -> None:
    one = collector(11, label=True, output="all-%j", directory=str(tmp_path))
    for rank, piece in ((0, b"a"), (10, b"b\nc"), (0, b"a\n"), (10, b"")):
        one.take(b"o", RANK.pack(rank) + piece)
    assert [end(one, rank, 0) for rank in range(11)] == [False] * 11
    assert one.finish() == 0
    assert (tmp_path / "all-x1").read_bytes() == b"10: b\n 0: aa\n10: c"


def test_a_step_ends_with_the_largest_exit_code() -> None:
    one = collector(3)
    assert [end(one, rank, code) for rank, code in enumerate((0, 9, 3))] == [False, True, True]
    assert one.finish() == 9


def test_tasks_that_are_lost_with_their_node_are_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    one = collector(2)
    end(one, 0, 0)
    assert one.finish() == 1
    assert "1 tasks were lost" in capsys.readouterr().err


def test_missing_programs_are_named_once_in_the_order_of_their_tasks() -> None:
    one = collector(3)
    for rank, missing in enumerate((["b"], ["a", "b"], [])):
        one.take(b"x", json.dumps({"rank": rank, "code": 127, "missing": missing}).encode())
    assert list(one.missing) == ["b", "a"]
