"""Pages of `zoe ls`: executions and arrays together, newest first."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import typer

from zoe_cli.commands.words.list_options import sort
from zoe_cli.output import note
from zoe_client.errors import NotFound
from zoe_client.quick.plain import Array, Page, Summary
from zoe_client.quick.quick import QuickClient
from zoe_client.vocabulary import ReasonCode
from zoe_client.words.state_choices import matches_state

_PAGE_MAX = 500
SORTED_MAX = 10_000
"""Bounds the pages that `--sort` reads."""
_NONE_LEFT = "end"
"""In a cursor: there are no further executions, but arrays."""


@dataclass(frozen=True, slots=True)
class ListPage:
    """One page of rows; `cursor` continues it, None at the end."""

    executions: list[Summary]
    arrays: list[Array]
    cursor: str | None
    order: tuple[str, ...] | None = None
    """Ids of the rows in their order; None: newest first."""


@dataclass(frozen=True, slots=True)
class PageQuery:
    """What a list shows: filters of the API, a number of rows, where they begin and how they are sorted. arrays: show
    arrays beside executions.
    """

    filters: dict[str, Any]
    limit: int
    cursor: str | None
    sort_by: str | None
    arrays: bool

    def read(self, client: QuickClient) -> ListPage:
        """Return the rows as they are now."""
        if self.sort_by is None:
            return list_page(client, self.filters, self.limit, self.cursor, self.arrays)
        page = list_page(client, self.filters, SORTED_MAX, self.cursor, self.arrays)
        return sorted_page(page, self.sort_by, self.limit)


def sorted_page(page: ListPage, key: str, limit: int) -> ListPage:
    """Return the first rows of a page that is sorted by this column, executions and arrays together."""
    rows: list[Summary | Array] = [*page.executions, *page.arrays]
    order = tuple(row["id"] for row in sort(rows, key)[:limit])
    if page.cursor is not None:
        note(f"note: sorted are the newest {SORTED_MAX} rows")
    of_id = {row["id"]: row for row in page.executions}
    arrays = {row["id"]: row for row in page.arrays}
    return ListPage(
        [of_id[one] for one in order if one in of_id], [arrays[one] for one in order if one in arrays], None, order
    )


def list_page(client: QuickClient, query: dict[str, Any], limit: int, cursor: str | None, arrays: bool) -> ListPage:
    """Return this many rows, each an execution or, with `arrays`, an array.

    A cursor is that of the server for executions, with `@` and the time of the last row if there are arrays before it.
    """
    of_executions, before_s = _read(cursor)
    found = list(_arrays(client, query, limit + 1, before_s)) if arrays and (cursor is None or "@" in cursor) else []
    page = _executions(client, query, limit, of_executions)
    if not found:
        return ListPage(page["executions"], [], page["next_cursor"])
    rows = [*page["executions"], *found]
    times = sorted((row["submitted_at_s"] for row in rows), reverse=True)
    last_s = times[min(limit, len(times)) - 1]
    kept = [array for array in found if array["submitted_at_s"] >= last_s]
    # Several rows may have the time of the last one: its arrays are all here, and the next page has other executions.
    count = sum(execution["submitted_at_s"] >= last_s for execution in page["executions"])
    count = max(min(count, limit - len(kept)), 0)
    if count == 0 and page["executions"]:  # all of them are on later pages
        page = {"executions": [], "next_cursor": of_executions or "", "searched_to_s": None}
    elif count < len(page["executions"]):
        page = _executions(client, query, count, of_executions)
    return ListPage(page["executions"], kept, _next(page["next_cursor"], last_s, rest=len(kept) < len(found)))


def _read(cursor: str | None) -> tuple[str | None, float]:
    """Return the cursor of executions, and the time before which arrays were submitted."""
    of_executions, mark, before = (cursor or "").partition("@")
    try:
        return of_executions or None, float(before) if mark else math.inf
    except ValueError:
        raise typer.BadParameter(f"{cursor} is not a cursor that `zoe ls` has printed", param_hint="--cursor") from None


def _next(of_executions: str | None, last_s: float, rest: bool) -> str | None:
    if of_executions is None and not rest:
        return None
    return f"{_NONE_LEFT if of_executions is None else of_executions}@{last_s!r}"


def _executions(client: QuickClient, query: dict[str, Any], limit: int, cursor: str | None) -> Page:
    """Return this many executions, from as many pages as needed."""
    found: list[Summary] = []
    if cursor == _NONE_LEFT:
        return {"executions": found, "next_cursor": None, "searched_to_s": None}
    while len(found) < limit:
        page = client.executions(**query, limit=min(limit - len(found), _PAGE_MAX), cursor=cursor)
        found += page["executions"]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    return {"executions": found, "next_cursor": cursor, "searched_to_s": None}


def _arrays(client: QuickClient, query: dict[str, Any], limit: int, before_s: float) -> Iterator[Array]:
    """Yield the newest arrays for these options; none if the server does not support arrays."""
    how = {"user": query["user"], "all_tenants": query["all_tenants"]}
    cursor, count = None, 0
    while count < limit:
        try:
            page = client.arrays(**how, limit=min(limit, _PAGE_MAX), cursor=cursor)
        except NotFound:
            return
        for array in page["arrays"]:
            if count < limit and array["submitted_at_s"] < before_s and _matches(array, query):
                count += 1
                yield array
        cursor = page["next_cursor"]
        oldest_s = min((array["submitted_at_s"] for array in page["arrays"]), default=0.0)
        if cursor is None or oldest_s < (query["submitted_from_s"] or 0.0):
            return


def _matches(array: Array, query: dict[str, Any]) -> bool:
    states, name, since_s = query["state"], (query["name"] or "").casefold(), query["submitted_from_s"] or 0.0
    right_state = not states or matches_state(states, array["state"], held=_is_held(array))
    return right_state and name in array["name"].casefold() and array["submitted_at_s"] >= since_s


def _is_held(array: Array) -> bool:
    reason = array["reason"]
    return reason is not None and reason["code"] == ReasonCode.HELD
