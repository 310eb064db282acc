"""Deadlines in a real browser: given in the form, answered before submission, shown in the list and on the page."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.support.cluster_size import all_cores
from tests.support.documents import job, sized
from tests.support.waiting import until
from tests.support.web import Visitor, fits
from zoe_client import Client
from zoe_client.vocabulary import DeadlineStatus, ExecutionState

PHONE = {"width": 390, "height": 844}
CET = re.compile(r"deadline \d{4}-\d\d-\d\d 08:00:00 CES?T \(\d{4}-\d\d-\d\d 0[67]:00:00 UTC\)")
LONG = job("sleep", "4000", size={"run_time_s": 4000}, name="too-long")


@pytest.fixture
def parisian(browser: Browser, admin: Visitor) -> Iterator[Visitor]:
    """The admin, whose browser is in Paris."""
    state = admin.context.storage_state()
    visitor = Visitor.of(browser, admin.url, timezone_id="Europe/Paris", storage_state=state)
    yield visitor
    visitor.close()
    assert visitor.errors == []


@pytest.fixture
def missed(client: Client) -> str:
    """The id of an execution that has missed its deadline and runs on."""
    one = client.submit(LONG, deadline="+1s").id
    until(lambda: (view := client.execution(one).deadline) and view.status is DeadlineStatus.MISSED)
    return one


def test_a_time_of_day_is_the_browsers_and_comes_back_in_full(parisian: Visitor, client: Client) -> None:
    page = parisian.open("/catalogue/batch?execution_deadline=08%3A00")
    page.get_by_role("link", name="Edit as JSON", exact=True).click()
    expect(page.get_by_label("Description as JSON", exact=True)).to_contain_text('"deadline": "08:00 Europe/Paris"')
    expect(page.get_by_label("What would happen", exact=True)).to_contain_text(CET)
    parisian.open("/catalogue/batch")
    answer = page.get_by_label("What would happen", exact=True)
    page.get_by_text("Deadline and promise", exact=True).click()
    deadline = page.get_by_label("Deadline", exact=True)
    deadline.fill("08:00")
    expect(answer).to_contain_text(CET)
    deadline.fill("+3h")
    expect(answer).not_to_contain_text(CET)
    expect(answer).to_contain_text(re.compile(r"deadline .* UTC"))
    deadline.fill("2020-01-01")
    expect(answer).to_contain_text("has passed")
    deadline.fill("soon")
    expect(answer).to_contain_text("is not a time")
    page.get_by_role("button", name="Launch", exact=True).click()
    expect(page.get_by_label("Settings", exact=True).get_by_role("alert")).to_contain_text("Deadline")
    deadline.fill("08:00")
    page.wait_for_url(re.compile("execution_deadline=08%3A00"))
    page.reload()
    expect(deadline).to_have_value("08:00")
    assert parisian.violations() == []
    before_s = time.time()
    deadline.press("Tab")
    page.get_by_role("button", name="Launch", exact=True).press("Enter")
    page.wait_for_url("**/executions/*")
    execution = client.wait(page.url.rsplit("/", 1)[-1], 60)
    assert execution.deadline_s is not None
    assert 0 < execution.deadline_s - before_s <= 25 * 3600
    page.get_by_text("Details", exact=True).click()
    expect(page.locator(".facts", has_text="Deadline")).to_contain_text(re.compile(r"\d{4}.*08:00:00.*, met"))


def test_unmeetable_deadline_is_shown_before_the_launch(admin: Visitor, client: Client) -> None:
    sleeping = job("sleep", "6", name="batch")
    for _ in range(2):
        # Long, since with so few runs the errors of all kinds of this tenant count, and tests misjudge many.
        assert client.wait(client.submit(sleeping).id, 60).state is ExecutionState.SUCCEEDED
    answer = admin.page.get_by_label("What would happen", exact=True)
    for document, words in (
        (
            {**sleeping, "deadline_s": 1},
            r"cannot be met: earliest end p50 .* / p90 .*, by .* of its past runs of \d+(\.\d)? s",
        ),
        ({**sleeping, "deadline_s": 7200}, "is expected to be met"),
        ({**LONG, "deadline_s": 30}, "cannot be met: earliest end p50 .*, by its declared run time of 4000 s"),
    ):
        source = client.submit(document, hold=True)
        admin.open(f"/new?from={source.id}")
        expect(answer).to_contain_text(re.compile(words))
        client.cancel(source.id)


def test_the_list_shows_and_filters_by_it(admin: Visitor, client: Client, missed: str) -> None:
    client.wait(client.submit(job("true", name="in-time"), deadline="+1h").id, 60)
    cores = all_cores(client)
    filler = sized(cores - 0.5, "sleep", "3000", name="filler", size={"run_time_s": 3000})
    client.submit(filler)
    waiting = client.submit({**LONG, "components": filler["components"], "name": "behind"}, deadline="+2h").id
    until(lambda: (view := client.execution(waiting).deadline) and view.status is DeadlineStatus.AT_RISK)
    page = admin.open("/executions?state=queued&state=running&state=succeeded")
    rows = page.get_by_role("row")
    expect(page.get_by_role("columnheader", name="Deadline", exact=True)).to_be_visible()
    expect(rows.filter(has_text="too-long")).to_contain_text("missed (too short)")
    expect(rows.filter(has_text="in-time").first).to_contain_text("met")
    expect(rows.filter(has_text="behind")).to_contain_text("at risk")
    assert admin.violations() == []
    choice = page.get_by_role("combobox", name="Deadline", exact=True)
    for status, name in (("missed", "too-long"), ("at_risk", "behind"), ("met", "in-time")):
        choice.select_option(status)
        page.wait_for_url(re.compile(f"deadline={status}"))
        expect(rows.filter(has_text=name).first).to_be_visible()
        for other in {"too-long", "behind", "in-time"} - {name}:
            expect(rows.filter(has_text=other)).to_have_count(0)
    page.reload()
    expect(choice).to_have_value("met")


def test_a_miss_comes_into_the_filtered_list_by_itself(admin: Visitor, client: Client) -> None:
    page = admin.open("/executions?deadline=missed&name=comes")
    expect(page.get_by_text("live", exact=True)).to_be_visible()
    client.submit({**LONG, "name": "comes"}, deadline="+2s")
    expect(page.get_by_role("row").filter(has_text="comes")).to_contain_text("missed")


def test_its_page_shows_the_cause_and_the_seconds_lost(admin: Visitor, client: Client, missed: str) -> None:
    page = admin.open(f"/executions/{missed}")
    lead = page.locator(".lead")
    expect(lead).to_contain_text(re.compile("It missed its deadline, .*: there was less time than the run takes"))
    page.get_by_text("Details", exact=True).click()
    expect(page.locator(".facts", has_text="Deadline")).to_contain_text(", missed (too short)")
    page.get_by_role("link", name="Events", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="deadline missed")).to_contain_text("too_short")
    assert admin.violations() == []
    held = client.submit({**LONG, "name": "late-input", "size": {"run_time_s": 1}}, hold=True, deadline="+2s").id
    admin.open(f"/executions/{held}")
    expect(lead).to_contain_text(re.compile(r"It missed .*: it entered the queue late.* \(\d\.\d s before"))


def test_it_is_there_on_a_telephone_and_by_keyboard(browser: Browser, admin: Visitor, missed: str) -> None:
    phone = Visitor.of(browser, admin.url, storage_state=admin.context.storage_state())
    page = phone.page
    page.set_viewport_size(PHONE)
    phone.open("/executions")
    row = page.get_by_role("row").filter(has_text="running")
    expect(row).to_contain_text("missed (too short)", use_inner_text=True)
    page.get_by_role("combobox", name="Deadline", exact=True).focus()
    page.keyboard.type("missed")
    page.wait_for_url(re.compile("deadline=missed"))
    fits(phone)
    phone.open(f"/executions/{missed}")
    expect(page.get_by_text(re.compile("It missed its deadline"))).to_be_visible()
    fits(phone)
    phone.open("/catalogue/batch")
    page.get_by_label("Name of this execution", exact=True).focus()
    for key in ("Tab", "Enter", "Tab"):  # opens the line of the deadline
        page.keyboard.press(key)
    page.keyboard.type("+3h")
    expect(page.get_by_label("What would happen", exact=True)).to_contain_text("deadline ")
    fits(phone)
    phone.close()
    assert phone.errors == []
