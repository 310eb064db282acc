"""Bytes that executions have moved so far, as the API reads them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.support.applications import application, component, execution
from zoe_lib.domain.values.transfers import StoreTransfers
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.values import StoreLimits


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    with closing(PostgresStore(postgres_url, StoreLimits())) as made:
        yield made


def test_the_newest_figure_is_kept_of_executions_that_exist(store: PostgresStore) -> None:
    one = store.submit(execution(1, application=application(component("c"))), "request")
    assert store.transfers_so_far(one.id) is None
    store.keep_transfers(10.0, {one.id: StoreTransfers(3, 100, 5, 1.5, 2.5), "removed": StoreTransfers(4, 1, 1)})
    store.keep_transfers(20.0, {})
    assert store.transfers_so_far(one.id) == StoreTransfers(3, 100, 5, 1.5, 2.5, whole=False, at_s=10.0)
    store.keep_transfers(30.0, {one.id: StoreTransfers(5, 2**50, 6)})
    assert store.transfers_so_far(one.id) == StoreTransfers(5, 2**50, 6, whole=False, at_s=30.0)
    assert store.transfers_so_far("removed") is None
    assert store.transfers_so_far("nul\0") is None
