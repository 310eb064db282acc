"""From the catalogue to the output, in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page, Route, expect

from tests.support.cluster_size import all_cores
from tests.support.documents import job, sized
from tests.support.waiting import until
from tests.support.web import Visitor, fits
from tests.web.test_execution_page import TELEPHONE
from zoe_client import Client
from zoe_lib.domain.executions.execution import ExecutionState


def state_is(page: Page, state: str) -> None:
    expect(page.locator("main .badge").first).to_have_text(state)


def test_from_the_catalogue_to_the_output_in_three_clicks(admin: Visitor, client: Client) -> None:
    page = admin.open("/catalogue")
    page.get_by_label("Search", exact=True).fill("command")
    page.get_by_role("link", name="One command").click()
    expect(page.get_by_text("It would start now")).to_be_visible()
    page.get_by_label("Command", exact=True).fill("sh -c 'echo from the browser; sleep 600'")
    page.get_by_role("button", name="Launch", exact=True).click()
    state_is(page, "running")
    page.get_by_role("link", name="Logs", exact=True).first.click()
    expect(page.get_by_role("log")).to_contain_text("from the browser")
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Keep it", exact=True).click()
    state_is(page, "running")
    page.get_by_role("button", name="Cancel", exact=True).click()
    page.get_by_role("button", name="Cancel the execution", exact=True).click()
    state_is(page, "cancelled")
    execution = client.execution(page.url.split("/executions/")[1].split("/")[0])
    assert execution.state is ExecutionState.CANCELLED


def test_settings_are_in_the_address_and_the_plan_answers_live(admin: Visitor) -> None:
    page = admin.open("/catalogue/batch?command=echo+linked&memory=zzz&cores=NaN")
    expect(page.get_by_label("Command", exact=True)).to_have_value("echo linked")
    memory = page.get_by_label("Memory", exact=True)
    memory.focus()
    memory.press("End")
    expect(page.get_by_text("It can never start on this installation")).to_be_visible()
    memory.press("Home")
    expect(page.get_by_text("It would start now")).to_be_visible()
    page.wait_for_url(re.compile("memory=16777216"))


def test_the_list_lives_and_many_are_cancelled_at_once(admin: Visitor, client: Client) -> None:
    page = admin.open("/executions?name=herd")
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    for number in range(3):
        client.submit(sized(0.1, "sleep", "600", name=f"herd-{number}"))
    for number in range(3):
        row = page.get_by_role("row").filter(has_text=f"herd-{number}")
        expect(row).to_contain_text("running")
        row.get_by_role("checkbox").check()
    page.get_by_role("button", name="Cancel 3", exact=True).click()
    asked = page.get_by_role("dialog", name="Cancel 3 executions?")
    expect(asked.get_by_role("listitem").filter(has_text="herd-")).to_have_count(3)
    asked.get_by_role("button", name="Cancel 3 executions", exact=True).click()
    for number in range(3):
        expect(page.get_by_role("row").filter(has_text=f"herd-{number}")).to_contain_text("cancelled")


def test_a_page_of_rows_that_comes_after_the_filter_has_changed_is_let_go(admin: Visitor, client: Client) -> None:
    page = admin.page
    for name in ("old", "new"):
        client.submit(job("true", name=f"filter-{name}"))
    held: list[Route] = []

    def say_that_there_is_more(route: Route) -> None:
        if "cursor=" in route.request.url:
            held.append(route)
        else:
            answer = route.fetch()
            route.fulfill(response=answer, json={**answer.json(), "next_cursor": "further"})

    page.route("**/api/v1/executions?*name=filter-old*", say_that_there_is_more)
    admin.open("/executions?name=filter-old")
    until(lambda: page.evaluate("true") and held)
    page.get_by_label("Name", exact=True).fill("filter-new")
    expect(page.get_by_role("row").filter(has_text="filter-new")).to_be_visible()
    expect(page.get_by_text("1 in all", exact=True)).to_be_visible()
    with page.expect_response("**/api/v1/executions?*cursor=*"):
        held[0].fulfill(json={"executions": [], "next_cursor": "further"})
    page.evaluate("new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)))")
    expect(page.get_by_text("1 in all", exact=True)).to_be_visible()


def test_one_too_big_says_why_it_waits_and_starts_when_there_is_room(
    browser: Browser, admin: Visitor, client: Client
) -> None:
    cores = all_cores(client)
    first = client.submit(sized(cores - 0.2, "sleep", "600", name="first"))
    until(lambda: client.execution(first.id).state is ExecutionState.RUNNING)
    page = admin.page
    admin.launch(sized(cores - 0.1, "sleep", "600", name="second"))
    state_is(page, "queued")
    why = page.get_by_label("Why it waits", exact=True)
    expect(why).to_contain_text("cores")
    expect(why).to_contain_text("What would help")
    expect(why).to_contain_text("first in the queue")
    phone = Visitor.of(browser, admin.url, has_touch=True, storage_state=admin.context.storage_state())
    phone.page.set_viewport_size(TELEPHONE)  # type: ignore[arg-type]
    phone.open(page.url.removeprefix(admin.url))
    phone.page.locator("summary", has_text="Node by node").tap()
    fits(phone)
    client.cancel(first.id)
    state_is(page, "running")
    expect(page.get_by_text(re.compile("It waited"))).to_be_visible()
    phone.page.locator("summary", has_text="It waited").tap()
    fits(phone)
    phone.close()


def test_run_again_and_clone(admin: Visitor, client: Client) -> None:
    page = admin.page
    first = admin.launch(job("echo", "once", name="again"))
    state_is(page, "succeeded")
    page.get_by_role("button", name="Run again", exact=True).click()
    page.wait_for_url(lambda url: "/executions/" in url and first not in url)
    state_is(page, "succeeded")
    page.get_by_role("link", name="Clone and edit", exact=True).click()
    editor = page.get_by_label("Description as JSON", exact=True)
    expect(editor).to_contain_text('"echo"')
    editor.click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text('{"version": 4, "name": "x", "komponents": []}')
    expect(page.get_by_role("alert")).to_contain_text("komponents")
    expect(editor.locator(".cm-lintRange-error").first).to_be_visible()


def pressed_thrice(page: Page, button: str) -> None:
    """In one task of the page, before it can draw anything."""
    page.get_by_role("button", name=button, exact=True).evaluate("it => { it.click(); it.click(); it.click(); }")


def test_one_execution_for_each_press_of_a_form(admin: Visitor, client: Client) -> None:
    page = admin.open("/catalogue/batch")
    page.get_by_label("Name of this execution", exact=True).fill("once")
    expect(page.get_by_text("It would start now")).to_be_visible()
    pressed_thrice(page, "Launch")
    page.wait_for_url("**/executions/*")
    first = page.url
    page.get_by_role("link", name="Clone and edit", exact=True).click()
    expect(page.get_by_label("Name of this execution", exact=True)).to_have_value("once")
    expect(page.get_by_text("It would start now")).to_be_visible()
    pressed_thrice(page, "Launch")
    page.wait_for_url(re.compile("/executions/[^/]+$"))
    second = page.url
    pressed_thrice(page, "Run again")
    page.wait_for_url(lambda url: url != second)
    assert len({first, second, page.url}) == 3
    admin.settled()
    assert len(client.executions(name="once").executions) == 3


def test_an_answer_that_was_lost_makes_no_second_execution(admin: Visitor, client: Client) -> None:
    page = admin.open("/new")
    button = page.get_by_role("button", name="Launch", exact=True)
    before = len(client.executions(name="mine").executions)

    def lost(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/api/v1/executions", lost)
    button.click()
    expect(page.get_by_role("alert")).to_contain_text("Zoe does not answer")
    page.unroute("**/api/v1/executions")
    button.click()
    page.wait_for_url("**/executions/*")
    assert len(client.executions(name="mine").executions) == before + 1


def test_tabs_tell_of_an_execution(admin: Visitor, client: Client) -> None:
    page = admin.page
    admin.launch(sized(0.1, "sh", "-c", "while sleep 0.01; do :; done", name="busy"))
    state_is(page, "running")
    page.get_by_role("link", name="Events", exact=True).click()
    expect(page.get_by_role("cell", name="service started", exact=True)).to_be_visible()
    page.get_by_role("link", name="Description", exact=True).click()
    expect(page.locator("pre")).to_contain_text('"busy"')
    page.get_by_role("link", name="Charts", exact=True).click()
    expect(page.get_by_label(re.compile("Cores, used and reserved"))).to_be_visible()


def test_logs_are_searched_followed_and_downloaded(admin: Visitor) -> None:
    page = admin.page
    script = "i=0; while [ $i -lt 5000 ]; do echo line $i; i=$((i+1)); done; echo the needle; sleep 600"
    admin.launch(sized(0.1, "sh", "-c", script, name="long"))
    state_is(page, "running")
    page.get_by_role("link", name="Logs", exact=True).last.click()
    log = page.get_by_role("log")
    expect(log).to_contain_text("the needle")
    follow = page.get_by_label("Follow", exact=True)
    expect(follow).to_be_checked()
    log.hover()
    page.mouse.wheel(0, -1000)
    expect(follow).not_to_be_checked()
    expect(log).not_to_contain_text("the needle")
    follow.check()
    expect(log).to_contain_text("the needle")
    page.get_by_label("Search", exact=True).fill("line 17")
    expect(page.get_by_text("111 lines")).to_be_visible()
    expect(log.locator(".hit")).to_have_text("line 17")
    expect(follow).not_to_be_checked()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download", exact=True).click()
    text = download.value.path().read_text()
    assert text.splitlines()[:2] == ["line 0", "line 1"]
    assert text.splitlines()[-1] == "the needle"
