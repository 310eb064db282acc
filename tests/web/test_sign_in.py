"""Signing in at others with a browser: through a provider's page, and with a password of a directory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.directory import PASSWORD, directory
from tests.support.oidc import provider
from tests.support.stack import running_stack
from tests.support.web import Visitor
from zoe_embedded.stack import Stack

NOWHERE = "127.0.0.1:1"
RULES = [
    {"provider": "firm", "group": "staff", "tenant": "default", "role": "user"},
    {"provider": "lab", "tenant": "default", "role": "viewer"},
]


@pytest.fixture(scope="module")
def known_elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """Its users come from an OpenID Connect provider and an LDAP directory; of each there is one more that is away."""
    secret = tmp_path_factory.mktemp("oidc") / "secret"
    secret.write_text("not asked for by this provider")
    with provider(registration=False) as firm, directory() as lab:
        firm.know("s-1", preferred_username="olga", groups=["staff"])
        firm.know("s-2", preferred_username="otto", groups=[])
        client = {"client_id": "zoe", "client_secret_file": str(secret)}
        oidc = {
            "firm": {**client, "issuer": firm.url, "title": "The firm"},
            "agency": {**client, "issuer": f"http://{NOWHERE}", "title": "The agency"},
        }
        ldap = {
            "lab": lab.settings(title="The lab"),
            "branch": lab.settings(title="The branch", url=f"ldaps://{NOWHERE}"),
        }
        with running_stack(forked=True, oidc=oidc, ldap=ldap, sign_in_roles=RULES) as running:
            yield running


@pytest.fixture
def visitor(browser: Browser, known_elsewhere: Stack) -> Iterator[Visitor]:
    """A visitor without a session; a page of Zoe's with an error fails the test."""
    made = Visitor.of(browser, known_elsewhere.url)
    # The provider's page would ask a CDN for its styles.
    made.context.route("https://**", lambda route: route.abort())
    yield made
    made.close()
    assert made.errors == []


def to_the_firm(visitor: Visitor) -> Page:
    """The provider's own page, on the way to a list of executions."""
    page = visitor.open("/executions?name=mine")
    page.get_by_role("link", name="Sign in with The firm", exact=True).click()
    expect(page.get_by_role("heading", name="Authorize Client", exact=True)).to_be_visible()
    assert not page.url.startswith(visitor.url)
    return page


def authorized(page: Page, subject: str) -> None:
    """There, as that one."""
    page.get_by_placeholder("sub").fill(subject)
    page.get_by_role("button", name="Authorize", exact=True).click()


def signed_in_as(page: Page, user: str) -> None:
    expect(page.locator("summary", has_text=user)).to_be_visible()


def test_the_ways_in_are_shown_and_accessible(visitor: Visitor) -> None:
    page = visitor.open()
    expect(page.get_by_role("link", name="Sign in with")).to_have_count(2)
    expect(page.get_by_label("Known to").get_by_role("option")).to_have_text(["Zoe", "The lab", "The branch"])
    assert visitor.violations() == []


def test_through_the_page_of_a_provider_and_back_to_where_one_was(visitor: Visitor) -> None:
    page = to_the_firm(visitor)
    authorized(page, "s-1")
    expect(page.get_by_role("heading", name="Executions of default", exact=True)).to_be_visible()
    assert page.url == f"{visitor.url}/executions?name=mine"
    signed_in_as(page, "olga")
    expect(page.get_by_role("link", name="Launch", exact=True)).to_be_visible()


def test_refused_sign_in_is_explained_and_can_begin_again(visitor: Visitor) -> None:
    page = to_the_firm(visitor)
    page.get_by_role("button", name="Deny", exact=True).click()
    expect(page.get_by_role("heading", name="The sign-in was not completed")).to_be_visible()
    page.get_by_role("link", name="Back to Zoe", exact=True).click()
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    page = to_the_firm(visitor)
    authorized(page, "s-2")
    expect(page.get_by_role("heading", name="You are not a member of this tenant")).to_be_visible()


def test_a_session_that_ends_in_mid_work_is_begun_again_in_another_tab(visitor: Visitor) -> None:
    page = to_the_firm(visitor)
    authorized(page, "s-1")
    expect(page.get_by_role("heading", name="Executions of default", exact=True)).to_be_visible()
    page = visitor.open("/catalogue/batch")
    page.get_by_label("Command", exact=True).fill("echo typed before")
    expect(page.get_by_text("It would start now")).to_be_visible()
    visitor.context.clear_cookies()
    # An event, not a click: what the page reads by itself may have opened the dialog over the button already.
    page.get_by_role("button", name="Launch", exact=True).dispatch_event("click")
    dialog = page.get_by_role("dialog", name="Sign in again", exact=True)
    with visitor.context.expect_page() as another:
        dialog.get_by_role("link", name="Sign in with The firm", exact=True).click()
    authorized(another.value, "s-1")
    page.wait_for_url("**/executions/*")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.locator("main .badge").first).to_have_text("succeeded")


def test_with_a_password_of_the_directory_and_not_with_another(visitor: Visitor) -> None:
    page = visitor.open()
    page.get_by_label("Known to").select_option("The lab")
    visitor.type_password("mia", "not the password")
    expect(page.get_by_role("alert")).to_contain_text("The user name or password is wrong")
    visitor.type_password("mia", PASSWORD)
    expect(page.get_by_role("heading", name="Catalogue", exact=True)).to_be_visible()
    signed_in_as(page, "mia")


def test_one_that_is_away_is_told_in_words(visitor: Visitor) -> None:
    said = "The identity provider is unavailable"
    page = visitor.open()
    page.get_by_label("Known to").select_option("The branch")
    visitor.type_password("mia", PASSWORD)
    expect(page.get_by_role("alert")).to_contain_text(said)
    expect(page.get_by_label("Password", exact=True)).to_have_value(PASSWORD)
    page.get_by_role("link", name="Sign in with The agency", exact=True).click()
    expect(page.get_by_role("heading", name=said)).to_be_visible()
    page.get_by_role("link", name="Back to Zoe", exact=True).click()
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
