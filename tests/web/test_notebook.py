"""The main path of a data scientist: a Spark cluster with a notebook, opened from the browser, that computes."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.support.documents import job
from tests.support.long import of_web
from tests.support.stack import running_stack
from tests.support.web import ROOT, Visitor, cancel_all, counted_clicks, tab_to
from tests.web.test_everyone import PICTURES
from tests.web.test_opened import names_of_cookies
from zoe_client import Client
from zoe_embedded.stack import Stack

CLUSTER_MS = 120_000
IDLE_S = 60.0
COMPUTE = (
    "from pyspark.sql import SparkSession; "
    "spark = SparkSession.builder.getOrCreate(); "
    "print('sum', spark.sparkContext.parallelize(range(1000), 4).sum())"
)
# Requests that an application's page may try with its user's browser: it reports every readable response.
ATTACK = """
from IPython.display import Javascript, display
display(Javascript('''
(async () => {
  const said = [];
  for (const [method, path, body] of [
    ["GET", "/api/v1/executions", null],
    ["GET", "/api/v1/session", null],
    ["POST", "/api/v1/executions", JSON.stringify({application: APPLICATION})],
    ["POST", "/api/v1/executions/EXECUTION/cancel", null],
  ]) {
    for (const mode of ["cors", "no-cors"]) {
      try {
        const headers = body && mode === "cors" ? {"Content-Type": "application/json"} : {};
        const answer = await fetch("URL" + path, {method, body, mode, headers, credentials: "include"});
        said.push(answer.type + " " + answer.status + " " + (await answer.text()).length);
      } catch (error) { said.push("refused"); }
    }
  }
  element.textContent = "attack: " + said.join(", ");
})();
'''))
"""

pytestmark = of_web


@pytest.fixture(scope="module")
def notebook_stack() -> Iterator[Stack]:
    with running_stack(forked=True, notebook=True) as running:
        yield running


def run_cell(page: Page, code: str) -> None:
    """In the last cell, which is empty."""
    page.locator(".jp-Cell .cm-content").last.click()
    page.keyboard.insert_text(code)
    page.keyboard.press("Shift+Enter")


def test_a_notebook_computes_on_its_cluster_and_can_do_nothing_else(browser: Browser, notebook_stack: Stack) -> None:
    visitor = Visitor.of(browser, notebook_stack.url)
    page = visitor.sign_in("admin", notebook_stack.password)
    clicks = counted_clicks(page)
    page.get_by_role("link", name="Spark notebook").press("Enter")
    expect(page.get_by_text("It would start now")).to_be_visible()
    tab_to(page, "Launch")
    page.keyboard.press("Enter")
    expect(page.locator("main .badge").first).to_have_text("running", timeout=CLUSTER_MS)
    execution_id = page.url.rsplit("/", 1)[-1]

    with visitor.context.expect_page() as opened:
        page.get_by_role("button", name="Open notebook", exact=True).press("Enter")
    assert clicks() == 3, "each by a key"
    lab = opened.value
    lab.locator(".jp-LauncherCard[data-category='Notebook']").first.click(timeout=CLUSTER_MS)
    expect(lab.locator(".jp-Cell .cm-content").first).to_be_visible()
    # Cells run before there is a kernel are lost.
    expect(lab.get_by_role("button", name="| Idle")).to_be_visible(timeout=CLUSTER_MS)
    run_cell(lab, COMPUTE)
    expect(lab.locator(".jp-OutputArea-output").filter(has_text="sum 499500")).to_be_visible(timeout=CLUSTER_MS)
    if PICTURES is not None:
        lab.screenshot(path=ROOT / "docs" / "images" / "web-notebook.png")

    # With the rights of its user it would be taken: it is not for the description that it is refused.
    application = job("true", name="attack")
    with Client(notebook_stack.url, notebook_stack.token) as client:
        assert client.validate(application).never_fits is None
    attack = ATTACK.replace("URL", notebook_stack.url).replace("EXECUTION", execution_id)
    run_cell(lab, attack.replace("APPLICATION", json.dumps(application)))
    said = lab.locator(".jp-OutputArea-output").filter(has_text="attack:").inner_text().removeprefix("attack: ")
    # What a page may send without being asked first it cannot read: an opaque answer has no status and no text.
    assert set(said.split(", ")) <= {"refused", "opaque 0 0"}
    # The session's cookie is there, and not for the application (test_opened.py asks the application).
    assert "zoe-session" in names_of_cookies(visitor, notebook_stack.url)
    assert "zoe-session" not in names_of_cookies(visitor, lab.url)
    with Client(notebook_stack.url, notebook_stack.token) as client:
        # The page of JupyterLab stays open, and sends requests and saves by itself, without a user.
        client.set_policy(client.policy().model_copy(update={"idle_after_s": IDLE_S}))
        expect(page.get_by_text("unless somebody opens it")).to_be_visible(timeout=IDLE_S * 4 * 1000)
        assert [execution.id for execution in client.executions().executions] == [execution_id]
        assert client.execution(execution_id).outcome is None
        page.get_by_role("button", name="Cancel", exact=True).click()
        page.get_by_role("button", name="Cancel the execution", exact=True).click()
        expect(page.locator("main .badge").first).to_have_text("cancelled", timeout=CLUSTER_MS)
        cancel_all(client)
    visitor.close()
    assert visitor.errors == []
