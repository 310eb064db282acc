"""Rows of `zoe nodes lose`."""

from __future__ import annotations

from typing import Any

from zoe_cli.commands.cluster.losing_nodes import rows
from zoe_client.wire import LongerWaitView, LosingView, NodeLossView, ReasonView, RestartView

WHO: dict[str, Any] = {"name": "job", "tenant": "red", "user": "ann", "services": 2}
NOTHING: dict[str, Any] = {
    **{key: [] for key in ("failed", "restarts", "shrunk", "booked", "longer")},
    **dict.fromkeys(("failed_total", "restarts_total", "shrunk_total", "booked_total"), 0),
}


def told(**found: Any) -> list[tuple[str, ...]]:
    return list(rows(NodeLossView(nodes=["a"], **{**NOTHING, **found})))


def test_what_starts_again_says_when_why_not_now_and_what_it_misses() -> None:
    reason = ReasonView(code="no_resources", sentence="There is no room.", counts={}, hint="")
    now = RestartView(id="x1", **WHO, starts_now=True, wait_s=0.0, reason=None, misses_promise=False)
    later = RestartView(id="x2", **WHO, starts_now=False, wait_s=90.0, reason=reason, misses_promise=True)
    assert told(restarts=[now, later], restarts_total=2) == [
        ("x1", "job", "red/ann", "2", "starts again", "at once, on other nodes"),
        ("x2", "job", "red/ann", "2", "starts again; misses its promise", "in 1m30s (There is no room)"),
    ]


def test_the_other_effects_have_rows_and_the_rest_is_counted() -> None:
    ended = LosingView(id="x1", **WHO)
    waits = LongerWaitView(id="x3", name="job", tenant="red", user="ann", before_s=5.0, after_s=None)
    assert [row[4] for row in told(failed=[ended], failed_total=1, shrunk=[ended], shrunk_total=4)] == [
        "fails: its attempts are used up",
        "goes on with fewer elastic services",
        "",
    ]
    assert told(shrunk=[ended], shrunk_total=4)[-1][0] == "and 3 more"
    assert told(longer=[waits])[0][5] == "in 5.0s before, not known then"
    assert told(booked=["x4"], booked_total=1)[0][4] == "loses the nodes booked for its promise"
