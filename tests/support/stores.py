"""Every implementation of the Store, for the tests of its contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from zoe_lib.store.base import Store, StoreLimits
from zoe_lib.store.memory import MemoryStore
from zoe_lib.store.postgres import PostgresStore

OpenStore = Callable[[], Store]

# Small, so that a test reaches them.
LIMITS = StoreLimits(usage_samples_per_service_max=3, retention_s=1000.0, idempotency_keys_kept_s=100.0)
NOBODY_LISTENS = "postgresql+psycopg2://zoe@/zoe?host=/nonexistent"


@pytest.fixture(params=["memory", "postgres"])
def open_store(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    """Opens one more handle on the same state, as another process would."""
    opened: list[Store] = []
    make: Callable[[], Store]
    if request.param == "memory":
        make = MemoryStore(LIMITS).another
    else:
        url = request.getfixturevalue("postgres_url")

        def make() -> Store:
            return PostgresStore(url, LIMITS)

    def open_one() -> Store:
        opened.append(make())
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def any_store(open_store: OpenStore) -> Store:
    """A store of each implementation."""
    return open_store()


@pytest.fixture(params=["memory", "postgres"])
def unreachable_store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """A store whose database is not there."""
    if request.param == "memory":
        memory = MemoryStore()
        memory.available = False
        yield memory
    else:
        store = PostgresStore(NOBODY_LISTENS)
        yield store
        store.close()
