"""A pipeline made in the browser, without JSON."""

from __future__ import annotations

import re
from pathlib import Path

from playwright.sync_api import expect

from tests.support.web import Visitor, counted_clicks, fits
from zoe_client import Client


def test_two_scripts_become_a_pipeline(admin: Visitor, client: Client, tmp_path: Path) -> None:
    (tmp_path / "prepare.sh").write_text("echo $1 > ~/table.txt\n")
    (tmp_path / "count.py").write_text(
        "import pathlib\nprint('got', (pathlib.Path.home() / 'table.txt').read_text())\n"
    )
    client.files.upload(tmp_path / "prepare.sh", "prepare.sh")
    page = admin.open("/workflows")
    clicks = counted_clicks(page)
    page.get_by_role("link", name="New", exact=True).click()
    first, second = page.get_by_role("group", name="Step 1"), page.get_by_role("group", name="Step 2")
    first.get_by_label("Script", exact=True).fill("prepare.sh")
    first.get_by_label("Arguments", exact=True).fill("'open")
    alert = page.get_by_label("Check", exact=True).get_by_role("alert")
    expect(alert.get_by_role("listitem")).to_contain_text("Step 1 › arguments: no closing quotation")
    first.get_by_label("Arguments", exact=True).fill("seven")
    page.get_by_role("button", name="Add a step", exact=True).click()
    second.get_by_label("Upload from this computer").set_input_files(str(tmp_path / "count.py"))
    expect(second.get_by_label("prepare", exact=True)).to_be_checked()
    expect(page.get_by_role("heading", name="It can run", exact=True)).to_be_visible()
    assert admin.violations() == []
    page.set_viewport_size({"width": 390, "height": 844})
    fits(admin)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_url(re.compile("/workflows/w[^/]+$"))
    assert clicks() <= 4
    expect(page.locator("main .badge").first).to_have_text("succeeded")
    graph = client.workflows.one(page.url.rsplit("/", 1)[1]).graph
    assert [step.name for step in graph] == ["prepare", "count"]
    first_run = page.url
    page.get_by_role("button", name="Run again", exact=True).click()
    page.wait_for_url(lambda url: url != first_run and "/workflows/w" in url)
    page.goto(first_run)
    page.get_by_role("link", name="Clone and edit", exact=True).click()
    expect(second.get_by_label("Script", exact=True)).to_have_value("count.py")


def test_a_schedule_is_made_from_its_page(admin: Visitor, client: Client) -> None:
    page = admin.open("/schedules")
    page.get_by_role("link", name="New", exact=True).click()
    page.get_by_role("link", name="One command").click()
    expect(page.get_by_label("When", exact=True)).to_have_value("daily")
    page.get_by_label("Name of the schedule").fill("hourly-hello")
    page.get_by_label("When", exact=True).select_option("At times of cron")
    page.get_by_label("Cron expression").fill("0 * * *")
    page.get_by_role("button", name="Add the schedule", exact=True).click()
    expect(page.get_by_role("alert").get_by_role("listitem")).to_contain_text("When")
    page.get_by_label("Cron expression").fill("0 * * * *")
    page.get_by_role("button", name="Add the schedule", exact=True).click()
    expect(page.get_by_role("heading", name="hourly-hello", exact=True)).to_be_visible()
    assert client.schedules.one("hourly-hello").expression == "0 * * * *"
    client.schedules.remove("hourly-hello")
