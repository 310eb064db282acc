"""The page of an execution leads with what one came for."""

from __future__ import annotations

import os
import re
import signal

from playwright.sync_api import expect

from tests.support.documents import document, job, part
from tests.support.stack import running_stack
from tests.support.web import Browser, Visitor, fits
from zoe_client import Client

TELEPHONE = {"width": 390, "height": 844}


def web_server(**changes: object) -> dict[str, object]:
    port = {"name": "lab", "number": 8000, "protocol": "http", "proxied": True}
    server = part("notebook", "python3", "-m", "http.server", "{port:lab}", image="zoe/python", ports=[port])
    return document({**server, "ends_application": True, "readiness": {"http": "lab"}}, name="lead", **changes)


def test_it_leads_with_one_button_and_the_state_in_a_sentence(admin: Visitor, client: Client) -> None:
    page = admin.page
    client.submit(web_server(kind="interactive", time_limit_s=3600))
    admin.open("/executions")
    page.get_by_role("link", name="lead").first.click()
    with admin.context.expect_page() as opened:
        page.get_by_role("button", name="Open notebook", exact=True).click()
    expect(opened.value.get_by_text("Directory listing")).to_be_visible()
    expect(page.locator("main .primary")).to_have_count(1)
    expect(page.get_by_text(re.compile(r"It has been running for .* on local\."))).to_be_visible()
    use = page.get_by_label("Use", exact=True)
    expect(use).to_contain_text(re.compile(r"Memory.* of 64 MiB"))
    expect(use).to_contain_text("Its time limit ends it at")
    expect(use).to_contain_text("when nobody uses it")
    steps = page.get_by_label("Timeline", exact=True).get_by_role("listitem")
    expect(steps).to_have_text([re.compile("submitted"), re.compile("ready"), re.compile("ended")])
    page.get_by_role("button", name="Show all 7 steps", exact=True).click()
    expect(steps).to_have_count(7)
    page.get_by_role("link", name="Events", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="start planned")).to_contain_text("node: local, service: notebook-0")
    assert "{" not in page.locator("main").inner_text()
    assert admin.violations() == []


def test_progress_is_a_bar_that_moves_and_says_what_is_not_understood(admin: Visitor, client: Client) -> None:
    page, where = admin.page, "while [ ! -e go-on ]; do sleep 0.1; done"
    script = f"mkdir -p far; echo 1 4 > far/p; {where}; echo 3 4 > far/p; sleep 7; echo lies > far/p; sleep 600"
    tells = document(part("main", "sh", "-c", script, work_dir="{workspace}", progress={"file": "far/p"}), name="tells")
    execution = client.submit(tells)
    admin.open(f"/executions/{execution.id}")
    bar = page.get_by_role("progressbar", name="Progress")
    expect(bar).to_have_attribute("value", "0.25", timeout=30_000)
    expect(page.get_by_text("25 %; 1 of 4")).to_be_visible()
    assert admin.violations() == []
    client.files.make_directory("go-on")
    expect(bar).to_have_attribute("value", "0.75", timeout=30_000)
    expect(page.get_by_text("Progress not understood: it is not a number")).to_be_visible(timeout=30_000)
    expect(bar).to_have_attribute("value", "0.75")
    client.files.delete("go-on", recursive=True)
    client.files.delete("far", recursive=True)


def test_results_are_listed_seen_and_downloaded(admin: Visitor, client: Client) -> None:
    page = admin.page
    script = "mkdir -p out; sleep 2; printf 'city,people\\nNice,343000\\n' > out/cities.csv"
    leaves = {**job("sh", "-c", script, name="leaves"), "results": ["out/*.csv", "never.txt"]}
    leaves["components"][0]["work_dir"] = "{workspace}"
    execution = client.submit(leaves)
    admin.open(f"/executions/{execution.id}")
    results = page.get_by_label("Results", exact=True)
    expect(results).to_contain_text("There is no file never.txt yet.")
    client.wait(execution.id, 60)
    expect(results).to_contain_text("It left no file never.txt.")
    results.get_by_role("button", name="out/cities.csv", exact=True).click()
    expect(page.get_by_role("dialog").get_by_role("cell", name="343000")).to_be_visible()
    assert admin.violations() == []
    page.get_by_role("button", name="Close").click()
    with page.expect_download() as downloading:
        results.get_by_role("link", name="Download out/cities.csv").click()
    assert downloading.value.path().read_text() == "city,people\nNice,343000\n"
    client.files.delete("out", recursive=True)


def test_by_touch_on_a_telephone(browser: Browser, admin: Visitor, client: Client) -> None:
    phone = Visitor.of(browser, admin.url, has_touch=True, storage_state=admin.context.storage_state())
    page = phone.page
    page.set_viewport_size(TELEPHONE)  # type: ignore[arg-type]
    phone.open("/catalogue")
    page.get_by_role("link", name="One command").tap()
    page.get_by_label("Command", exact=True).fill("sh -c 'echo by touch; sleep 600'")
    fits(phone)
    page.get_by_role("button", name="Launch", exact=True).tap()
    expect(page.locator("main .badge").first).to_have_text("running")
    fits(phone)
    phone.open("/executions?state=running")
    row = page.get_by_role("row").filter(has_text="batch")
    expect(row.get_by_role("cell").last).to_contain_text("up since")
    fits(phone)
    row.get_by_role("link").tap()
    page.get_by_role("link", name="Read the output", exact=True).tap()
    expect(page.get_by_role("log")).to_contain_text("by touch")
    fits(phone)
    page.get_by_role("button", name="Cancel", exact=True).tap()
    page.get_by_role("button", name="Cancel the execution", exact=True).tap()
    expect(page.locator("main .badge").first).to_have_text("cancelled")
    phone.close()
    assert phone.errors == []


def test_settings_are_saved_by_name(admin: Visitor) -> None:
    page = admin.open("/catalogue/batch?command=echo+kept")
    page.locator("summary", has_text="Saved settings").click()
    page.get_by_label("Save these settings as").fill("mine")
    page.get_by_role("button", name="Save", exact=True).click()
    admin.open("/catalogue/batch")
    expect(page.get_by_label("Command", exact=True)).to_have_value("echo hello")
    page.locator("summary", has_text="Saved settings (1)").click()
    page.get_by_role("button", name="mine", exact=True).click()
    expect(page.get_by_label("Command", exact=True)).to_have_value("echo kept")
    page.get_by_role("button", name="Remove mine", exact=True).click()
    expect(page.get_by_label("Saved settings", exact=True).get_by_role("listitem")).to_have_count(0)


def test_an_api_that_hangs_is_told_once(browser: Browser) -> None:
    with running_stack(forked=True) as stack:
        visitor = Visitor.of(browser, stack.url)
        page = visitor.sign_in("admin", stack.password)
        page.get_by_role("link", name="Executions", exact=True).click()
        expect(page.get_by_label("Load", exact=True)).to_contain_text("0 running, 0 waiting")
        api = stack.processes["zoe_api.main"]
        os.kill(api, signal.SIGSTOP)
        try:
            expect(page.get_by_text("Zoe does not answer")).to_be_visible()
            expect(page.get_by_text("no connection, retrying")).to_be_visible()
            expect(page.get_by_role("alert")).to_have_count(0)
        finally:
            os.kill(api, signal.SIGCONT)
        expect(page.get_by_text("Zoe does not answer")).to_have_count(0)
        visitor.close()
    assert visitor.errors == []


def test_before_the_first_measurement_the_page_says_when_it_comes(browser: Browser) -> None:
    """Each minute, so that the page is looked at before."""
    with running_stack(forked=True, usage_interval_s=60.0) as stack, Client(stack.url, stack.token) as client:
        visitor = Visitor.of(browser, stack.url)
        visitor.sign_in("admin", stack.password)
        submitted = client.submit(job("sleep", "600"))
        page = visitor.open(f"/executions/{submitted.id}")
        use = page.get_by_label("Use", exact=True)
        expect(use).to_contain_text(re.compile("measured every 1 min 0 s; the first measurement is shown within 1 min"))
        visitor.close()
    assert visitor.errors == []
