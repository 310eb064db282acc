"""Tasks of docs/use/tasks.md by keyboard alone; those of scripts and notebooks are beside their other tests."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.support.cluster_size import all_cores
from tests.support.documents import job, sized
from tests.support.waiting import until
from tests.support.web import Visitor, tab_to
from zoe_client import Client
from zoe_lib.domain.executions.execution import ExecutionState


def test_a_result_is_read_shared_and_changed(admin: Visitor, client: Client) -> None:
    client.admin.add_user("carol", "correct horse battery")
    client.admin.set_role("carol", "default", "user")
    made = client.submit(
        {**job("sh", "-c", "echo region,kwh > {workspace}/totals.csv", name="totals"), "results": ["totals.csv"]}
    )
    assert client.wait(made.id, 60).state is ExecutionState.SUCCEEDED
    page = admin.open(f"/executions/{made.id}")
    expect(page.get_by_role("button", name="totals.csv", exact=True)).to_be_visible()
    press(page, "totals.csv")
    expect(page.get_by_role("dialog").get_by_role("columnheader", name="kwh")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="totals.csv", exact=True)).to_be_focused()
    page.keyboard.press("Home")
    press(page, "Share", back=True)
    tab_to(page, "User")
    page.keyboard.type("carol")
    press(page, "Share")
    expect(page.get_by_role("list", name="Shared with")).to_contain_text("carol: look")
    press(page, "Close")
    expect(page.get_by_role("button", name="Share", exact=True)).to_be_focused()
    press(page, "Clone and edit", back=True)
    expect(page.get_by_label("Description as JSON")).to_be_visible()
    while not page.evaluate("document.activeElement.matches('.editor')"):
        page.keyboard.press("Tab")
    page.keyboard.press("Escape")  # Tab indents before
    tab_to(page, "Array")
    page.keyboard.type("0-1")
    press(page, "Launch")
    page.wait_for_url(re.compile("/arrays/[^/?]+$"))
    expect(page.get_by_role("heading", name="totals", level=1)).to_be_visible()


def test_why_it_waits_and_how_it_is_cancelled(admin: Visitor, client: Client) -> None:
    cores = all_cores(client)
    running = client.submit(sized(cores, "sleep", "600", name="long"))
    until(lambda: client.execution(running.id).state is ExecutionState.RUNNING)
    waiting = client.submit(sized(cores, "sleep", "600", name="next"))
    page = admin.open("/executions")
    expect(page.get_by_role("link", name="next")).to_be_visible()
    press(page, "next")
    expect(page.get_by_text("The essential services need")).to_be_visible()
    press(page, "Node by node")
    expect(page.get_by_role("cell", name=re.compile("cores"))).to_be_visible()
    press(page, "Cancel", back=True)
    press(page, "Cancel the execution")
    expect(page.get_by_text("next is being cancelled.")).to_be_visible()
    assert client.wait(waiting.id, 60).state is ExecutionState.CANCELLED
    expect(page.get_by_text("It was cancelled")).to_be_visible()
    assert page.evaluate("document.activeElement !== document.body")


def press(page: Page, name: str, *, back: bool = False) -> None:
    tab_to(page, name, back=back)
    page.keyboard.press("Enter")
