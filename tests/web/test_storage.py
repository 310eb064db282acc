"""Charts of the object store's bandwidth: also of the time before anybody looked at a page."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from storage_bridge.model import AchievedBandwidth, BandwidthSlo, StoreExecution
from storage_controller.database.use_rows import HeardUse, add_spans, add_uses
from storage_controller.settings import NodeKind, NodeSettings
from storage_controller.swift.execution_keys import ExecutionKeys
from storage_filters.counting.request_counters import request_name
from tests.support.documents import job
from tests.support.object_store import object_store
from tests.support.postgres import PostgresServer
from tests.support.prometheus import prometheus
from tests.support.stack import running_stack
from tests.support.storage_controller import MB, TOKEN, Served, served_controller
from tests.support.web import PICTURES, Visitor
from tests.web.test_everyone import wrong
from zoe_client import Client
from zoe_client.wire import CredentialRequest
from zoe_embedded.stack import Stack
from zoe_embedded.swift.configuration import REGION
from zoe_embedded.swift.store import ObjectStore
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.tokens.api_tokens import FIRST_TENANT

SAMPLED_S = 0.2
OWNER = "zoe"
ACHIEVED = r"Latest: read: 7\.0 MB/s, read granted: {granted} MB/s, written: 2\.0 MB/s, write granted: 0 B/s"
# By how much tables are wider than what shows them.
WIDE = "[...document.querySelectorAll('.scroll')].map(one => one.scrollWidth - one.clientWidth).filter(px => px > 1)"

NOWHERE = "http://127.0.0.1:1"
NODES = {
    "object-1": NodeSettings(kind=NodeKind.OBJECT, url=NOWHERE, restart=["/bin/echo", "began"]),
    "object-2": NodeSettings(kind=NodeKind.OBJECT, url=NOWHERE, restart=["/bin/sh", "-c", "echo no unit; exit 5"]),
    "proxy-1": NodeSettings(kind=NodeKind.PROXY, url=NOWHERE),
}


@pytest.fixture(scope="module")
def controller(postgres_server: PostgresServer) -> Iterator[Served]:
    """A real one, with tenants that read and write all the time."""
    url = postgres_server.create_database()
    keys = ExecutionKeys(b"s" * 32, "AUTH_")
    with prometheus() as source, served_controller(url, keys, prometheus_url=source.url, nodes=NODES) as served:
        served.achieved |= {FIRST_TENANT: AchievedBandwidth(7 * MB, 2 * MB), "another": AchievedBandwidth(3 * MB, 0)}
        yield served
    postgres_server.drop_database(url)


@pytest.fixture(scope="module")
def swift() -> Iterator[ObjectStore]:
    with object_store(nodes=1, replicas=1) as store:
        yield store


@pytest.fixture(scope="module")
def stack(controller: Served, swift: ObjectStore, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A stack that asks this controller, with a Swift."""
    token_file = tmp_path_factory.mktemp("controller") / "token"
    token_file.write_text(TOKEN)
    with running_stack(
        forked=True,
        storage_url=controller.url,
        storage_token_file=str(token_file),
        storage_interval_s=SAMPLED_S,
        storage_services={"zoe": {"url": swift.auth_url, "region": REGION}},
        usage_interval_s=SAMPLED_S,
    ) as running:
        yield running


def test_an_execution_shows_the_bandwidth_of_its_time_when_it_is_over(admin: Visitor, client: Client) -> None:
    bandwidth = {"read": "10MB/s", "guarantee": "required"}
    execution = client.submit(job("sleep", "3", name="reader", storage={"bandwidth": bandwidth}))
    assert client.wait(execution.id, 60).state is ExecutionState.SUCCEEDED
    page = admin.open(f"/executions/{execution.id}/charts")
    # A mean over its time: in the first looks the promise may not have been in force yet.
    expect(page.get_by_label(re.compile(ACHIEVED.format(granted="[1-9].*")))).to_be_visible()


def test_an_execution_shows_where_its_inputs_lie_as_far_as_that_is_known(admin: Visitor, client: Client) -> None:
    """Its tenant has stored no credential, so the places cannot be read; it runs all the same."""
    inputs = [{"name": "meters", "uri": "swift2d://meters.zoe/2015"}]
    execution = client.submit(job("sleep", "1", name="reader", storage={"inputs": inputs}))
    assert client.wait(execution.id, 60).state is ExecutionState.SUCCEEDED
    page = admin.open(f"/executions/{execution.id}")
    expect(page.get_by_text("Input meters: Zoe does not know which nodes hold its objects")).to_be_visible()
    assert admin.violations() == []


def test_operators_see_each_tenants_bandwidth_of_the_last_hours(admin: Visitor) -> None:
    page = admin.open("/cluster/storage")
    over_time = page.get_by_label("Bandwidth over time", exact=True)
    for hours in ("1", "24"):
        over_time.get_by_role("combobox").select_option(hours)
        own = re.compile(f"Bandwidth of {FIRST_TENANT}, .*Latest: read: 7\\.0 MB/s, .*written: 2\\.0 MB/s")
        expect(over_time.get_by_label(own)).to_be_visible()
        expect(over_time.get_by_label(re.compile(r"Bandwidth of another, .*Latest: read: 3\.0 MB/s"))).to_be_visible()
    assert admin.violations() == []


def test_operators_see_who_asks_for_how_much(admin: Visitor, controller: Served) -> None:
    counters = {
        request_name("GET", FIRST_TENANT, "meters"): [
            time.time_ns(),
            600,
            20,
            0,
            90 * MB,
            0,
            12_000_000,
            600,
            20,
            *[0] * 4,
        ],
        request_name("PUT", "another", "logs"): [time.time_ns(), 60, 0, 6, 0, 9 * MB, 660_000, 66, *[0] * 5],
    }
    computed = {request_name("GET", FIRST_TENANT, "meters"): [time.time_ns(), 5_000_000, 1_000_000]}
    controller.traffic.hear("proxy", counters, computed)
    signed = request_name("GET", FIRST_TENANT, f"{FIRST_TENANT}:ann")
    controller.of_signers.hear("proxy", {signed: [time.time_ns(), 5, *[0] * 11]})
    controller.of_nodes.hear("object-1", counters)
    page = admin.open("/cluster/storage")
    table = page.get_by_label("Requests", exact=True)
    expect(table.get_by_role("row").nth(1)).to_have_text(
        re.compile("meters.*GET.*62.*2.*9[.]0 MB/s.*19[.]35 ms.*0[.]5 cores, 0[.]1 waiting")
    )
    table.get_by_label("By").select_option(label="proxy and method")
    expect(table.get_by_role("row").nth(2)).to_have_text(re.compile("^PUTproxy|^proxyPUT"))
    table.get_by_label("By").select_option(label="who signs and method")
    expect(table.get_by_role("row").nth(1)).to_contain_text(f"{FIRST_TENANT}:ann")
    table.get_by_label("By").select_option(label="object server and method")
    expect(table.get_by_role("row").nth(1)).to_contain_text("object-1")
    assert admin.violations() == []


def test_an_admin_sees_the_nodes_of_the_store_and_restarts_them(admin: Visitor) -> None:
    page = admin.open("/cluster/rules/nodes")
    rows = page.get_by_label("Nodes of the store").get_by_role("row")
    expect(rows.filter(has_text="proxy-1")).to_contain_text("not set up")
    expect(rows.filter(has_text="proxy-1").get_by_role("button")).to_have_count(0)
    row, dialog = rows.filter(has_text="object-1"), page.get_by_role("dialog")
    expect(row).to_contain_text(re.compile("away no answer for .*connection refused"))
    restart = page.get_by_role("button", name="Restart object-1", exact=True)
    restart.click()
    expect(dialog).to_contain_text("other copies are read")
    assert admin.violations() == []
    dialog.get_by_role("button", name="Leave it as it is").click()
    expect(dialog).to_have_count(0)
    expect(row).not_to_contain_text("exit code")
    restart.focus()
    page.keyboard.press("Enter")
    dialog.get_by_role("button", name="Restart object-1").click()
    expect(dialog).to_have_count(0)
    expect(row).to_contain_text(re.compile("done .* by admin: exit code 0"), timeout=20_000)
    row.get_by_text("What it said").click()
    expect(row).to_contain_text("began")
    page.get_by_role("button", name="Restart object-2", exact=True).click()
    dialog.get_by_role("button", name="Restart object-2").click()
    expect(rows.filter(has_text="object-2")).to_contain_text(re.compile("failed .*: exit code 5"), timeout=20_000)
    assert wrong(admin, "store-nodes", PICTURES) == []


def test_long_names_leave_numbers_in_sight_and_slow_rates_are_told(admin: Visitor, controller: Served) -> None:
    long = "container-of-a-name-" * 7
    counters = {request_name("GET", FIRST_TENANT, long): [time.time_ns(), 600, 20, 0, 40_000, *[0] * 8]}
    controller.traffic.hear("proxy", counters)
    controller.achieved["slow"] = AchievedBandwidth(40_000, 0)
    page = admin.open("/cluster/storage")
    row = page.get_by_label("Requests", exact=True).get_by_role("row").filter(has_text=long)
    expect(row).to_contain_text("4.0 kB/s")
    over_time = page.get_by_label(re.compile("Bandwidth of slow, .*Latest: read: "))
    expect(over_time).to_have_attribute("aria-label", re.compile("Latest: read: [0-9.]+ [kM]B/s"))
    expect(page.get_by_role("row").filter(has_text="slowread")).to_contain_text("40.0 kB/s")
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(WIDE) == [], width
    controller.traffic.hear("proxy", {name: [time.time_ns(), *counts[1:]] for name, counts in counters.items()})
    row.scroll_into_view_if_needed()
    expect(row.locator("td").filter(has_text="4.0 kB/s")).to_be_in_viewport()
    del controller.achieved["slow"]


def test_long_names_of_rules_and_controllers_wrap(admin: Visitor, controller: Served) -> None:
    long = "container-of-a-name" * 8
    with controller.http() as http:
        [rule] = http.post(
            "/v1/rules", json={"text": f"FOR CONTAINER acme/{long} WHEN GETS_SEC > 5 DO SET NOOP"}
        ).json()
        for path in ("/cluster/rules", "/cluster/rules/controllers"):
            page = admin.open(path)
            expect(page.get_by_role("row").filter(has_text=long)).to_be_visible()
            for width in (1280, 390):
                page.set_viewport_size({"width": width, "height": 800})
                assert page.evaluate(WIDE) == [], (path, width)
        http.delete(f"/v1/rules/{rule['id']}")


def test_the_form_says_before_the_launch_what_the_store_can_never_promise_and_the_largest_that_would_do(
    admin: Visitor,
) -> None:
    page = admin.open("/new")
    page.get_by_label("Description as JSON", exact=True).click()
    page.keyboard.press("Control+A")
    wanted = job("true", storage={"bandwidth": {"read": "101MB/s", "guarantee": "required"}})
    page.keyboard.insert_text(json.dumps(wanted))
    expect(page.get_by_text("the object store can guarantee only 100MB/s to read in total").first).to_be_visible()
    expect(page.get_by_text("ask for at most 100MB/s to read").first).to_be_visible()


def test_files_of_the_object_store_are_beside_those_of_workspaces(
    admin: Visitor, client: Client, swift: ObjectStore, tmp_path: Path
) -> None:
    user = swift.user("acme:ann")
    client.set_storage_credential("zoe", CredentialRequest(user=user.login, key=user.key))
    table = tmp_path / "cities.csv"
    table.write_text("city,people\nNice,343000\nTurin,841600\n")
    page = admin.open("/files")
    page.get_by_role("link", name="Object store zoe").click()
    expect(page.get_by_label("Upload files")).to_have_count(0)
    page.get_by_label("New container").fill("meters")
    page.get_by_role("button", name="Make", exact=True).click()
    page.get_by_role("link", name="meters/").click()
    page.get_by_label("Upload files").set_input_files([str(table)])
    page.get_by_role("button", name="cities.csv", exact=True).click()
    expect(page.get_by_role("dialog").get_by_role("cell", name="Turin")).to_be_visible()
    assert admin.violations() == []
    page.get_by_role("button", name="Close").click()
    with page.expect_download() as downloading:
        page.get_by_role("link", name="Download cities.csv").click()
    assert downloading.value.path().read_bytes() == table.read_bytes()
    page.get_by_role("button", name="Delete cities.csv").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("drop files here")).to_be_visible()
    client.remove_storage_credential("zoe")


def test_executions_are_beside_the_bandwidth_of_their_tenant_and_have_their_requests(
    admin: Visitor, client: Client, controller: Served
) -> None:
    execution = client.submit(job("sleep", "2", name="reader"))
    assert client.wait(execution.id, 60).state is ExecutionState.SUCCEEDED
    at_s = time.time() - 30
    zoe = controller.ledger.keep_execution(StoreExecution(execution.id, FIRST_TENANT, BandwidthSlo(), OWNER))
    assert zoe is not None
    uses = [
        HeardUse(execution.id, zoe.generation, subject, "p1", 1, 4, 1, 90 * MB, 0)
        for subject in ("request/GET/meters", "rule/7/COMPRESSION/get")
    ]
    with controller.ledger.begin() as connection:
        add_uses(connection, uses, at_s)
        add_spans(connection, {zoe.generation: (90 * MB, 0)}, at_s)
    page = admin.open(f"/executions/{execution.id}/charts")
    card = page.get_by_label("Requests at the object store")
    expect(card.get_by_role("row").nth(1)).to_have_text(
        re.compile("GET.*meters.*5.*1.*85[.]8 MiB|GET.*meters.*5.*1.*90")
    )
    expect(card.get_by_text("rule 7: COMPRESSION: 5 reads")).to_be_visible()
    assert admin.violations() == []
    page = admin.open("/cluster/storage")
    executions = page.get_by_label(f"Executions of {FIRST_TENANT} at the store")
    row = executions.get_by_role("row").filter(has=page.get_by_role("link", name="reader"))
    expect(row.first).to_contain_text("rule 7: COMPRESSION")
    expect(row.first.get_by_role("img", name=re.compile("reader ran from .* moved bytes in 1 of"))).to_be_visible()
    controller.ledger.drop_execution(OWNER, execution.id)
    assert admin.violations() == []
