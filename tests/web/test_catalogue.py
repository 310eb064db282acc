"""The catalogue: found by words and tags, and missing entries show the command that installs them."""

from __future__ import annotations

import re

from playwright.sync_api import Browser, Page, Route, expect

from tests.support.web import Visitor, fits
from zoe_client import Client

TELEPHONE = 390


def titles(page: Page) -> list[str]:
    return page.locator(".tile strong").all_inner_texts()


def test_tags_filter_by_touch_and_stay_in_the_address(browser: Browser, admin: Visitor) -> None:
    phone = Visitor.of(browser, admin.url, has_touch=True, storage_state=admin.context.storage_state())
    page = phone.page
    page.set_viewport_size({"width": TELEPHONE, "height": 800})
    phone.open("/catalogue")
    tags = page.get_by_role("group", name="Filter by tag")
    spark = tags.get_by_role("button", name="spark", exact=True)
    spark.tap()
    expect(spark).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("One command")).to_have_count(0)
    fits(phone)
    tags.get_by_role("button", name="example", exact=True).tap()
    page.wait_for_url(re.compile("tag=spark&tag=example"))
    assert titles(page) == ["Energy report", "Energy report from Swift"]
    page.reload()
    expect(spark).to_have_attribute("aria-pressed", "true")
    page.get_by_label("Search", exact=True).fill("swift")
    expect(page.locator(".tile")).to_have_count(1)
    page.get_by_label("Search", exact=True).fill("nothing of this kind")
    page.get_by_role("button", name="Show all entries").tap()
    expect(page.get_by_role("link", name="One command")).to_be_visible()
    fits(phone)
    phone.close()
    assert phone.errors == []


def test_missing_entry_is_grey_and_names_the_command(admin: Visitor) -> None:
    page = admin.open("/catalogue?tag=mpi")
    tile = page.locator(".tile")
    expect(tile).to_contain_text("MPI program is not installed here.")
    expect(tile).to_contain_text("To make it run: end Zoe, run make mpi, and start it again.")
    expect(tile.locator("code")).to_have_text("make mpi")
    expect(page.get_by_role("link", name="MPI program")).to_have_count(0)
    admin.open("/catalogue")
    for section in ("Notebooks", "Spark", "Batch"):
        expect(page.get_by_role("region", name=section, exact=True).locator("svg").first).to_be_visible()
    assert page.locator(".tile:not(:has(svg))").count() == 0


def test_a_form_takes_a_repository_and_names_of_secrets(admin: Visitor, client: Client) -> None:
    client.set_secret("wandb", "hidden")
    page = admin.open("/catalogue/batch")
    page.get_by_text("Git repository", exact=True).click()
    address = page.get_by_label("Address", exact=True)
    address.fill("ext::sh")
    expect(page.get_by_text("helpers of git are not allowed").first).to_be_visible()
    address.fill("https://127.0.0.1:1/team/project.git")
    page.get_by_label("Branch, tag or commit", exact=True).fill("v1")
    page.get_by_label("Secret that opens it", exact=True).select_option("wandb")
    page.get_by_text("Secrets", exact=True).click()
    page.get_by_label("wandb", exact=True).check()
    expect(page.get_by_text("It would start now")).to_be_visible()
    page.wait_for_url(re.compile("_git=.*_git_ref=v1.*_git_secret=wandb.*&_secret=wandb"))
    page.reload()
    expect(page.get_by_label("wandb", exact=True)).to_be_checked()
    assert admin.violations() == []
    page.get_by_role("button", name="Launch", exact=True).click()
    expect(page.locator("main .badge").first).to_have_text("failed")
    expect(page.get_by_text("cloning project failed: unable to access").first).to_be_visible()
    execution = client.execution(page.url.split("/executions/")[1].split("/")[0])
    (component,) = execution.description["components"]
    assert component["secrets"] == [{"name": "wandb"}]
    assert component["sources"] == [
        {"git": "https://127.0.0.1:1/team/project.git", "ref": "v1", "into": "project", "secret": "wandb"}
    ]
    client.remove_secret("wandb")


def test_a_link_is_followed_though_the_settings_of_the_form_were_on_their_way_into_the_address(admin: Visitor) -> None:
    page = admin.open("/catalogue/batch")
    edit = page.get_by_role("link", name="Edit as JSON", exact=True)
    expect(edit).to_be_visible()
    code: list[Route] = []

    def hold(route: Route) -> None:
        code.append(route)

    page.route("**/assets/edit-*.js", hold)
    page.get_by_text("Deadline and promise", exact=True).click()
    page.get_by_label("Deadline", exact=True).fill("+3h")
    edit.click()
    page.wait_for_timeout(500)  # settings are in the address after a quarter of a second
    code[0].continue_()
    expect(page.get_by_label("Description as JSON", exact=True)).to_contain_text('"deadline": "+3h"')
    page.unroute("**/assets/edit-*.js")


def test_what_is_wrong_stands_at_its_field_and_the_summary_has_the_focus(admin: Visitor) -> None:
    page = admin.open("/catalogue/batch")
    command = page.get_by_label("Command", exact=True)
    command.fill("")
    page.get_by_role("button", name="Launch", exact=True).click()
    expect(page.locator(".field-error", has_text="must not be empty")).to_be_visible()
    expect(page.locator(".problem").first).to_be_focused()
    expect(command).to_have_attribute("aria-invalid", "true")
    described = command.get_attribute("aria-describedby") or ""
    assert [page.locator(f"[id='{one}']").count() for one in described.split()] == [1, 1]
    command.fill("true")
    page.get_by_label("When").select_option("daily")
    page.get_by_label("Name of the schedule").fill("bad name!")
    page.get_by_role("button", name="Add the schedule").click()
    expect(page.locator(".field-error", has_text="beginning with a letter or digit")).to_be_visible()
    assert admin.violations() == []
