"""Pages of executions and arrays together: each row once, newest first, whatever the sizes of pages."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoe_cli.commands.watching.list_pages import ListPage, list_page, sorted_page

QUERY: dict[str, Any] = {"state": [], "user": None, "name": None, "submitted_from_s": None, "all_tenants": None}


class Lists:
    """The two lists of a server; a cursor is the number of rows before."""

    def __init__(self, executions: list[float], arrays: list[float]) -> None:
        self._lists = {
            name: [{"submitted_at_s": at_s, "name": name, "state": "running"} for at_s in sorted(times, reverse=True)]
            for name, times in (("executions", executions), ("arrays", arrays))
        }

    def _page(self, name: str, limit: int, cursor: str | None) -> dict[str, Any]:
        begin = int(cursor or 0)
        rows = self._lists[name]
        return {
            name: rows[begin : begin + limit],
            "next_cursor": str(begin + limit) if begin + limit < len(rows) else None,
        }

    def executions(self, *, limit: int, cursor: str | None, **_: object) -> dict[str, Any]:
        return self._page("executions", limit, cursor)

    def arrays(self, *, limit: int, cursor: str | None, **_: object) -> dict[str, Any]:
        return self._page("arrays", limit, cursor)


TIMES = st.lists(st.integers(0, 10_000), unique=True, max_size=30)


@given(times=TIMES, split=st.integers(0, 30), limit=st.integers(1, 12))
def test_every_row_is_listed_once_and_newest_first(times: list[int], split: int, limit: int) -> None:
    client: Any = Lists([float(at_s) for at_s in times[:split]], [float(at_s) for at_s in times[split:]])
    seen: list[float] = []
    cursor = None
    while True:
        page = list_page(client, QUERY, limit, cursor, arrays=True)
        rows = [row["submitted_at_s"] for row in [*page.executions, *page.arrays]]
        assert len(rows) == limit or page.cursor is None
        seen += sorted(rows, reverse=True)
        cursor = page.cursor
        if cursor is None:
            break
    assert seen == sorted(map(float, times), reverse=True)


def test_a_cursor_of_another_kind_is_refused() -> None:
    client: Any = Lists([], [])
    with pytest.raises(Exception, match="is not a cursor"):
        list_page(client, QUERY, 5, "x@yesterday", arrays=True)


def test_no_more_rows_than_wanted_are_listed_if_several_have_one_time() -> None:
    """Steps of a workflow are submitted at once."""
    client: Any = Lists([5.0, 5.0, 5.0, 1.0], [5.0, 3.0])
    page = list_page(client, QUERY, 3, None, arrays=True)
    assert (len(page.executions), len(page.arrays)) == (2, 1)
    rest = list_page(client, QUERY, 9, page.cursor, arrays=True)
    assert [row["submitted_at_s"] for row in [*rest.executions, *rest.arrays]] == [5.0, 1.0, 3.0]


def row(id_: str, name: str, at_s: float, **more: object) -> Any:
    return {"id": id_, "name": name, "submitted_at_s": at_s, "priority": 0, **more}


def test_all_rows_are_sorted_before_they_are_cut() -> None:
    executions = [row("x1", "c", 3.0), row("x2", "a", 1.0)]
    arrays = [row("a1", "b", 2.0, indices="0-9", ended_at_s=12.0), row("a2", "d", 4.0, indices="0-9", ended_at_s=5.0)]
    page = sorted_page(ListPage(executions, arrays, None), "name", 2)
    assert page.order == ("x2", "a1")
    assert ([one["id"] for one in page.executions], [one["id"] for one in page.arrays]) == (["x2"], ["a1"])
    assert sorted_page(ListPage([], arrays, None), "-ran", 1).order == ("a1",)
    assert sorted_page(ListPage(executions, arrays, None), "age", 9).order == ("a2", "x1", "a1", "x2")
