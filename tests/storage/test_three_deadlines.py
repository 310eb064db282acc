"""`make demo-deadline` as a whole: three deadlines of a Spark job end in three choices, and all promises are kept."""

from __future__ import annotations

from pathlib import Path

from tests.demo.test_demo import home
from tests.demo.test_demo_deadline import run_demo
from tests.support.long import of_storage
from tests.support.needs import need_program

__all__ = ["home"]

_WITHIN_S = 3000


@of_storage
def test_three_deadlines_end_in_three_choices(home: Path) -> None:
    need_program("memcached")
    told = run_demo(home, within_s=_WITHIN_S)
    assert "All 4 promises were kept." in told
    assert "Deadlines: 3, choices: 3." in told
