"""The API of a test, over a database of its own."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import httpx
import pytest
import structlog
from argon2 import PasswordHasher

from tests.support.api import Api, InProcess
from tests.support.master import TickingMaster
from tests.support.opened import Opened
from tests.support.postgres import PostgresServer, postgres_server, postgres_url, store
from tests.support.secrets_in_logs import SECRETS, Logged, Secrets
from tests.support.serving import Served
from tests.support.upstream import application
from zoe_api.people.sign_in import passwords
from zoe_client import Client

__all__ = ["postgres_server", "postgres_url", "store"]


@pytest.fixture(scope="session", autouse=True)
def logged() -> Logged:
    """Collect the logs of the API and masters of this process without showing them; tests end to end check their
    form.
    """
    logged = Logged()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(default=repr),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(logged.file),
    )
    return logged


@pytest.fixture(scope="module", autouse=True)
def secrets() -> Iterator[Secrets]:
    """Secrets of a module, whose tests may share an API."""
    yield SECRETS
    SECRETS.forget()


@pytest.fixture(autouse=True)
def no_secret_is_logged(logged: Logged, secrets: Secrets) -> Iterator[None]:
    """Fail any test that writes a secret to a log."""
    yield
    assert secrets.found_in(logged.take()) == []


@pytest.fixture(scope="module", autouse=True)
def cheap_passwords() -> Iterator[None]:
    """Use cheap password hashes: those of full strength take longer than most of these tests, and have a test of their
    own.
    """
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(passwords, "hasher", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        yield


@pytest.fixture
def api(postgres_url: str) -> Iterator[Api]:
    """An API without a running master."""
    made = Api(postgres_url)
    yield made
    made.close()


@pytest.fixture
def master(api: Api) -> TickingMaster:
    """The master of `api`."""
    return api.start_master()


@pytest.fixture
def http(api: Api) -> httpx.Client:
    """Ada's client over loopback."""
    return api.http()


@pytest.fixture
def client(api: Api) -> Client:
    """Ada's client. test_executions.py tests the differences over a socket."""
    return api.client(transport=InProcess(api.app))


@pytest.fixture(scope="module")
def shared_api(postgres_server: PostgresServer) -> Iterator[Api]:
    """An API for tests without side effects on others."""
    url = postgres_server.create_database()
    made = Api(url)
    yield made
    made.close()
    postgres_server.drop_database(url)


@pytest.fixture(scope="module")
def shared_http(shared_api: Api) -> httpx.Client:
    """Ada's client, for requests that are refused and change nothing."""
    return shared_api.http()


@pytest.fixture(scope="module")
def upstream() -> Iterator[Served]:
    served = Served(application)
    yield served
    served.close()


@pytest.fixture(scope="module")
def opened(shared_api: Api, upstream: Served) -> Opened:
    """An application for tests that leave it running."""
    return Opened(shared_api, upstream)


@pytest.fixture
def alone(api: Api, upstream: Served) -> Opened:
    """An application for tests that end it, or its users."""
    return Opened(api, upstream)
