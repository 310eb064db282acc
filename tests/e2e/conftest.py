"""Installations of real processes, one per test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.api import Api
from tests.support.installation import Installation
from tests.support.postgres import postgres_server, postgres_url, store
from zoe_client import Client

__all__ = ["postgres_server", "postgres_url", "store"]


@pytest.fixture
def installation(postgres_url: str) -> Iterator[Installation]:
    """No process runs yet."""
    made = Installation(postgres_url)
    yield made
    made.close()


@pytest.fixture
def executed(postgres_url: str) -> Iterator[Installation]:
    """Whose programs are executed, for tests of how they begin and end."""
    made = Installation(postgres_url, forked=False)
    yield made
    made.close()


@pytest.fixture
def client(installation: Installation, postgres_url: str) -> Iterator[Client]:
    """A client of an API in the test's own process, where the test is about the master."""
    api = Api(postgres_url, finds_leader=True, keys_dir=installation.keys_dir, master_endpoint=installation.endpoint)
    yield api.client(installation.token, patience_s=60.0)
    api.close()
