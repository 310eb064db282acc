"""Replays of past executions, side by side with the effect of another policy."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from playwright.sync_api import expect

from tests.support.cluster_size import all_cores
from tests.support.documents import job, sized
from tests.support.web import PICTURES, Visitor
from zoe_client import Client
from zoe_lib.domain.executions.execution import ExecutionState


def test_past_executions_are_replayed_under_another_policy(admin: Visitor, client: Client) -> None:
    client.wait(client.submit(job("true")).id, 60)
    began = datetime.fromtimestamp(int(time.time()) + 1)  # noqa: DTZ006 - as the browser, whose clock is this one
    time.sleep(1.1)
    cores = all_cores(client)
    ids = [client.submit(sized(cores, "sleep", "1", name=f"turn-{i}", size={"run_time_s": 1})).id for i in range(3)]
    for execution_id in ids:
        assert client.wait(execution_id, 60).state is ExecutionState.SUCCEEDED
    page = admin.open("/cluster/replay")
    page.get_by_label("Since", exact=True).fill((began - timedelta(days=1)).isoformat())
    page.get_by_role("button", name="Replay", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("begin at")
    page.get_by_label("Since", exact=True).fill(began.isoformat())
    page.get_by_label("Queue order").select_option("fifo")
    page.get_by_label("Add a node like").select_option("local")
    page.get_by_role("button", name="Replay", exact=True).click()
    outcome = page.get_by_label("Result", exact=True)
    expect(outcome).to_be_visible(timeout=60_000)
    expect(outcome.get_by_role("columnheader")).to_have_text(["Figure", "as it was", "changed"])
    executions = outcome.get_by_role("row").filter(has=page.get_by_role("cell", name="executions", exact=True))
    expect(executions.get_by_role("cell")).to_have_text(["executions", "3", "3"])
    for label in ("Executions that wait", "Cores reserved"):
        expect(page.get_by_label(label)).to_have_attribute("aria-label", f"{label}. Latest: as it was: 0, changed: 0")
    assert admin.violations() == []
    if PICTURES is not None:
        page.screenshot(path=PICTURES / "web-replay.png")
