"""One object store for all tests here, and for some a separate store with a controller."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.installation import Installation
from tests.support.object_store import ADMIN, Person, empty, logged_in, object_store
from tests.support.postgres import PostgresServer, postgres_server, postgres_url, store
from tests.support.whole_storage import Whole, client_of, installation_with, keyring, whole_storage
from zoe_client import Client
from zoe_embedded.home import Home
from zoe_embedded.runtimes.runtime import CLONE, Runtime, ensure_notebook
from zoe_embedded.swift.store import ObjectStore

__all__ = ["postgres_server", "postgres_url", "store"]


@pytest.fixture(scope="session")
def swift() -> Iterator[ObjectStore]:
    with object_store() as store:
        yield store


@pytest.fixture
def ann(swift: ObjectStore) -> Iterator[Person]:
    with logged_in(swift, "acme:ann") as person:
        yield person


@pytest.fixture
def bob(swift: ObjectStore, ann: Person) -> Iterator[Person]:
    """Of another tenant, in Ann's account."""
    with logged_in(swift, "beta:bob", ann.account_url) as person:
        yield person


@pytest.fixture
def admin(swift: ObjectStore, ann: Person) -> Iterator[Person]:
    """The storage controller, in Ann's account."""
    with logged_in(swift, "controller:controller", ann.account_url) as person:
        yield person


@pytest.fixture(scope="session")
def spark() -> Runtime:
    return ensure_notebook(Home.find(CLONE).create())


@pytest.fixture(scope="session")
def shared_database(postgres_server: PostgresServer) -> Iterator[str]:
    """Of the controller of `shared`."""
    url = postgres_server.create_database()
    yield url
    postgres_server.drop_database(url)


@pytest.fixture(scope="session")
def shared_whole(shared_database: str) -> Iterator[Whole]:
    with whole_storage(shared_database, keyring=keyring, s3=True) as made:
        yield made


@pytest.fixture
def shared(shared_whole: Whole) -> Whole:
    """A store and controller for tests that remove their rules; users' accounts are empty before each."""
    for login in ("acme:ann", "beta:bob"):
        with logged_in(shared_whole.store, login) as person, logged_in(shared_whole.store, ADMIN.login) as admin:
            empty(Person(admin.http, person.account_url))
    return shared_whole


@pytest.fixture
def whole(postgres_url: str) -> Iterator[Whole]:
    with whole_storage(postgres_url) as made:
        yield made


@pytest.fixture
def installation(postgres_url: str, whole: Whole, tmp_path: Path) -> Iterator[Installation]:
    with installation_with(whole, postgres_url, tmp_path, storage_services=whole.services) as made:
        yield made


@pytest.fixture
def client(installation: Installation, postgres_url: str, whole: Whole) -> Iterator[Client]:
    with client_of(installation, postgres_url, whole) as made:
        yield made
