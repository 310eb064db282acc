"""Own scripts in the browser: from a file of this computer to its output, without a description."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.support.web import Visitor, counted_clicks, fits, tab_to
from zoe_client import Client

SCRIPT = "import os, sys\nprint('sum', sum(map(int, sys.argv[1:])), os.environ['MODE'])\n"


@pytest.fixture
def script(tmp_path: Path, client: Client) -> Path:
    path = tmp_path / "add up.py"
    path.write_text(SCRIPT)
    return path


def run_and_read(page: Page, button: str = "Run") -> None:
    page.get_by_role("button", name=button, exact=True).click()
    page.wait_for_url(re.compile("/executions/[^/?]+$"))
    page.get_by_role("link", name="Read the output", exact=True).click()
    expect(page.get_by_role("log")).to_contain_text("sum 7 full")


def test_a_script_of_this_computer_runs_with_arguments_and_variables(
    admin: Visitor, client: Client, script: Path
) -> None:
    page = admin.open("/catalogue")
    clicks = counted_clicks(page)
    page.get_by_role("link", name="Python script").click()
    page.get_by_label("Upload from this computer").set_input_files(str(script))
    expect(page.get_by_label("Script", exact=True)).to_have_value("add up.py")
    page.get_by_label("Arguments", exact=True).fill("3 4")
    page.get_by_text("Variables", exact=True).click()
    page.get_by_label("Variables, one in each line").fill("MODE")
    expect(page.get_by_text("It would start now")).to_be_visible()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_role("alert").get_by_role("listitem")).to_contain_text("Variables › line 1")
    variables = page.get_by_label("Variables, one in each line")
    expect(variables).to_have_attribute("aria-invalid", "true")
    expect(variables).to_have_accessible_description(re.compile("line 1: MODE is no variable"))
    assert admin.violations() == []
    variables.fill("MODE=full")
    expect(variables).not_to_have_attribute("aria-invalid", "true")
    assert admin.violations() == []
    run_and_read(page)
    assert clicks() <= 5
    (execution,) = [one for one in client.executions().executions if one.name == "add-up"]
    description = client.execution(execution.id).description
    assert description["components"][0]["command"] == ["python3", "-u", "{workspace}/add up.py", "3", "4"]
    page.evaluate("localStorage.clear()")  # another browser, which did not make it
    page.get_by_role("link", name="Clone and edit", exact=True).click()
    expect(page.get_by_label("Script", exact=True)).to_have_value("add up.py")
    expect(page.get_by_label("Arguments", exact=True)).to_have_value("3 4")
    expect(page.get_by_label("Variables, one in each line")).to_have_value("MODE=full")


def test_files_lead_to_the_form_of_a_script(admin: Visitor, client: Client, script: Path) -> None:
    client.files.make_directory("work")
    client.files.upload(script, "work/again.py")
    page = admin.open("/files?in=workspace&path=work")
    page.get_by_role("link", name="Run again.py").click()
    expect(page.get_by_label("Script", exact=True)).to_have_value("work/again.py")
    page.get_by_label("Script", exact=True).fill("work/gone.py")
    expect(page.get_by_text("My workspace has no file work/gone.py")).to_be_visible()
    page.get_by_role("button", name="Choose from Files", exact=True).click()
    page.get_by_role("button", name="work/", exact=True).click()
    page.get_by_role("button", name="again.py", exact=True).click()
    expect(page.get_by_label("Script", exact=True)).to_have_value("work/again.py")
    page.set_viewport_size({"width": 390, "height": 844})
    fits(admin)


def test_a_script_becomes_a_schedule(admin: Visitor, client: Client, script: Path) -> None:
    client.files.upload(script, "again.py")
    page = admin.open("/catalogue/python-script?file=again.py")
    page.get_by_label("When", exact=True).select_option("Every day")
    expect(page.get_by_role("heading", name="It would enter the queue every day at 02:30")).to_be_visible()
    page.get_by_role("button", name="Add the schedule", exact=True).click()
    expect(page.get_by_role("alert").get_by_role("listitem")).to_contain_text("Name of the schedule")
    page.get_by_role("button", name="Name of the schedule:").click()
    expect(page.get_by_label("Name of the schedule")).to_be_focused()
    page.get_by_label("Name of the schedule").fill("nightly-sum")
    page.get_by_role("button", name="Add the schedule", exact=True).click()
    expect(page.get_by_role("heading", name="nightly-sum", exact=True)).to_be_visible()
    found = client.schedules.one("nightly-sum")
    assert found.expression == "30 2 * * *"
    page.get_by_role("link", name="Change nightly-sum").click()
    page.get_by_label("Time of the day").fill("03:15")
    page.get_by_role("button", name="Change the schedule", exact=True).click()
    page.get_by_role("link", name="Change nightly-sum").click()
    expect(page.get_by_label("Time of the day")).to_have_value("03:15")
    page.get_by_role("link", name="Change it in its form").click()
    expect(page.get_by_label("Script", exact=True)).to_have_value("again.py")
    page.get_by_label("Arguments", exact=True).fill("5 6")
    page.get_by_role("button", name="Change the schedule", exact=True).click()
    expect(page.get_by_role("heading", name="nightly-sum", exact=True)).to_be_visible()
    changed = client.schedules.one("nightly-sum")
    assert (changed.expression, changed.zone) == ("15 3 * * *", found.zone)
    assert changed.document is not None
    assert changed.document["components"][0]["command"][-2:] == ["5", "6"]
    client.schedules.remove("nightly-sum")


def test_a_script_runs_by_keyboard_alone(admin: Visitor, client: Client, script: Path) -> None:
    client.files.upload(script, "keys.py")
    page = admin.open("/catalogue/python-script")
    keys = page.keyboard
    page.get_by_label("Script", exact=True).focus()
    keys.type("keys.py")
    tab_to(page, "Arguments")
    keys.type("3 4")
    tab_to(page, "Variables")
    keys.press("Enter")
    tab_to(page, "Variables, one in each line")
    keys.type("MODE=full")
    tab_to(page, "Run")
    keys.press("Enter")
    page.wait_for_url(re.compile("/executions/[^/?]+$"))
    tab_to(page, "Read the output")
    keys.press("Enter")
    expect(page.get_by_role("log")).to_contain_text("sum 7 full")
