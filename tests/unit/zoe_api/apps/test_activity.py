"""Requests to an application that count as a person's use."""

from __future__ import annotations

import pytest

from tests.support.manual_clock import ManualClock
from tests.support.plain_api import request, run
from zoe_api.apps import activity
from zoe_api.apps.activity import EVERY_S, Activity, is_use, is_use_of_socket
from zoe_lib.store.errors import StoreUnavailable


@pytest.mark.parametrize(
    ("method", "mode", "use"),
    [
        ("GET", "navigate", True),
        ("GET", "cors", False),
        ("HEAD", "cors", False),
        ("OPTIONS", "cors", False),
        ("PUT", "cors", False),
        ("POST", "cors", True),
        ("DELETE", "cors", True),
        ("PATCH", "cors", True),
        ("GET", None, True),
        ("PUT", None, True),
    ],
)
def test_a_page_that_is_left_open_is_no_use(method: str, mode: str | None, use: bool) -> None:
    assert is_use(request(method, headers={} if mode is None else {"sec-fetch-mode": mode})) is use


@pytest.mark.parametrize(
    ("path", "message", "use"),
    [
        ("/api/kernels/k/channels", b"\x01", True),
        ("/api/kernels/k/channels", "run", True),
        ("/api/collaboration/room/json:notebook:f", b"\x00\x02change", True),
        ("/api/collaboration/room/json:notebook:f", b"\x00\x01state", False),
        ("/api/collaboration/room/json:notebook:f", b"\x01here", False),
        ("/api/collaboration/room/json:notebook:f", "save", False),
    ],
)
def test_pages_that_share_a_document_use_it_by_changes_only(path: str, message: str | bytes, use: bool) -> None:
    assert is_use_of_socket(path, message) is use


class Store:
    def __init__(self) -> None:
        self.uses: list[str] = []
        self.away = False

    def add_use_of(self, execution_id: str, at_s: float) -> None:
        if self.away:
            raise StoreUnavailable("away")
        self.uses.append(execution_id)


def test_use_is_written_at_most_once_a_minute_for_each_application(monkeypatch: pytest.MonkeyPatch) -> None:
    store, clock = Store(), ManualClock()
    made = Activity(store, clock)
    for after_s, execution_id in ((0.0, "a"), (EVERY_S - 0.1, "a"), (0.0, "b"), (0.2, "a")):
        clock.advance(after_s)
        run(made.record_use(execution_id))
    assert store.uses == ["a", "b", "a"]
    store.away = True
    run(made.record_use("c"))
    monkeypatch.setattr(activity, "_REMEMBERED_MAX", 2)
    store.away = False
    run(made.record_use("d"))
    run(made.record_use("b"))
    assert store.uses == ["a", "b", "a", "d", "b"]
