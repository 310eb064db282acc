"""The reference of the API in a browser: all of it from here, tried out by session and by token."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.support.long import of_web
from tests.support.web import Visitor
from zoe_embedded.stack import Stack


@pytest.fixture
def stranger(browser: Browser, stack: Stack) -> Iterator[Visitor]:
    """Open a page without a session; a violation of the page's policy is an error of the console."""
    visitor = Visitor.of(browser, stack.url)
    yield visitor
    visitor.close()
    assert visitor.errors == []


def unfolded(page: Page, tag: str, operation: str) -> Locator:
    block = page.locator(f"#operations-{tag}-{operation}")
    heading = page.locator(f"#operations-tag-{tag}")
    expect(heading).to_be_visible()
    if not block.is_visible():
        heading.click()
    block.locator(".opblock-summary-control").click()
    return block


def opened(page: Page, tag: str, operation: str) -> Locator:
    """An operation, unfolded and ready to be tried."""
    block = unfolded(page, tag, operation)
    block.get_by_role("button", name="Try it out", exact=True).click()
    return block


def write_body(block: Locator, body: str) -> None:
    """Put a body in the place of the example, which the page puts there a moment after the operation is opened."""
    editor = block.locator("textarea")
    expect(editor).to_have_value(re.compile("lifetime_s"))
    editor.fill(body)
    expect(editor).to_have_value(body)


def answered(block: Locator, status: int) -> None:
    block.get_by_role("button", name="Execute", exact=True).click()
    expect(block.locator(".live-responses-table .response-col_status")).to_contain_text([str(status)])


def colours(page: Page) -> str:
    """Whether it is shown as light or as dark, as the system is."""
    return str(page.evaluate("getComputedStyle(document.documentElement).colorScheme"))


def test_everything_comes_from_here_and_the_policy_holds_in_light_colours(stranger: Visitor) -> None:
    hosts: set[str] = set()
    stranger.page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
    page = stranger.open("/api/docs")
    expect(page.get_by_role("heading", name="Zoe")).to_be_visible()
    assert colours(page) == "light"
    block = unfolded(page, "executions", "submit_execution")
    expect(block.get_by_role("heading", name="Responses", exact=True)).to_be_visible()
    page.get_by_role("button", name="Authorize", exact=True).click()
    expect(page.get_by_text("An API token: zoe_")).to_be_visible()
    assert hosts - {""} == {urlsplit(stranger.url).netloc}


def test_changes_are_made_by_the_session(admin: Visitor) -> None:
    page = admin.open("/api/docs")
    block = opened(page, "people", "add_token")
    write_body(block, '{"note": "made in the reference", "lifetime_s": 60}')
    answered(block, 201)
    assert "X-CSRF-Token" not in block.inner_text()
    admin.open("/account")
    expect(page.get_by_role("row").filter(has_text="made in the reference")).to_be_visible()


@of_web
def test_a_token_does_it_too_and_nobody_is_refused_in_dark_colours(stranger: Visitor, stack: Stack) -> None:
    stranger.page.emulate_media(color_scheme="dark")
    page = stranger.open("/api/docs")
    block = opened(page, "people", "add_token")
    assert colours(page) == "dark"
    write_body(block, '{"note": "by a token", "lifetime_s": 60}')
    answered(block, 401)
    page.get_by_role("button", name="Authorize", exact=True).click()
    dialog = page.locator(".modal-ux")
    dialog.get_by_role("textbox").fill(stack.token)
    dialog.get_by_role("button", name="Apply credentials", exact=True).click()
    dialog.get_by_role("button", name="Close", exact=True).click()
    answered(block, 201)
