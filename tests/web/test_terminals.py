"""A shell in a running service, in a real browser; and what a page of another origin gets."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.support.documents import job
from tests.support.waiting import until
from tests.support.web import Visitor
from zoe_client import Client
from zoe_client.vocabulary import Role, ShareLevel
from zoe_client.wire import ExecutionView
from zoe_embedded.stack import Stack

PASSWORD = "correct horse battery"


@pytest.fixture
def running(client: Client) -> ExecutionView:
    execution = client.submit(job("sleep", "600", name="shelled"))
    until(lambda: client.execution(execution.id).state == "running")
    return client.execution(execution.id)


@pytest.fixture
def bob(browser: Browser, stack: Stack, client: Client) -> Iterator[Visitor]:
    if "bob" not in {user.name for user in client.admin.users().users}:
        client.admin.add_user("bob", PASSWORD)
    client.admin.change_user("bob", password=PASSWORD)
    client.admin.set_role("bob", "default", Role.USER)
    visitor = Visitor.of(browser, stack.url)
    visitor.sign_in("bob", PASSWORD)
    yield visitor
    visitor.close()


def opened(page: Page) -> Locator:
    """What the terminal shows, once its shell asks for a command."""
    page.get_by_role("button", name="Terminal in main-0").click()
    screen = page.get_by_role("dialog").locator(".xterm-rows")
    expect(screen).to_contain_text(re.compile(r"[$#] "))
    return screen


def test_a_shell_takes_keys_and_says_how_it_ended(admin: Visitor, running: ExecutionView) -> None:
    page = admin.open(f"/executions/{running.id}")
    screen = opened(page)
    page.keyboard.type("echo made-$((40 + 2)); tty\n")
    expect(screen).to_contain_text("made-42")
    expect(screen).to_contain_text("/dev/pts/")
    page.keyboard.type("printf '\\033[38;2;255;0;0mscarlet\\033[0m\\n'\n")
    expect(screen.get_by_text("scarlet", exact=True)).to_have_css("color", "rgb(255, 0, 0)")
    # An interrupt makes a terminal drop unread keys, so each is sent after the previous output.
    page.keyboard.type("echo $((40 + 3))-sleeps; sleep 600\n")
    expect(screen).to_contain_text("43-sleeps")
    page.keyboard.press("Control+c")
    expect(screen).to_contain_text(re.compile(r"\^C.*[$#] "))
    page.keyboard.type("stty size; echo é | wc -c\n")
    expect(screen).to_contain_text(re.compile(r"\d+ \d+"))
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert admin.violations() == []
    page.keyboard.type("exit 3\n")
    expect(page.get_by_text("It ended with exit code 3.")).to_be_visible()
    page.set_viewport_size({"width": 1280, "height": 800})
    page.keyboard.press("Control+Shift+L")
    close = page.get_by_role("button", name="Close", exact=True)
    expect(close).to_be_focused()
    close.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_much_output_is_shown_to_its_end(admin: Visitor, running: ExecutionView) -> None:
    page = admin.open(f"/executions/{running.id}")
    screen = opened(page)
    page.keyboard.type("i=0; while [ $i -lt 60000 ]; do echo line-$i; i=$((i+1)); done; echo the-$((1))-end\n")
    expect(screen).to_contain_text("the-1-end", timeout=60_000)


def test_a_share_gives_it_and_it_ends_with_the_session(bob: Visitor, client: Client, running: ExecutionView) -> None:
    client.share(running.id, ShareLevel.OPEN, "bob")
    page = bob.open(f"/executions/{running.id}")
    expect(page.get_by_role("heading", name="shelled")).to_be_visible()
    expect(page.get_by_role("button", name="Terminal in main-0")).to_have_count(0)
    client.share(running.id, ShareLevel.CONTROL, "bob")
    page = bob.open(f"/executions/{running.id}")
    opened(page)
    client.end_share(running.id, "bob")
    expect(page.get_by_text("your access to this terminal has ended")).to_be_visible()


@pytest.mark.parametrize("wrong", ["origin", "proof", "no proof"])
def test_a_page_of_another_origin_gets_none(admin: Visitor, running: ExecutionView, wrong: str) -> None:
    """It can make the browser send the cookie, and has neither the origin nor the proof."""
    page = admin.open("/executions")
    proof = str(page.evaluate("localStorage.getItem('zoe-csrf-token')"))
    cookies = "; ".join(f"{cooky['name']}={cooky['value']}" for cooky in admin.context.cookies())
    path = f"/api/v1/executions/{running.id}/services/{running.services[0].id}/terminal"
    proofs = {"origin": [proof], "proof": ["guessed"], "no proof": []}[wrong]
    origin = "http://127.0.0.1:9" if wrong == "origin" else admin.url
    with pytest.raises(InvalidStatus) as refused:
        connect(
            admin.url.replace("http", "ws") + path,
            origin=origin,  # type: ignore[arg-type]
            additional_headers={"Cookie": cookies},
            subprotocols=["zoe-terminal", *proofs],  # type: ignore[list-item]
            proxy=None,
        )
    assert refused.value.response.status_code == 403
