"""Every implementation of the ExecutionStore, for the tests of its contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import pytest

from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.memory.store import MemoryStore
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.values import StoreLimits

OpenStore = Callable[[], ExecutionStore]
OpenAccounts = Callable[[], AccountStore]

# Small, so that a test reaches them.
LIMITS = StoreLimits(usage_samples_per_service_max=3, retention_s=1000.0, idempotency_keys_kept_s=100.0, searched_max=5)
NOBODY_LISTENS = "postgresql+psycopg2://zoe@/zoe?host=/nonexistent"


@pytest.fixture(params=["memory", "postgres"])
def open_store(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    """Opens one more handle on the same state, like another process."""
    opened: list[ExecutionStore] = []
    make: Callable[[], ExecutionStore]
    if request.param == "memory":
        make = MemoryStore(LIMITS).another
    else:
        url = request.getfixturevalue("postgres_url")

        def make() -> ExecutionStore:
            return PostgresStore(url, LIMITS)

    def open_one() -> ExecutionStore:
        opened.append(make())
        return opened[-1]

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def any_store(open_store: OpenStore) -> ExecutionStore:
    """A store of each implementation."""
    return open_store()


@pytest.fixture
def bounded_store(postgres_url: str) -> Iterator[PostgresStore]:
    """A store on a fresh database, with small bounds."""
    with closing(PostgresStore(postgres_url, LIMITS)) as store:
        yield store


@pytest.fixture
def open_accounts(postgres_url: str) -> Iterator[OpenAccounts]:
    """Opens one more handle on the same accounts, like another process."""
    with ExitStack() as opened:
        yield lambda: opened.enter_context(closing(PostgresStore(postgres_url, LIMITS))).accounts


@pytest.fixture
def accounts(open_accounts: OpenAccounts) -> AccountStore:
    """The accounts of a fresh database."""
    return open_accounts()


def add_tenant(store: ExecutionStore, name: str) -> None:
    """Make a tenant where there are accounts; a submission under limits locks its row."""
    if isinstance(store, PostgresStore):
        store.accounts.add_tenant(name)


@pytest.fixture(params=["memory", "postgres"])
def unreachable_store(request: pytest.FixtureRequest) -> Iterator[ExecutionStore]:
    """A store with an absent database."""
    if request.param == "memory":
        memory = MemoryStore()
        memory.available = False
        yield memory
    else:
        store = PostgresStore(NOBODY_LISTENS)
        yield store
        store.close()
