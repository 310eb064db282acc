"""The documentation site in a real browser: its policy, its widths, and questions of a new user in its search."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.web import Visitor, new_context
from zoe_api.http.serving.docs_site import DOCS_SITE
from zoe_embedded.stack import Stack

pytestmark = pytest.mark.skipif(not (DOCS_SITE / "index.html").exists(), reason="no site: make docs-site")

SHOWN = 5
QUESTIONS = {
    "why is my job waiting": "use/waiting",
    "how do I submit a Slurm script": "use/from-slurm",
    "run a Jupyter notebook": "use/web",
    "how do I copy files to my workspace": "use/using",
    "read a CSV from the object store": "store/storage",
    "guarantee bandwidth": "store/slos",
    "finish by a deadline": "use/deadlines",
    "change the memory of a queued execution": "use/batch",
    "run the same job for many inputs": "use/sdk",
    "run a job every night": "use/schedules",
    "log in with LDAP": "operate/sign-in",
    "set a quota for a user": "operate/people",
    "back up the database": "operate/backups",
    "upgrade to a new version": "operate/upgrade",
    "install on three machines": "start/cluster",
    "which ports and TLS do I need": "operate/operations",
    "get an email when a job ends": "use/notifications",
    "what does exit code 124 mean": "reference/cli",
    "encrypt stored objects": "store/rules",
    "use my own Docker image": "operate/swarm",
}
"""What a new user types, and the page that answers."""
PAGES = ("", "start/cluster.html", "use/web.html", "reference/rest/executions.html", "reference/settings.html")


def test_questions_find_their_pages_among_the_first_results(browser: Browser, stack: Stack) -> None:
    context = new_context(browser)
    page = context.new_page()
    missed = {}
    for question, answer in QUESTIONS.items():
        results = _results(page, stack.url, question)
        if not any(result.startswith(answer) for result in results[:SHOWN]):
            missed[question] = results[:SHOWN]
    context.close()
    assert missed == {}


@pytest.mark.parametrize("width", [1440, 390])
def test_pages_fit_their_window_and_break_no_policy(browser: Browser, stack: Stack, width: int) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    errors = list[str]()
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: None if request.url.startswith(stack.url) else errors.append(request.url))
    for name in PAGES:
        page.goto(f"{stack.url}/docs/{name}")
        page.wait_for_load_state("networkidle")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    context.close()
    assert errors == []


def test_the_menu_of_the_web_ui_leads_to_the_documentation(admin: Visitor) -> None:
    page = admin.open("/")
    page.locator("details.person summary").click()
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="Documentation").click()
    expect(opened.value).to_have_title(re.compile("^Zoe "))
    opened.value.close()


def _results(page: Page, url: str, question: str) -> list[str]:
    """Type a question into the search of the first page; return the paths of the results below /docs/."""
    page.goto(f"{url}/docs/")
    field = page.locator("input[name=q]").first
    field.fill(question)
    field.press("Enter")
    links = page.locator("#search-results ul.search > li > a")
    expect(links.nth(SHOWN - 1)).to_be_attached()
    return [str(link.get_attribute("href")) for link in links.all()[: 2 * SHOWN]]
