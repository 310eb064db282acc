"""A running execution of a plain user on a whole stack."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.support.ending import cancel_all
from tests.support.people import make_token
from tests.support.stack import environment
from tests.support.waiting import until
from zoe_client import Client
from zoe_embedded.stack import Stack
from zoe_lib.store.postgres.store import PostgresStore


@pytest.fixture(scope="module")
def store(stack: Stack) -> Iterator[PostgresStore]:
    with closing(PostgresStore(stack.database_url)) as store:
        yield store


@pytest.fixture(scope="module")
def ada(stack: Stack, store: PostgresStore) -> Iterator[Client]:
    """The owner, a plain user."""
    with Client(stack.url, make_token(store, "ada", tenant_of(stack))) as client:
        yield client


@pytest.fixture
def running(stack: Stack, ada: Client) -> Iterator[str]:
    """The id of an execution of ada with two services."""
    resources = {"memory": "64MiB", "cores": 0.1}
    part = {"name": "main", "image": "zoe/tiny", "command": ["sleep", "600"], "resources": resources}
    parts = [{**part, "essential_count": 2, "total_count": 2}]
    execution = ada.submit({"version": 4, "name": "held", "components": parts})
    until(lambda: ada.execution(execution.id).state == "running")
    yield execution.id
    with Client(stack.url, stack.token) as admin:
        cancel_all(admin)


def tenant_of(stack: Stack) -> str:
    with Client(stack.url, stack.token) as admin:
        return admin.me().tenant


def own_environment(stack: Stack, client: Client) -> dict[str, str]:
    return {**environment(stack), "ZOE_TOKEN": client._token}
