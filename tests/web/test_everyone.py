"""For everyone: by role, by keyboard, for screen readers, on a telephone, in the dark; with pictures for the docs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from tests.support.cluster_size import all_cores
from tests.support.documents import job, sized
from tests.support.waiting import until
from tests.support.web import PICTURES, ROOT, Visitor, cancel_all, tab_to
from zoe_client import Client
from zoe_client.wire import NodeHoldView, PolicyView, ScheduleRequest
from zoe_embedded.stack import Stack
from zoe_lib.domain.executions.execution import ExecutionState

PAGES = {
    "catalogue": "/catalogue",
    "launch": "/catalogue/batch",
    "script": "/catalogue/python-script",
    "new-workflow": "/workflows/new",
    "new-schedule": "/schedules/new",
    "files": "/files",
    "editor": "/new",
    "clone": "/clone/{id}",
    "workflows": "/workflows",
    "workflow": "/workflows/{workflow}",
    "schedules": "/schedules?open=nightly",
    "edit-schedule": "/schedules/nightly/edit",
    "array": "/arrays/{array}",
    "statement": "/statement",
    "machine": "/machine",
    "nowhere": "/executions/x1m7xhnzn3f4144",
    "executions": "/executions",
    "execution": "/executions/{id}",
    "logs": "/executions/{id}/logs",
    "charts": "/executions/{id}/charts",
    "events": "/executions/{id}/events",
    "description": "/executions/{id}/description",
    "nodes": "/cluster",
    "queue": "/cluster/queue",
    "storage": "/cluster/storage",
    "rules": "/cluster/rules",
    "metrics": "/cluster/rules/metrics",
    "controllers": "/cluster/rules/controllers",
    "store-nodes": "/cluster/rules/nodes",
    "policy": "/cluster/policy",
    "replay": "/cluster/replay",
    "usage": "/usage",
    "account": "/account",
    "users": "/admin",
    "tenants": "/admin/tenants",
    "limits": "/admin/limits",
    "tokens": "/admin/tokens",
    "audit": "/admin/audit",
}
# They say that there is no object store; with one, their pictures are drawn in the tests of storage.
OF_STORES = {"rules", "metrics", "controllers", "store-nodes"}
# The documentation has no pictures of them.
UNSEEN = {
    *("clone", "workflows", "workflow", "schedules", "edit-schedule", "array", "statement", "machine", "nowhere"),
    "limits",
}
# Their pictures are drawn from the playground.
OF_PLAYGROUND = {"executions", "files", "new-schedule", "nodes", "queue", "storage", "usage", "users", "tenants"}
DESK, TELEPHONE = ViewportSize(width=1280, height=800), ViewportSize(width=360, height=640)


def comes_to_be(client: Client, execution_id: str, state: ExecutionState) -> None:
    def story() -> object:
        all_of_them = [
            (execution.id, execution.name, execution.state, execution.cause, execution.message)
            for execution in client.executions().executions
        ]
        return (execution_id, all_of_them, client.nodes().nodes)

    until(lambda: client.execution(execution_id).state is state, story)


@dataclass(frozen=True)
class Scene:
    """Ids of what the pages show."""

    id: str
    array: str
    workflow: str


@pytest.fixture(scope="module")
def scene(stack: Stack) -> Iterator[Scene]:
    """Something that runs with elastic services, something that waits, something that has ended, and the rest of what
    has pages.
    """
    with Client(stack.url, stack.token) as client:
        cores = all_cores(client)
        running = sized(round(cores / 5, 1), "sh", "-c", "while :; do date; sleep 0.2; done", name="sensor-join")
        running["components"][0] |= {"essential_count": 2, "total_count": 4, "ends_application": False}
        ended = client.submit(job("echo", "done", name="nightly-report"))
        assert client.wait(ended.id, 60).state is ExecutionState.SUCCEEDED
        execution = client.submit(running)
        comes_to_be(client, execution.id, ExecutionState.RUNNING)
        waiting = client.submit(sized(cores, "sleep", "60", name="model-training"))
        comes_to_be(client, waiting.id, ExecutionState.QUEUED)
        echo = job("echo", "done", name="echo")
        client.schedules.put("nightly", ScheduleRequest(expression="30 2 * * *", document=echo))
        array = client.arrays.submit(echo, "0-2")
        workflow = client.workflows.run(
            {"version": 1, "name": "pipeline", "steps": [{"name": "first", "application": echo}]}
        )
        yield Scene(execution.id, array.id, workflow.id)
        client.schedules.remove("nightly")
        cancel_all(client)


def test_every_page_is_accessible_and_fits_a_telephone(browser: Browser, stack: Stack, scene: Scene) -> None:
    visitor = Visitor.of(browser, stack.url, color_scheme="light")
    page = visitor.open()
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()
    found = {"sign-in": wrong(visitor, "sign-in", PICTURES)}
    visitor.sign_in("admin", stack.password)
    for name, path in PAGES.items():
        visitor.open(path.format(**asdict(scene)))
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        visitor.settled()
        pictures = None if name in OF_STORES | OF_PLAYGROUND | UNSEEN else PICTURES
        found[name] = wrong(visitor, name, pictures, dark=name not in UNSEEN)
    visitor.close()
    assert {name: wrong for name, wrong in found.items() if wrong} == {}
    assert visitor.errors == []


def wrong(visitor: Visitor, name: str, pictures: Path | None, *, dark: bool = True) -> list[str]:
    """Return the errors of the open page, with `dark` also in dark colours; also take its picture."""
    page = visitor.page
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=pictures / f"web-{name}.png")
    found = visitor.violations()
    if dark:
        found += [f"dark: {text}" for text in visitor.violations_in_the_dark()]
    page.set_viewport_size(TELEPHONE)
    width = page.evaluate("document.documentElement.scrollWidth")
    page.set_viewport_size(DESK)
    return found if width <= TELEPHONE["width"] else [*found, f"{width} wide on a telephone"]


def test_every_route_is_among_these_pages() -> None:
    routes = re.findall(r'<Route path="(/[^"]+)"', (ROOT / "web/src/app.tsx").read_text())
    shown = [route for route in routes if not any(matches(route, path.partition("?")[0]) for path in PAGES.values())]
    assert len(routes) > 20
    assert shown == []


def matches(route: str, path: str) -> bool:
    return re.fullmatch(re.sub(r"/:\w+(\?)?", r"(/[^/]+)\1", route), path) is not None


def test_a_result_is_read_shared_and_changed_by_keyboard(admin: Visitor, client: Client) -> None:
    client.admin.add_user("carol", "correct horse battery")
    client.admin.set_role("carol", "default", "user")
    made = client.submit(
        {**job("sh", "-c", "echo region,kwh > {workspace}/totals.csv", name="totals"), "results": ["totals.csv"]}
    )
    assert client.wait(made.id, 60).state is ExecutionState.SUCCEEDED
    page = admin.open(f"/executions/{made.id}")
    expect(page.get_by_role("button", name="totals.csv", exact=True)).to_be_visible()
    press(page, "totals.csv")
    expect(page.get_by_role("dialog").get_by_role("columnheader", name="kwh")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="totals.csv", exact=True)).to_be_focused()
    page.keyboard.press("Home")
    press(page, "Share", back=True)
    tab_to(page, "User")
    page.keyboard.type("carol")
    press(page, "Share")
    expect(page.get_by_role("list", name="Shared with")).to_contain_text("carol: look")
    press(page, "Close")
    expect(page.get_by_role("button", name="Share", exact=True)).to_be_focused()
    press(page, "Clone and edit", back=True)
    expect(page.get_by_label("Description as JSON")).to_be_visible()
    while not page.evaluate("document.activeElement.matches('.editor')"):
        page.keyboard.press("Tab")
    page.keyboard.press("Escape")  # Tab indents before
    tab_to(page, "Array")
    page.keyboard.type("0-1")
    press(page, "Launch")
    page.wait_for_url(re.compile("/arrays/[^/?]+$"))
    expect(page.get_by_role("heading", name="totals", level=1)).to_be_visible()


def test_a_reason_is_read_and_an_execution_cancelled_by_keyboard(admin: Visitor, client: Client) -> None:
    cores = all_cores(client)
    running = client.submit(sized(cores, "sleep", "600", name="long"))
    until(lambda: client.execution(running.id).state is ExecutionState.RUNNING)
    waiting = client.submit(sized(cores, "sleep", "600", name="next"))
    page = admin.open("/executions")
    expect(page.get_by_role("link", name="next")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page", exact=True)).to_be_focused()
    page.keyboard.press("Enter")
    press(page, "next")
    expect(page.get_by_text("The essential services need")).to_be_visible()
    press(page, "Node by node")
    expect(page.get_by_role("cell", name=re.compile("cores"))).to_be_visible()
    press(page, "Cancel", back=True)
    press(page, "Cancel the execution")
    expect(page.get_by_text("next is being cancelled.")).to_be_visible()
    assert client.wait(waiting.id, 60).state is ExecutionState.CANCELLED
    expect(page.get_by_text("It was cancelled")).to_be_visible()
    assert page.evaluate("document.activeElement !== document.body")


def press(page: Page, name: str, *, back: bool = False) -> None:
    tab_to(page, name, back=back)
    page.keyboard.press("Enter")


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
        expect(seen.get_by_role("alert")).to_contain_text("This page does not exist")
    viewer.open("/catalogue/batch")
    expect(seen.get_by_text("It would")).to_be_visible()
    expect(seen.get_by_role("button", name="Launch", exact=True)).to_have_count(0)
    viewer.close()
    assert viewer.errors == []
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("row").filter(has_text="vera").get_by_role("button", name="Disable", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="vera")).to_contain_text("disabled")
    admin.open("/admin/audit")
    expect(page.get_by_role("row").filter(has_text="add user").first).to_contain_text("201")


@pytest.fixture
def policy(client: Client) -> Iterator[PolicyView]:
    """The policy in force, which is again when the test is over."""
    before = client.policy()
    yield before
    client.set_policy(before.model_copy(update={"version": client.policy().version}))


def test_the_admin_tries_a_policy_and_puts_it_in_force(admin: Visitor, client: Client, policy: PolicyView) -> None:
    cores = all_cores(client)
    filler = client.submit(sized(cores * 0.9, "sleep", "600", name="filler"))
    comes_to_be(client, filler.id, ExecutionState.RUNNING)
    for name, part in (("large", 0.8), ("small", 0.6)):
        waiting = client.submit(sized(cores * part, "sleep", "600", name=name))
        comes_to_be(client, waiting.id, ExecutionState.QUEUED)
    page = admin.open("/cluster/policy")
    page.get_by_label("Queue order").select_option("fifo")
    page.get_by_role("button", name="Try it on the present queue", exact=True).click()
    result = page.get_by_label("Effect on the present queue", exact=True)
    expect(result.get_by_role("listitem").first).to_contain_text("large (default) up 1")
    page.get_by_role("button", name="Apply the policy", exact=True).click()
    expect(page.get_by_text(f"Version {policy.version + 1}.")).to_be_visible()
    assert client.policy().order == "fifo"
    admin.open("/cluster/queue")
    expect(page.get_by_role("row").nth(1)).to_contain_text("large")
    expect(page.get_by_role("row").nth(2)).to_contain_text("small")


def test_the_form_of_the_policy_tells_by_its_labels_what_cannot_be(
    admin: Visitor, client: Client, policy: PolicyView
) -> None:
    page = admin.open("/cluster/policy")
    limits = page.get_by_label("Limits of tenants, as JSON")
    limits.fill('{"red": {"cores_milli": 5}, "red": {"cores_milli": 7}}')
    expect(page.get_by_text('The key "red" occurs twice in one object.')).to_be_visible()
    expect(page.get_by_role("button", name="Apply the policy", exact=True)).to_be_disabled()
    limits.fill('{"default": {"cores_milli": -7}}')
    page.get_by_label("Ageing, seconds (0: none)", exact=True).fill("-5")
    page.get_by_role("button", name="Apply the policy", exact=True).click()
    told = page.get_by_role("alert").get_by_role("listitem")
    expect(told).to_have_text(
        [
            "Ageing, seconds (0: none): must be at least 0, is -5",
            "Limits of tenants › default › cores_milli: must be at least 0, is -7",
        ]
    )
    assert client.policy() == policy


def test_a_node_is_drained_and_released(admin: Visitor, client: Client) -> None:
    page = admin.open("/cluster")
    name = client.nodes().nodes[0].name
    page.get_by_role("button", name=f"Drain {name}", exact=True).click()
    expect(page.get_by_role("row").filter(has=page.get_by_role("button"))).to_contain_text("drained")
    page.get_by_role("button", name=f"Release {name}", exact=True).click()
    expect(page.get_by_role("button", name=f"Drain {name}", exact=True)).to_be_visible()
    assert client.policy().node_holds == {}


def test_one_window_of_a_node_is_cancelled_and_another_stays(admin: Visitor, client: Client) -> None:
    name = client.nodes().nodes[0].name
    windows = [NodeHoldView(since_s=5e9 + day * 86_400, until_s=5e9 + day * 86_400 + 60, note=note)
               for day, note in enumerate(("kernel", "disks"))]  # fmt: skip
    policy = client.policy()
    client.set_policy(policy.model_copy(update={"node_windows": {name: windows}}))
    page = admin.open("/cluster")
    row = page.get_by_role("row").filter(has=page.get_by_role("button", name=f"Drain {name}"))
    expect(row).to_contain_text("kernel")
    row.get_by_role("button", name="Cancel").first.click()
    expect(row).not_to_contain_text("kernel")
    expect(row).to_contain_text("disks")
    assert [window.note for window in client.policy().node_windows[name]] == ["disks"]
    client.set_policy(client.policy().model_copy(update={"node_windows": {}}))
