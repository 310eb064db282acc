"""What keeps an execution from the queue, on its page in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.support.documents import job
from tests.support.web import Visitor
from zoe_client import Client
from zoe_client.vocabulary import ExecutionState


def test_it_is_released_and_runs_after_the_other_one(admin: Visitor, client: Client) -> None:
    first = client.submit(job("true", name="prepare"), hold=True)
    second = client.submit(job("true", name="report"), after=[f"ok:{first.id}"])
    page = admin.open(f"/executions/{second.id}")
    lead = page.locator(".lead")
    expect(lead).to_contain_text("It runs after another execution.")
    page.get_by_text("Details", exact=True).click()
    page.get_by_role("link", name=first.id).click()
    expect(lead).to_contain_text("It is held.")
    assert admin.violations() == []
    page.get_by_role("button", name="Release", exact=True).click()
    expect(lead).to_contain_text(re.compile(r"It succeeded .*"))
    expect(page.get_by_role("button", name="Release", exact=True)).to_have_count(0)
    assert client.wait(second.id, 30).state is ExecutionState.SUCCEEDED


def test_it_is_held_and_its_changes_are_told_without_its_description(admin: Visitor, client: Client) -> None:
    later = client.submit(job("true", name="later"), begin_at_s=3e9)
    page = admin.open(f"/executions/{later.id}")
    expect(page.locator(".lead")).to_contain_text("It does not begin before 2065-01-24 05:20:00 UTC.")
    page.get_by_role("button", name="Hold", exact=True).click()
    expect(page.get_by_role("button", name="Release", exact=True)).to_be_visible()
    expect(page.locator(".lead")).to_contain_text("It is held.")
    page.get_by_role("link", name="Events", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="held")).to_contain_text("by: user")
    client.cancel(later.id)
