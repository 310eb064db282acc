"""What a browser meets on a bad day: hostile texts, broken connections, ended sessions, a master that is away."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Route, expect

from tests.support.balancer import Balancer
from tests.support.documents import job, sized
from tests.support.stack import running_stack
from tests.support.waiting import until
from tests.support.web import Visitor
from zoe_client import Client
from zoe_embedded.stack import Stack
from zoe_lib.domain.executions.execution import ExecutionState

HOSTILE = "<img src=x onerror=\"document.title='owned'\"><script>document.title='owned'</script>"

# Number of requests of a page before it shows that the server is away.
TRIES_AT_ONCE = 3


def test_names_and_output_never_run_as_markup(admin: Visitor, client: Client) -> None:
    page = admin.page
    document = job("sh", "-c", f"printf '%s\\n' '{HOSTILE.replace(chr(39), chr(34))}'; exit 3")
    document["description"] = HOSTILE
    document["components"][0]["environment"] = {"HOSTILE": HOSTILE}
    execution = client.submit(document, name=HOSTILE[:120])
    until(lambda: client.execution(execution.id).state is ExecutionState.FAILED)
    for path in ("", "/logs", "/events", "/description"):
        admin.open(f"/executions/{execution.id}{path}")
        expect(page.get_by_role("heading", level=1)).to_contain_text("<img")
        admin.settled()
    admin.open(f"/executions/{execution.id}")
    expect(page.get_by_role("region", name="Last lines of the output")).to_contain_text("<script>")
    admin.open(f"/executions/{execution.id}/logs")
    expect(page.get_by_role("log")).to_contain_text("<script>")
    admin.open("/executions")
    expect(page.get_by_role("table")).to_contain_text("<img src=x")
    assert page.title() == "Zoe"
    assert page.locator("main img").count() == 0


def test_wrong_passwords_are_refused_in_words(browser: Browser, stack: Stack) -> None:
    visitor = Visitor.of(browser, stack.url)
    visitor.open("/executions")
    visitor.type_password("admin", "not the password")
    expect(visitor.page.get_by_role("alert")).to_be_visible()
    expect(visitor.page.get_by_label("Password", exact=True)).to_have_value("not the password")
    visitor.close()
    assert visitor.errors == []


def test_a_wrong_present_password_is_told_and_ends_nothing(admin: Visitor) -> None:
    page = admin.open("/account")
    page.get_by_label("Present password", exact=True).fill("not the password")
    page.get_by_label("New password").fill("a much longer password")
    page.get_by_role("button", name="Change it", exact=True).click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_label("New password")).to_have_value("a much longer password")


def test_a_session_that_ends_in_mid_work_loses_nothing(admin: Visitor, stack: Stack, client: Client) -> None:
    page = admin.open("/catalogue/batch")
    page.get_by_label("Command", exact=True).fill("echo typed before")
    expect(page.get_by_text("It would start now")).to_be_visible()
    admin.context.clear_cookies()
    # An event, since the page also reads by itself, and the dialog may be over the button by now.
    page.get_by_role("button", name="Launch", exact=True).dispatch_event("click")
    dialog = page.get_by_role("dialog", name="Sign in again", exact=True)
    expect(dialog).to_be_visible()
    expect(dialog.get_by_label("User", exact=True)).to_have_value("admin")
    for _ in range(3):
        page.keyboard.press("Escape")
    expect(dialog).to_be_visible()
    dialog.get_by_label("Password", exact=True).fill(stack.password)
    dialog.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url("**/executions/*")
    execution = client.execution(page.url.rsplit("/", 1)[-1])
    assert execution.description["components"][0]["command"] == ["echo", "typed", "before"]


def test_a_connection_that_broke_is_taken_up_behind_the_last_event(
    browser: Browser, stack: Stack, client: Client
) -> None:
    url = urlsplit(stack.url)
    with Balancer([(str(url.hostname), int(url.port or 80))]) as balancer:
        visitor = Visitor.of(browser, balancer.url)
        visitor.sign_in("admin", stack.password)
        page = visitor.open("/executions?name=while-away")
        expect(page.get_by_text("live", exact=True)).to_be_visible()
        with balancer.broken():
            expect(page.get_by_text("no connection, retrying")).to_be_visible()
            execution = client.submit(sized(0.1, "sleep", "600", name="while-away"))
            until(lambda: client.execution(execution.id).state is ExecutionState.RUNNING)
            expect(page.get_by_text("while-away")).to_have_count(0)
        expect(page.get_by_role("row").filter(has_text="while-away")).to_contain_text("running")
        visitor.close()
    assert visitor.errors == []


@pytest.mark.parametrize(("page_of", "asked"), [("?name=last-word", "?*id=*"), ("/{id}", "/{id}")])
def test_failed_read_after_the_last_event_is_repeated(admin: Visitor, client: Client, page_of: str, asked: str) -> None:
    execution = client.submit(sized(0.1, "sleep", "600", name="last-word"))
    until(lambda: client.execution(execution.id).state is ExecutionState.RUNNING)
    page = admin.open("/executions" + page_of.format(id=execution.id))
    badge = page.locator("main .badge", has_text="running").first
    expect(badge).to_be_visible()
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    failed: list[str] = []

    def fail(route: Route) -> None:
        failed.append(route.request.url)
        route.abort()

    route = f"**/api/v1/executions{asked.format(id=execution.id)}"
    page.route(route, fail)
    client.cancel(execution.id)
    client.wait(execution.id, 60)
    until(lambda: page.evaluate("true") and len(failed) > TRIES_AT_ONCE)
    expect(badge).to_be_visible()
    page.unroute(route)
    expect(page.locator("main .badge", has_text="cancelled").first).to_be_visible()


def test_a_list_that_could_not_be_read_at_first_is_read_again(admin: Visitor, client: Client) -> None:
    execution = client.submit(sized(0.1, "true", name="seen-later"))
    client.wait(execution.id, 60)
    listed = re.compile(r"/api/v1/executions\?")
    admin.page.route(listed, lambda route: route.abort())
    page = admin.open("/executions?name=seen-later")
    expect(page.get_by_role("alert")).to_contain_text("Zoe does not answer")
    page.unroute(listed)
    expect(page.get_by_role("row").filter(has_text="seen-later")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_signing_out_leaves_nothing_behind(admin: Visitor) -> None:
    page = admin.open("/executions")
    page.locator("summary", has_text="admin").click()
    page.get_by_role("button", name="Sign out", exact=True).click()
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    admin.open("/executions")
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()


@pytest.fixture
def other_stack() -> Iterator[Stack]:
    """One whose parts may be stopped."""
    with running_stack(forked=True) as running:
        yield running


def test_without_the_master_the_page_says_what_still_works(browser: Browser, other_stack: Stack) -> None:
    visitor = Visitor.of(browser, other_stack.url)
    page = visitor.sign_in("admin", other_stack.password)
    master = other_stack.processes["zoe_master.main"]
    os.kill(master, signal.SIGSTOP)
    try:
        expect(page.get_by_text("The master is not reachable")).to_be_visible()
        visitor.launch(job("echo", "later"))
        expect(page.locator("main .badge").first).to_have_text("submitted")
    finally:
        os.kill(master, signal.SIGCONT)
    expect(page.get_by_text("The master is not reachable")).to_have_count(0)
    expect(page.locator("main .badge").first).to_have_text("succeeded")
    visitor.close()
    assert visitor.errors == []
