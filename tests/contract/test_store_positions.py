"""The position of a write is that of its newest entry in the journal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.applications import execution
from tests.support.store_events import queued
from zoe_lib.store import positions
from zoe_lib.store.errors import ConcurrentUpdate
from zoe_lib.store.postgres.store import PostgresStore


def position_of(write: Callable[[], Any]) -> int:
    with positions.collect() as written:
        write()
    return written.newest


def test_every_write_tells_its_position(bounded_store: PostgresStore) -> None:
    store = bounded_store
    writes: list[Callable[[], Any]] = [
        lambda: store.submit(execution(1), "request", "key", "print"),
        lambda: store.submit_all([execution(2), execution(3)], "request"),
        lambda: store.append(execution(1).id, [queued()], 1, None),
        lambda: store.set_policy(store.policy(), 0, 1.0, "admin"),
    ]
    for write in writes:
        before = store.last_journal_id()
        assert position_of(write) == store.last_journal_id() > before
    # An earlier submission is not behind the newest entry.
    assert position_of(writes[0]) == store.last_journal_id()


def test_a_read_and_a_write_that_fails_have_none(bounded_store: PostgresStore) -> None:
    bounded_store.submit(execution(1), "request")

    def fails() -> None:
        with pytest.raises(ConcurrentUpdate):
            bounded_store.append(execution(1).id, [queued()], 7, None)

    assert position_of(fails) == 0
    assert position_of(lambda: bounded_store.execution(execution(1).id)) == 0
