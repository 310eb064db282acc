"""A stack as `make serve` makes it, and browsers on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from tests.support.postgres import postgres_server, postgres_url, store
from tests.support.stack import running_stack
from tests.support.web import UserBrowser, Visitor, cancel_all, chromium
from zoe_client import Client
from zoe_embedded.stack import Stack

__all__ = ["postgres_server", "postgres_url", "store"]

# Of the same size on every machine: more than the tests' applications reserve, less than the forms let one ask for.
NODE = {"name": "local", "cores": 4, "memory_bytes": 4 << 30}


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as made:
        yield made


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    with chromium(playwright) as found:
        yield found


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running_stack(forked=True, local_nodes=[NODE]) as running:
        yield running


@pytest.fixture
def client(stack: Stack) -> Iterator[Client]:
    """Return the admin's client; earlier and remaining executions are cancelled."""
    with Client(stack.url, stack.token) as made:
        cancel_all(made)
        yield made
        cancel_all(made)


@pytest.fixture(scope="module")
def browser_of_admin(browser: Browser, stack: Stack) -> Iterator[UserBrowser]:
    made = UserBrowser(browser, stack.url, "admin", stack.password)
    yield made
    made.close()


@pytest.fixture
def admin(browser_of_admin: UserBrowser) -> Iterator[Visitor]:
    """The admin, signed in, with a page that shows nothing yet; one that broke on the way fails the test."""
    visitor = browser_of_admin.visitor()
    yield visitor
    visitor.page.close()
    assert visitor.errors == []
