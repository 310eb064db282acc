"""Workflows in a real browser: the list, the drawn graph with states in words, cancel and resume."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import expect

from tests.support.web import Visitor
from zoe_client import Client


def step(name: str, command: str, **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "image": "zoe/tiny",
        "command": ["sh", "-c", command],
        "memory": "16MiB",
        "cores": 0.1,
        **more,
    }


def test_the_graph_says_how_far_each_step_is_and_it_is_resumed(admin: Visitor, client: Client) -> None:
    gate = "test -e {workspace}/web-gate"
    steps = [
        step("prepare", "true"),
        step("train", gate, needs=["prepare"], matrix={"alpha": [1, 2]}),
        step("report", "true", needs=["train"]),
        step("alarm", "touch {workspace}/web-gate", on_failure=["train"]),
    ]
    made = client.workflows.run({"version": 1, "name": "in the browser", "steps": steps})
    page = admin.open("/workflows")
    page.get_by_role("link", name="in the browser").click()
    graph = page.get_by_label("Graph of the steps")
    expect(graph.get_by_label("prepare succeeded")).to_be_visible()
    expect(graph.get_by_label("report skipped")).to_be_visible()
    expect(graph.get_by_label(re.compile("train .*failed"))).to_be_visible()
    expect(page.locator(".lead")).to_contain_text("failed")
    assert admin.violations() == []
    client.wait_for_workflow(made.id, 30)
    page.get_by_role("button", name="Resume").click()
    expect(page.locator(".lead")).to_contain_text("succeeded")
    expect(graph.get_by_label("train 2 succeeded")).to_be_visible()
    expect(page.get_by_role("button", name="Resume")).to_have_count(0)
    graph.get_by_label("report succeeded").click()
    expect(page.locator(".lead h1")).to_have_text("report")
    page.get_by_role("link", name=made.id).click()
    expect(page.locator(".lead h1")).to_have_text("in the browser")


def test_an_offer_is_accepted_for_all_of_it(admin: Visitor, client: Client) -> None:
    steps = [timed("first"), timed("second", needs=["first"])]
    made = client.workflows.run({"version": 1, "name": "by then", "steps": steps}, finish_by="+10s")
    page = admin.open(f"/workflows/{made.id}")
    promise = page.get_by_role("region", name="Promise", exact=True)
    expect(promise).to_contain_text("It cannot be promised")
    expect(promise).to_contain_text("Offer 1: The earliest end with that confidence")
    assert admin.violations() == []
    promise.get_by_role("button", name="Accept offer 1", exact=True).click()
    expect(promise).to_contain_text("It is promised to end by")
    expect(promise).to_contain_text("with 90 % confidence")
    assert admin.violations() == []
    assert client.wait_for_workflow(made.id, 60).state == "succeeded"
    expect(promise).to_contain_text("The promise was kept.")


def test_an_offer_is_accepted_for_all_indices_of_an_array(admin: Visitor, client: Client) -> None:
    made = client.arrays.submit(timed("swept")["application"], "0-2%1", finish_by="+30s")
    page = admin.open(f"/arrays/{made.id}")
    promise = page.get_by_role("region", name="Promise", exact=True)
    expect(promise).to_contain_text("exceeds the time left")
    promise.get_by_role("button", name="Accept offer 1", exact=True).click()
    expect(promise).to_contain_text("It is promised to end by")
    assert admin.violations() == []
    assert client.arrays.wait(made.id, 60).state == "succeeded"
    expect(promise).to_contain_text("The promise was kept.")


def timed(name: str, **more: Any) -> dict[str, Any]:
    made = {"version": 4, "name": name, "size": {"run_time_s": 20}}
    part = {"name": "main", "image": "zoe/tiny", "command": ["true"], "resources": {"memory": "16MiB", "cores": 0.1}}
    part |= {"ends_application": True, "environment": {"PROGRAM": name}}  # run times are learned by program
    return {"name": name, "application": {**made, "components": [part]}, **more}


def test_it_is_cancelled_as_a_whole(admin: Visitor, client: Client) -> None:
    steps = [step("long", "sleep 600"), step("after", "true", needs=["long"])]
    made = client.workflows.run({"version": 1, "name": "long one", "steps": steps})
    page = admin.open(f"/workflows/{made.id}")
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_label("after cancelled")).to_be_visible()
    expect(page.locator(".lead")).to_contain_text("cancelled")
