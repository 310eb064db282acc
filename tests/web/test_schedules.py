"""The page of schedules and stored applications, and what differs between two runs."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.support.documents import job
from tests.support.web import Visitor
from zoe_client import Client
from zoe_client.wire import ScheduleRequest


def test_a_schedule_is_held_run_and_removed(admin: Visitor, client: Client) -> None:
    document = {**job("true"), "size": {"run_time_s": 1}}
    given = ScheduleRequest(
        expression="@yearly", zone="Europe/Paris", document=document, finish_by="+3h", ahead_s=7200.0
    )
    client.schedules.put("yearly", given)
    client.schedules.put("zz", given.model_copy(update={"expression": "@monthly"}))
    page = admin.open("/schedules")
    row = page.get_by_role("row", name=re.compile("^yearly"))
    expect(row).to_contain_text("Europe/Paris")
    row.get_by_role("button", name="hold yearly").click()
    expect(row).to_contain_text("held")
    row.get_by_role("button", name="release yearly").click()
    expect(row).not_to_contain_text("held")
    page.once("dialog", lambda dialog: dialog.accept())
    run_now = row.get_by_role("button", name="Run now: yearly")
    expect(run_now).to_be_enabled()
    run_now.press("Enter")
    expect(page.get_by_text("yearly has a run in the queue.")).to_be_visible()
    expect(run_now).to_be_focused()
    expect(row.get_by_role("link", name="succeeded")).to_be_visible(timeout=30_000)
    row.get_by_role("button", name="yearly", exact=True).click()
    expect(page.get_by_role("region", name="Schedule yearly")).to_contain_text("by hand")
    expect(page.get_by_role("region", name="Schedule yearly")).to_contain_text(
        "90% confidence. It is submitted 2 h 0 min before"
    )
    page.get_by_label("Past times from").fill("2024-06-01T00:00")
    page.get_by_label("to", exact=True).fill("2026-06-01T00:00")
    page.get_by_role("button", name="Run past times").click()
    expect(page.get_by_role("form", name="Run past times of yearly")).to_contain_text("2 times were submitted.")
    assert admin.violations() == []
    page.once("dialog", lambda dialog: dialog.accept())
    expect(run_now).to_be_enabled()
    row.get_by_role("button", name="Remove yearly").press("Enter")
    expect(row).to_have_count(0)
    assert "yearly" not in page.url
    expect(page.get_by_text("yearly is removed.")).to_be_visible()
    remove_other = page.get_by_role("button", name="Remove zz")
    expect(remove_other).to_be_focused()
    page.once("dialog", lambda dialog: dialog.accept())
    remove_other.press("Enter")
    expect(page.get_by_role("link", name="Make a schedule")).to_be_visible()
    expect(page.get_by_role("heading", name="Schedules")).to_be_focused()


def test_a_stored_application_runs_with_values_and_is_compared(admin: Visitor, client: Client) -> None:
    params = {"day": {"default": "monday"}, "rows": {"type": "integer"}}
    client.applications.put("report", {**job("echo", "{param:day}", "{param:rows}", name="report"), "params": params})
    earlier = client.applications.dispatch("report", {"rows": 1}).id
    page = admin.open("/schedules")
    page.get_by_role("button", name="Run report …").click()
    page.get_by_label("day").fill("friday")
    page.get_by_label("rows").fill("7")
    page.get_by_role("button", name="Run it").click()
    page.wait_for_url("**/executions/*")
    page.get_by_role("link", name="Description").click()
    page.get_by_text("Compare with the one before of this name").click()
    expect(page.get_by_role("link", name=earlier)).to_be_visible()
    expect(page.get_by_role("row", name="/components/main/command")).to_contain_text("friday")
    client.applications.remove("report")
