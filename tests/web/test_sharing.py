"""An owner shares an execution, and another user of the tenant sees what that gives, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, expect

from tests.support.documents import job
from tests.support.waiting import until
from tests.support.web import Visitor
from zoe_client import Client
from zoe_embedded.stack import Stack
from zoe_lib.domain.applications.roles import Role
from zoe_lib.domain.executions.execution import ExecutionState

PASSWORD = "correct horse battery"


@pytest.fixture
def bob(browser: Browser, stack: Stack, client: Client) -> Iterator[Visitor]:
    client.admin.add_user("bob", PASSWORD)
    client.admin.set_role("bob", "default", Role.USER)
    visitor = Visitor.of(browser, stack.url)
    visitor.sign_in("bob", PASSWORD)
    yield visitor
    visitor.close()


def test_the_owner_shares_and_the_other_looks(admin: Visitor, bob: Visitor, client: Client) -> None:
    execution = client.submit(job("sleep", "600", name="private"))
    until(lambda: client.execution(execution.id).state is ExecutionState.RUNNING)
    theirs = bob.open(f"/executions/{execution.id}")
    expect(theirs.get_by_text("It does not exist, or you may not see it").first).to_be_visible()
    page = admin.open(f"/executions/{execution.id}")
    page.get_by_role("button", name="Share", exact=True).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Only you and operators see it.")).to_be_visible()
    dialog.get_by_label("User", exact=True).fill("bob")
    dialog.get_by_role("button", name="Share", exact=True).click()
    shares = dialog.get_by_role("list", name="Shared with")
    expect(shares).to_contain_text("bob: look")
    expect(dialog.get_by_text("Warning")).to_have_count(0)
    theirs = bob.open(f"/executions/{execution.id}")
    expect(theirs.get_by_role("heading", name="private")).to_be_visible()
    expect(theirs.get_by_role("button", name="Share", exact=True)).to_have_count(0)
    expect(theirs.get_by_role("button", name="Run again")).to_be_visible()
    expect(theirs.get_by_role("button", name="Cancel", exact=True)).to_have_count(0)
    dialog.get_by_label("User", exact=True).fill("bob")
    dialog.get_by_label("For").select_option("control")
    dialog.get_by_role("button", name="Share", exact=True).click()
    expect(shares).to_contain_text("bob: control")
    theirs = bob.open(f"/executions/{execution.id}")
    expect(theirs.get_by_role("button", name="Cancel", exact=True)).to_be_visible()
    expect(dialog.get_by_text("read and change the owner")).to_be_visible()
    dialog.get_by_role("button", name="End", exact=True).click()
    expect(dialog.get_by_text("Only you and operators see it.")).to_be_visible()
    assert client.shares(execution.id).shares == []


def test_secrets_are_stored_and_removed_and_never_shown(admin: Visitor, client: Client) -> None:
    page = admin.open("/account")
    section = page.get_by_role("region", name="Secrets")
    section.get_by_label("Name").fill("db")
    section.get_by_label("Value").fill("not to be shown")
    section.get_by_role("button", name="Store it").click()
    expect(section.get_by_role("row", name="db")).to_contain_text("15")
    expect(section.get_by_label("Value")).to_have_value("")
    assert [(secret.name, secret.size_bytes) for secret in client.secrets().secrets] == [("db", 15)]
    page.once("dialog", lambda dialog: dialog.accept())
    section.get_by_role("button", name="Remove db").click()
    expect(section.get_by_role("row", name="db")).to_have_count(0)
    assert client.secrets().secrets == []
