"""A real master is killed between any two steps, or its controller fails: no resource leaks, and no service starts too
early.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.storage.test_views import meters
from tests.support.documents import document, job, part
from tests.support.faulty_controller import FaultyController, faulty_controller
from tests.support.installation import Installation
from tests.support.long import of_storage
from tests.support.object_store import logged_in
from tests.support.waiting import until
from tests.support.whole_storage import TOKEN, Whole, client_of, installation_with, whole_storage
from zoe_client import Client
from zoe_client.wire import CredentialRequest
from zoe_embedded.processes.ports import HeldPorts
from zoe_lib.domain.applications.templates import escape
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_master.state.crash_points import CrashPoint

MB = 10**6
# So little that views pay, however busy the machine is.
CAPACITY = 2 * MB
REQUIRED = 1 * MB
TIMEOUT_S = 1.0
LEASE_S = 6.0
HEADERS = {"X-Auth-Token": TOKEN}
# What a service finds at the controller while it runs, bypassing every cache.
LOOK = """
import json, sys, time, urllib.request
def ask(path):
    request = urllib.request.Request(sys.argv[1] + "/v1/owners/zoe/" + path, headers={"X-Auth-Token": sys.argv[2]})
    return json.load(urllib.request.urlopen(request))
found = {"slos": ask("slos"), "views": [one["id"] for one in ask("views")], "uri": sys.argv[4]}
with open(sys.argv[3], "a") as file:
    file.write(json.dumps(found) + "\\n")
time.sleep(float(sys.argv[5]))
"""


@pytest.fixture
def whole(postgres_url: str) -> Iterator[Whole]:
    with whole_storage(postgres_url, CAPACITY) as made:
        yield made


@pytest.fixture
def line(whole: Whole) -> Iterator[FaultyController]:
    with faulty_controller(whole.url) as made:
        yield made


@pytest.fixture
def installation(postgres_url: str, whole: Whole, line: FaultyController, tmp_path: Path) -> Iterator[Installation]:
    changes: dict[str, Any] = {
        "storage_url": line.url,
        "storage_timeout_s": TIMEOUT_S,
        "storage_view_timeout_s": 10.0,
        "storage_services": whole.services,
    }
    with installation_with(whole, postgres_url, tmp_path, storage_lease_s=LEASE_S, **changes) as made:
        yield made
        line.healed.set()


@pytest.fixture
def client(installation: Installation, postgres_url: str, whole: Whole) -> Iterator[Client]:
    with client_of(installation, postgres_url, whole) as made:
        key = whole.store.user("acme:ann").key
        made.set_storage_credential("zoe", CredentialRequest(user="acme:ann", key=key))
        yield made


@pytest.fixture
def metrics_port() -> Iterator[int]:
    with HeldPorts(1) as held:
        yield held.numbers[0]


@pytest.fixture
def readings(whole: Whole) -> None:
    with logged_in(whole.store, "acme:ann") as ann:
        ann.put("meters")
        ann.put("meters/2015/a.csv", meters(1, 30_000)[0])


def application(whole: Whole, run_s: float, guarantee: str = "required") -> dict[str, Any]:
    python = shutil.which("python3", path="/usr/local/bin:/usr/bin")
    if python is None:
        pytest.skip("missing program: python3 in /usr/bin for components")
    look = [python, "-I", "-c", escape(LOOK), whole.url, TOKEN, "{workspace}/{execution}", "{input:meters}", str(run_s)]
    pushdown = {"columns": ["id", "kwh"], "where": "city = 'Nice' and kwh > 90"}
    return document(
        part("main", *look, ends_application=True),
        part("helper", "sh", "-c", "exec sleep 600"),
        storage={
            "inputs": [{"name": "meters", "uri": "swift2d://meters.zoe/2015", "pushdown": pushdown}],
            "bandwidth": {"read": REQUIRED, "guarantee": guarantee},
        },
    )


def left(whole: Whole) -> tuple[dict[str, Any], list[str], list[str]]:
    """Return SLOs and views at the controller, and view containers in Swift; without renewing any lease."""
    with httpx.Client(base_url=whole.url, headers=HEADERS, trust_env=False, timeout=30) as http:
        slos = http.get("/v1/owners/zoe/slos").json()
        views = [entry["id"] for entry in http.get("/v1/owners/zoe/views").json()]
    with logged_in(whole.store, "acme:ann") as ann:
        containers = [entry["name"] for entry in ann.call("GET", "?format=json").json()]
    return slos, views, [name for name in containers if name.startswith("zoe-view-")]


def check_start(installation: Installation, execution_id: str) -> None:
    """Each time that it ran, the promise was in force and the view was there."""
    told = (installation.workspaces / "acme" / "ann" / execution_id).read_text().splitlines()
    assert len(told) == 1, told
    found = json.loads(told[0])
    assert found["slos"]["acme"]["read_bytes_per_s"] >= REQUIRED
    assert found["uri"] == f"swift2d://zoe-view-{execution_id}-1-meters.zoe/data"
    assert f"{execution_id}-1-meters" in found["views"]


@of_storage
@pytest.mark.usefixtures("readings")
def test_killed_between_any_two_steps_it_leaves_nothing_and_starts_nothing_without_its_guarantee(
    installation: Installation, client: Client, whole: Whole
) -> None:
    for step in CrashPoint:
        kill_and_check(installation, client, whole, step)


def kill_and_check(installation: Installation, client: Client, whole: Whole, step: CrashPoint) -> None:
    execution_id = client.submit(application(whole, 0.3)).id
    killed = installation.start_master(ZOE_CRASH_AT=step)
    until(lambda: killed.poll() is not None, lambda: (step, client.execution(execution_id)))
    assert killed.returncode == -signal.SIGKILL
    led = installation.log("master").count('"event": "leading"')
    fresh = installation.start_master()
    installation.until_leading(led + 1)
    execution = client.wait(execution_id, 60)
    assert (step, execution.state, execution.attempt) == (step, ExecutionState.SUCCEEDED, 1), execution.message
    check_start(installation, execution_id)
    until(lambda: left(whole) == ({}, [], []), lambda: (step, left(whole)))
    assert installation.stop(fresh) == 0


@of_storage
@pytest.mark.usefixtures("readings")
def test_slo_and_view_of_a_dead_master_end_with_the_lease(
    installation: Installation, client: Client, whole: Whole
) -> None:
    master = installation.start_master()
    execution_id = client.submit(application(whole, 600.0)).id
    until(lambda: client.execution(execution_id).state is ExecutionState.RUNNING, lambda: installation.log("master"))
    slos, views, containers = left(whole)
    assert (list(slos), views, containers) == (["acme"], [f"{execution_id}-1-meters"], [f"zoe-view-{views[0]}"])
    os.kill(master.pid, signal.SIGKILL)
    master.wait()
    time.sleep(LEASE_S / 2)
    assert left(whole)[2] == containers
    until(lambda: left(whole) == ({}, [], []), lambda: left(whole), 60)
    installation.start_master()
    until(lambda: left(whole)[2] == containers, lambda: left(whole), 60)
    client.cancel(execution_id)
    client.wait(execution_id, 60)
    until(lambda: left(whole) == ({}, [], []), lambda: left(whole))


@pytest.mark.usefixtures("readings")
@pytest.mark.parametrize(
    "fault", ["down", *(pytest.param(fault, marks=of_storage) for fault in ("slow", "forgetful", "garbage"))]
)
def test_whatever_the_controller_does_the_stance_is_kept_and_no_tick_waits_for_it(
    installation: Installation, client: Client, whole: Whole, line: FaultyController, metrics_port: int, fault: str
) -> None:
    installation.store.set_policy(Policy(storage_patience_s=4.0, retry_backoff_s=0.5), 0, time.time(), "test")
    installation.start_master(ZOE_MASTER_METRICS_PORT=str(metrics_port))
    warm = client.submit(application(whole, 0.0)).id
    assert client.wait(warm, 60).state is ExecutionState.SUCCEEDED
    line.fault = fault
    required = client.submit(application(whole, 0.0)).id
    preferred = client.submit(application(whole, 0.0, "preferred")).id
    for _ in range(5):
        began_s = time.monotonic()
        assert client.wait(client.submit(job("true")).id, 30).state is ExecutionState.SUCCEEDED
        assert time.monotonic() - began_s < 10.0
    assert client.wait(preferred, 30).state is ExecutionState.SUCCEEDED
    [read] = client.execution(preferred).inputs
    assert (read.uri, read.view) == ("swift2d://meters.zoe/2015", None)
    until(lambda: told_why(client, required, fault), lambda: client.execution(required), 30)
    assert "service_starting" not in [event.kind for event in client.events(required).events]
    assert line.asked > 0
    # A tick reads what its threads saw last; the database is all that it waits for.
    longer, ticks = ticks_longer_than(metrics_port, 1.0)
    assert longer <= ticks / 50, f"{longer} of {ticks} ticks waited"
    line.fault = None
    line.healed.set()
    assert client.wait(required, 90).state is ExecutionState.SUCCEEDED
    until(lambda: left(whole) == ({}, [], []), lambda: left(whole))


def told_why(client: Client, execution_id: str, fault: str) -> bool:
    """Either it waits for a controller that is away, or it was admitted and sent back, with the reason."""
    if fault == "forgetful":
        events = client.events(execution_id).events
        return any(event.data.get("cause") == "storage_unavailable" for event in events if event.kind == "stopping")
    reason = client.execution(execution_id).reason
    return reason is not None and "cannot be reached" in reason.sentence


def ticks_longer_than(port: int, seconds: float) -> tuple[float, float]:
    """How many, and of how many: a busy database may hold up one."""
    text = httpx.get(f"http://127.0.0.1:{port}/metrics", trust_env=False).text
    buckets = dict(re.findall(r'zoe_tick_seconds_bucket\{le="([^"]+)"\} ([0-9.]+)', text))
    within = max(float(count) for bound, count in buckets.items() if float(bound) <= seconds)
    ticks = float(buckets["+Inf"])
    return ticks - within, ticks
