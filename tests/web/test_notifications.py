"""Targets of notifications on the page of the account, and messages of the browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Playwright, expect

from tests.support.documents import job
from tests.support.waiting import until
from tests.support.web import Visitor, chromium
from zoe_client import Client

# Messages of the browser are shown outside of pages: each that the page asks for is noted as well.
_NOTE = """
window.noted = [];
const Real = window.Notification;
window.Notification = new Proxy(Real, {
  construct(target, given) { window.noted.push([given[0], given[1].tag]); return new target(...given); },
});
"""


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """One that can show messages outside of pages."""
    with chromium(playwright, "chromium") as found:
        yield found


def test_a_target_is_set_tested_and_removed(admin: Visitor, client: Client) -> None:
    page = admin.open("/account")
    card = page.get_by_role("region", name="Notifications")
    card.get_by_label("Name of the target").fill("chat")
    card.get_by_label("URL").fill("https://127.0.0.1/hook")
    card.get_by_role("button", name="Notify it").click()
    expect(card.get_by_text("not a public address")).to_be_visible()
    card.get_by_label("URL").fill("https://hooks.example.invalid/7")
    card.get_by_label("started").check()
    card.get_by_role("button", name="Notify it").click()
    expect(card.get_by_role("status")).to_contain_text("whsec_")
    row = card.get_by_role("row", name="chat")
    expect(row).to_contain_text("started")
    expect(row).to_contain_text("not used yet")
    assert admin.violations() == []
    row.get_by_role("button", name="Test chat").click()
    expect(row).to_contain_text("fails: hooks.example.invalid was not found", timeout=30_000)
    page.once("dialog", lambda dialog: dialog.accept())
    row.get_by_role("button", name="Remove chat").click()
    expect(row).to_have_count(0)
    assert client.targets().targets == []


def test_the_browser_tells_of_own_ends_once(admin: Visitor, client: Client) -> None:
    admin.context.grant_permissions(["notifications"])
    admin.page.add_init_script(_NOTE)
    page = admin.open("/account")
    page.get_by_label("Notify me here").click()  # the browser is asked before it is checked
    expect(page.get_by_label("Notify me here")).to_be_checked()
    other = admin.context.new_page()
    other.add_init_script(_NOTE)
    with other.expect_request(lambda request: "/api/v1/status" in request.url):
        other.goto(f"{admin.url}/catalogue")
    told = []
    for name in ("first", "second"):
        execution = client.submit(job("sh", "-c", "exit 3"), name=name)
        told.append([f"{name}: failed", f"/executions/{execution.id}"])
    noted: list[list[str]] = until(lambda: _noted(admin, len(told)))
    assert sorted(noted) == told
    array = client.arrays.submit(job("true"), "0-5", name="sweep")  # one message, not one for each index
    assert client.arrays.wait(array.id, 60).state == "succeeded"
    told.append(["sweep[0-5]: succeeded", f"/arrays/{array.id}"])
    assert sorted(until(lambda: _noted(admin, len(told)))) == told


def _noted(admin: Visitor, count: int) -> list[list[str]]:
    """What all pages asked the browser to show, once it is as many."""
    found = [entry for page in admin.context.pages for entry in page.evaluate("window.noted || []")]
    return found if len(found) >= count else []
