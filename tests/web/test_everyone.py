"""For everyone: by role, by keyboard, for screen readers, on a telephone, in the dark; with pictures for the docs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.support.documents import job, sized
from tests.support.web import ROOT, Visitor, cancel_all
from zoe_embedded.stack import Stack
from zoe_lib.sdk import Client

PAGES = {
    "catalogue": "/catalogue",
    "launch": "/catalogue/batch",
    "editor": "/new",
    "executions": "/executions",
    "execution": "/executions/{id}",
    "logs": "/executions/{id}/logs",
    "charts": "/executions/{id}/charts",
    "events": "/executions/{id}/events",
    "description": "/executions/{id}/description",
    "nodes": "/cluster",
    "queue": "/cluster/queue",
    "storage": "/cluster/storage",
    "policy": "/cluster/policy",
    "replay": "/cluster/replay",
    "usage": "/usage",
    "account": "/account",
    "users": "/admin",
    "tenants": "/admin/tenants",
    "tokens": "/admin/tokens",
    "audit": "/admin/audit",
}
# Where pictures for the docs go; they are drawn anew only when somebody asks for it.
PICTURES = ROOT / "docs" / "images" if os.environ.get("ZOE_TEST_PICTURES") == "1" else None


@pytest.fixture(scope="module")
def scene(stack: Stack) -> Iterator[str]:
    """Something that runs with elastic services, something that waits, something that has ended; the first's id."""
    with Client(stack.url, stack.token) as client:
        cores = sum(node.cores for node in client.nodes().nodes)
        running = sized(round(cores / 5, 1), "sh", "-c", "while :; do date; sleep 0.2; done", name="sensor-join")
        running["components"][0] |= {"essential_count": 2, "total_count": 4, "ends_application": False}
        client.submit(job("echo", "done", name="nightly-report"))
        execution = client.submit(running)
        client.submit(sized(cores, "sleep", "60", name="model-training"))
        yield execution.id
        cancel_all(client)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_is_accessible_and_fits_a_telephone(browser: Browser, stack: Stack, scene: str, scheme: str) -> None:
    visitor = Visitor.of(browser, stack.url, color_scheme=scheme)
    page = visitor.open()
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    found: dict[str, object] = {"sign in": wrong} if (wrong := visitor.violations()) else {}
    if PICTURES is not None and scheme == "light":
        _draw(visitor, PICTURES / "web-sign-in.png")
    visitor.sign_in("admin", stack.password)
    for name, path in PAGES.items():
        visitor.open(path.format(id=scene))
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        page.wait_for_load_state("networkidle") if name in ("catalogue", "launch") else page.wait_for_timeout(600)
        if PICTURES is not None and scheme == "light":
            _draw(visitor, PICTURES / f"web-{name}.png")
        if violations := visitor.violations():
            found[name] = violations
        page.set_viewport_size({"width": 360, "height": 640})
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > 360:
            found[f"{name} at 360"] = wide
        page.set_viewport_size({"width": 1280, "height": 800})
    visitor.close()
    assert found == {}
    assert visitor.errors == []


def _draw(visitor: Visitor, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    visitor.page.screenshot(path=path)


def test_the_keyboard_leads_everywhere(admin: Visitor) -> None:
    page = admin.open("/catalogue")
    expect(page.get_by_role("link", name="One command")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.get_by_role("link", name="One command").evaluate("one => one === document.activeElement"):
            break
    page.keyboard.press("Enter")
    page.wait_for_url("**/catalogue/batch*")


def test_pages_and_buttons_are_by_role(browser: Browser, admin: Visitor, stack: Stack, client: Client) -> None:
    page = admin.open("/admin")
    page.get_by_label("Name", exact=True).fill("vera")
    page.locator("form label", has_text="Role").locator("select").select_option("viewer")
    page.get_by_role("button", name="Add the user", exact=True).click()
    password = page.get_by_role("status").locator("code").inner_text()
    viewer = Visitor.of(browser, stack.url)
    seen = viewer.sign_in("vera", password)
    expect(seen.get_by_role("link", name="Executions", exact=True)).to_be_visible()
    for name in ("Cluster", "Admin"):
        expect(seen.get_by_role("link", name=name, exact=True)).to_have_count(0)
    for path in ("/cluster", "/admin"):
        viewer.open(path)
        expect(seen.get_by_role("alert")).to_contain_text("There is no such page")
    viewer.open("/catalogue/batch")
    expect(seen.get_by_text("It would")).to_be_visible()
    expect(seen.get_by_role("button", name="Launch", exact=True)).to_have_count(0)
    viewer.close()
    assert viewer.errors == []
    page.get_by_role("row").filter(has_text="vera").get_by_role("button", name="Disable", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="vera")).to_contain_text("disabled")
    admin.open("/admin/audit")
    expect(page.get_by_role("row").filter(has_text="add user").first).to_contain_text("201")


def test_the_admin_tries_a_policy_and_puts_it_in_force(admin: Visitor, client: Client) -> None:
    cores = sum(node.cores for node in client.nodes().nodes)
    for name, part in (("filler", 0.9), ("large", 0.8), ("small", 0.6)):
        client.submit(sized(cores * part, "sleep", "600", name=name))
    page = admin.open("/cluster/policy")
    page.get_by_label("Queue order").select_option("fifo")
    page.get_by_role("button", name="Try it on the present queue", exact=True).click()
    result = page.get_by_label("What it would do with the present queue", exact=True)
    expect(result.get_by_role("listitem").first).to_contain_text("large (default) up 1")
    page.get_by_role("button", name="Put it in force", exact=True).click()
    expect(page.get_by_text("Version 1.")).to_be_visible()
    assert client.policy().order == "fifo"
    admin.open("/cluster/queue")
    expect(page.get_by_role("row").nth(1)).to_contain_text("large")
    expect(page.get_by_role("row").nth(2)).to_contain_text("small")


def test_a_node_is_drained_and_released(admin: Visitor, client: Client) -> None:
    page = admin.open("/cluster")
    name = client.nodes().nodes[0].name
    page.get_by_role("button", name=f"Drain {name}", exact=True).click()
    expect(page.get_by_role("row").filter(has=page.get_by_role("button"))).to_contain_text("drained")
    page.get_by_role("button", name=f"Release {name}", exact=True).click()
    expect(page.get_by_role("button", name=f"Drain {name}", exact=True)).to_be_visible()
    assert client.policy().node_holds == {}
