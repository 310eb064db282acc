"""The tour of docs/use/web.md: one walk through the pages, which draws its pictures anew when somebody asks for it."""

from __future__ import annotations

import re

from playwright.sync_api import Page, expect

from tests.support.documents import document, part
from tests.support.web import PICTURES, Visitor
from zoe_client import Client

READINGS = "region,dwelling,kwh\nnorth,flat,231\nnorth,house,518\nsouth,flat,204\nsouth,house,477\n"
REPORT = """
import csv, sys, time
totals = {}
for row in csv.DictReader(open("readings.csv")):
    totals[row["region"]] = totals.get(row["region"], 0) + int(row["kwh"])
with open("totals.csv", "w") as file:
    file.write("region,kwh\\n" + "".join(f"{region},{kwh}\\n" for region, kwh in totals.items()))
print(totals, flush=True)
time.sleep(600)
"""


def picture(visitor: Visitor, name: str) -> None:
    visitor.settled()
    if PICTURES is not None:
        visitor.page.screenshot(path=PICTURES / f"web-{name}.png")


def clicked_tags(page: Page, *tags: str) -> None:
    group = page.get_by_role("group", name="Filter by tag")
    for tag in tags:
        group.get_by_role("button", name=tag, exact=True).click()


def test_the_tour(admin: Visitor, client: Client) -> None:
    page = admin.open("/catalogue")
    clicked_tags(page, "python")
    expect(page.get_by_text("One command")).to_have_count(0)
    picture(admin, "catalogue-tags")

    admin.open("/account")
    wheel = page.get_by_role("link", name="the wheel", exact=True).get_attribute("href")
    assert admin.context.request.get(str(wheel)).body()[:2] == b"PK"
    secrets = page.get_by_label("Secrets", exact=True)
    secrets.get_by_label("Name", exact=True).fill("wandb")
    secrets.get_by_label("Value", exact=True).fill("a value that no page shows")
    secrets.get_by_role("button", name="Store it", exact=True).click()
    expect(secrets.get_by_role("cell", name="wandb", exact=True)).to_be_visible()
    secrets.scroll_into_view_if_needed()
    picture(admin, "secrets")

    admin.open("/files")
    files = [("readings.csv", READINGS), ("report.py", REPORT)]
    page.get_by_label("Upload files").set_input_files(
        [{"name": name, "mimeType": "text/plain", "buffer": text.encode()} for name, text in files]
    )
    expect(page.get_by_role("button", name="report.py", exact=True)).to_be_visible()
    page.get_by_role("button", name="readings.csv", exact=True).click()
    expect(page.get_by_role("dialog").get_by_role("cell", name="518")).to_be_visible()
    picture(admin, "files")
    page.get_by_role("button", name="Close").click()

    admin.open("/catalogue/batch?command=python3+report.py&_git=https://example.org/energy/models.git&_git_ref=main")
    page.get_by_text("Secrets", exact=True).click()
    page.get_by_label("wandb", exact=True).check()
    expect(page.get_by_text("It would start now")).to_be_visible()
    picture(admin, "form")

    reporting = part(
        "report", "python3", "{workspace}/report.py", image="zoe/python", work_dir="{workspace}", ends_application=True
    )
    execution = client.submit({**document(reporting, name="energy-report"), "results": ["totals.csv"]})
    admin.open(f"/executions/{execution.id}")
    results = page.get_by_label("Results", exact=True)
    expect(results.get_by_role("button", name="totals.csv", exact=True)).to_be_visible()
    expect(page.get_by_label("Use", exact=True)).to_contain_text("Memory")
    picture(admin, "execution-results")
    page.get_by_role("button", name="Terminal in report-0").click()
    screen = page.get_by_role("dialog").locator(".xterm-rows")
    expect(screen).to_contain_text(re.compile(r"[$#] "))
    page.keyboard.type("PS1='$ '; clear\n")  # the path of a test's directory is no news to readers
    page.keyboard.type("cat totals.csv\n")
    expect(screen).to_contain_text("south,681")
    dialog = page.get_by_role("dialog")
    assert dialog.evaluate("one => one.scrollWidth <= one.clientWidth"), "the terminal is wider than its window"
    picture(admin, "terminal")
    client.remove_secret("wandb")
    for name in ("readings.csv", "report.py", "totals.csv"):
        client.files.delete(name)
