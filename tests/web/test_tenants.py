"""Two tenants in one installation: each sees its own, in the browser, too."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.documents import sized
from tests.support.stack import running_stack
from tests.support.waiting import until
from tests.support.web import Visitor, cancel_all
from zoe_client import Client
from zoe_client.vocabulary import ShareLevel
from zoe_embedded.stack import Stack
from zoe_lib.domain.applications.roles import Role
from zoe_lib.domain.executions.execution import ExecutionState

PASSWORD = "a password for tests"


@pytest.fixture(scope="module")
def two_tenants() -> Iterator[Stack]:
    """The local back-end takes a second tenant only where all trust each other."""
    with running_stack(forked=True, insecure=True) as running:
        with Client(running.url, running.token) as client:
            client.admin.add_tenant("blue")
            client.admin.add_user("bea", PASSWORD)
            client.admin.set_role("bea", "blue", Role.USER)
            client.admin.add_user("both", PASSWORD)
            client.admin.set_role("both", "blue", Role.ADMIN)
            client.admin.set_role("both", "default", Role.USER)
        yield running


def set_limit(page: Page, whose: str, amount: str, most: str) -> None:
    """Of the tenant blue."""
    form = page.get_by_role("form", name="Set a limit")
    for label, option in (("Tenant", "blue"), ("Of", whose), ("Amount", amount)):
        form.get_by_role("combobox", name=label, exact=True).select_option(option)
    form.get_by_label("At most (empty: no limit)", exact=True).fill(most)
    button = form.get_by_role("button", name="Set limit", exact=True)
    button.click()
    expect(button).to_be_enabled()


def test_a_second_tenant_sees_nothing_of_the_first(browser: Browser, two_tenants: Stack) -> None:
    with Client(two_tenants.url, two_tenants.token) as client:
        secret = client.submit(sized(0.1, "sleep", "600", name="secret-plan"))
        until(lambda: client.execution(secret.id).state is ExecutionState.RUNNING)
        visitor = Visitor.of(browser, two_tenants.url)
        page = visitor.sign_in("bea", PASSWORD)
        visitor.open("/executions")
        told = page.get_by_text("Nothing here yet").or_(page.get_by_role("table"))
        expect(told.first).to_be_visible()
        expect(page.get_by_text("secret-plan")).to_have_count(0)
        visitor.open("/executions?all_tenants=true")
        expect(page.get_by_role("alert")).to_contain_text("scope")
        for tab in ("", "/logs", "/events", "/description"):
            visitor.open(f"/executions/{secret.id}{tab}")
            expect(page.get_by_role("alert")).to_contain_text("does not exist")
        visitor.open(f"/new?from={secret.id}")
        expect(page.get_by_role("alert")).to_contain_text("does not exist")
        visitor.open("/usage")
        expect(page.get_by_label("Quota", exact=True)).to_contain_text("Quota of blue")
        assert "secret-plan" not in page.content()
        visitor.launch(sized(0.1, "sleep", "600", name="own-plan"))
        expect(page.locator("main .badge").first).to_have_text("running")
        visitor.open("/executions")
        expect(page.get_by_role("row").filter(has_text="own-plan")).to_have_count(1)
        expect(page.get_by_text("secret-plan")).to_have_count(0)
        visitor.close()
        cancel_all(client)
    assert visitor.errors == []


def test_the_admin_bounds_what_each_user_has(browser: Browser, two_tenants: Stack) -> None:
    admin = Visitor.of(browser, two_tenants.url)
    page = admin.sign_in("admin", two_tenants.password)
    admin.open("/admin/limits")
    set_limit(page, "each user", "Executions", "1")
    visitor = Visitor.of(browser, two_tenants.url)
    its = visitor.sign_in("bea", PASSWORD)
    with Client(two_tenants.url, two_tenants.token) as client:
        until(lambda: client.admin.tenants().tenants[0].executions_of_user_max == 1)
        first = visitor.launch(sized(0.1, "sleep", "600", name="one"))
        visitor.open("/usage")
        expect(its.get_by_role("region", name="Quota", exact=True)).to_contain_text("Your executions")
        expect(its.get_by_role("region", name="Quota", exact=True)).to_contain_text("Your cores")
        visitor.open(f"/new?from={first}")
        its.get_by_role("button", name="Launch", exact=True).click()
        # The refusal, and a moment later the same in what would happen.
        expect(its.get_by_role("alert").first).to_contain_text("maximum for bea in blue: 1")
        cancel_all(client)
    admin.close()
    visitor.close()
    assert admin.errors == visitor.errors == []


def test_the_admin_bounds_how_long_each_may_run(browser: Browser, two_tenants: Stack) -> None:
    admin = Visitor.of(browser, two_tenants.url)
    page = admin.sign_in("admin", two_tenants.password)
    admin.open("/admin/tenants")
    page.get_by_role("region", name="blue", exact=True).get_by_role("link", name="Limits", exact=True).click()
    set_limit(page, "the whole tenant", "Hours per execution", "0.5")
    visitor = Visitor.of(browser, two_tenants.url)
    its = visitor.sign_in("bea", PASSWORD)
    note = "it gets the longest that blue may have, 1800 s (0.5 h)"
    with Client(two_tenants.url, two_tenants.token) as client:
        until(lambda: client.admin.tenants().tenants[0].time_limit_s_max == 1800)
        visitor.open("/usage")
        expect(its.get_by_role("region", name="Quota", exact=True)).to_contain_text("an execution: 30 min")
        visitor.open("/catalogue/batch")
        would = its.get_by_role("region", name="What would happen", exact=True)
        expect(would).to_contain_text("its time limit of 30 min")
        visitor.open("/new")
        expect(would).to_contain_text(note)
        first = visitor.launch(sized(0.1, "sleep", "600", name="one"))
        expect(its.locator("main")).to_contain_text(note)
        client.admin.set_quota("blue", None, None, 900.0)
        its.get_by_role("button", name="Run again", exact=True).click()
        expect(its.get_by_role("alert")).to_contain_text(
            "the time limit is 1800 s (0.5 h); the maximum for blue is 900 s (0.25 h)"
        )
        visitor.open(f"/new?from={first}")
        expect(its.get_by_role("alert")).to_contain_text("longer than your tenant's quota allows")
        cancel_all(client)
    admin.close()
    visitor.close()
    assert admin.errors == visitor.errors == []


def test_the_admin_sets_limits_and_sees_how_much_of_them_is_used(browser: Browser, two_tenants: Stack) -> None:
    with Client(two_tenants.url, two_tenants.token) as client:
        client.admin.set_quota("blue", None)
        admin, visitor = (Visitor.of(browser, two_tenants.url) for _ in range(2))
        page = admin.sign_in("admin", two_tenants.password)
        its = visitor.sign_in("bea", PASSWORD)
        visitor.launch(sized(0.1, "sleep", "600", name="one"))
        admin.open("/admin/limits")
        set_limit(page, "each user", "Cores", "0.1")
        set_limit(page, "bea", "Executions", "2")
        bea = page.get_by_role("region", name="bea in blue", exact=True)
        expect(bea).to_contain_text("1 of 2")
        expect(bea).to_contain_text("0.1 of 0.1")
        assert client.admin.limits("blue", "bea").meters[-1].meters["cores_milli"].limit == 100
        visitor.launch(sized(0.1, "sleep", "600", name="two"))
        expect(its.locator("main")).to_contain_text("its user holds 0.1 cores")
        expect(bea).to_contain_text("2 of 2")
        visitor.open("/usage")
        expect(its.get_by_role("region", name="Quota", exact=True)).to_contain_text("0.1 of 0.1")
        page.get_by_role("row", name="blue bea").get_by_role("button", name="Clear", exact=True).click()
        expect(bea).to_contain_text("2, no limit")
        client.admin.clear_limit("blue", "*")
        cancel_all(client)
    admin.close()
    visitor.close()
    assert admin.errors == visitor.errors == []


def go_on_in(page: Page, tenant: str) -> None:
    """By the menu of another tab."""
    head, choice = page.locator("summary", has_text="both"), page.get_by_role("combobox", name="Tenant", exact=True)
    if not choice.is_visible():
        head.click()
    choice.select_option(tenant)
    expect(head).to_contain_text(tenant)


def test_a_tab_submits_to_the_tenant_that_it_shows_or_to_none(browser: Browser, two_tenants: Stack) -> None:
    visitor = Visitor.of(browser, two_tenants.url)
    page = visitor.sign_in("both", PASSWORD)
    head = page.locator("summary", has_text="both")
    expect(head).to_contain_text("blue")
    page = visitor.open("/catalogue/batch")
    page.get_by_label("Command", exact=True).fill("sleep 600")
    page.get_by_label("Name of this execution", exact=True).fill("in-the-tab")
    expect(page.get_by_text("It would start now")).to_be_visible()
    other = visitor.context.new_page()
    other.goto(visitor.url)
    go_on_in(other, "default")
    # An event, not a click: what the page reads by itself may have opened the dialog over the button already.
    launch = page.get_by_role("button", name="Launch", exact=True)
    launch.dispatch_event("click")
    dialog = page.get_by_role("dialog", name="The session changed in another tab", exact=True)
    expect(dialog).to_contain_text("This page shows both in blue; another tab of this browser is now both in default.")
    dialog.get_by_role("button", name="Go on as both in default", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("The session changed: nothing was sent")
    expect(head).to_contain_text("default")
    expect(page.get_by_role("link", name="Cluster", exact=True)).to_have_count(0)
    expect(page.get_by_label("Command", exact=True)).to_have_value("sleep 600")
    expect(page.get_by_label("Name of this execution", exact=True)).to_have_value("in-the-tab")
    with Client(two_tenants.url, two_tenants.token) as client:
        assert client.executions(name="in-the-tab", all_tenants=True).executions == []
        go_on_in(other, "blue")
        launch.dispatch_event("click")
        dialog.get_by_role("button", name="Go back to default in all tabs", exact=True).click()
        page.wait_for_url("**/executions/*")
        (made,) = client.executions(name="in-the-tab", all_tenants=True).executions
        assert made.tenant == "default"
        cancel_all(client)
    visitor.close()
    assert visitor.errors == []


def test_a_tab_never_shows_one_tenants_name_above_anothers_executions(browser: Browser, two_tenants: Stack) -> None:
    with Client(two_tenants.url, two_tenants.token) as client:
        made = client.submit(sized(0.1, "sleep", "600", name="of-default"))
        client.share(made.id, ShareLevel.LOOK)
        visitor = Visitor.of(browser, two_tenants.url)
        page = visitor.sign_in("both", PASSWORD)
        page.get_by_role("link", name="Executions", exact=True).click()
        expect(page.get_by_role("heading", name="Executions of blue", exact=True)).to_be_visible()
        other = visitor.context.new_page()
        other.goto(visitor.url)
        go_on_in(other, "default")
        dialog = page.get_by_role("dialog", name="The session changed in another tab", exact=True)
        expect(dialog).to_be_visible()
        expect(page.get_by_text("of-default")).to_have_count(0)
        dialog.get_by_role("button", name="Go on as both in default", exact=True).click()
        expect(page.get_by_role("heading", name="Executions of default", exact=True)).to_be_visible()
        expect(page.get_by_role("row", name="of-default")).to_be_visible()
        visitor.close()
        cancel_all(client)
    assert visitor.errors == []
