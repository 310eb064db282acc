"""What an execution moved is in the journal and on the statement, to the byte: real Swift, controller, master, API."""

from __future__ import annotations

import base64
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from storage_bridge.connect import connect
from storage_bridge.http import ControllerSettings
from storage_bridge.model import BandwidthSlo, StoreExecution, TransferTotals
from storage_bridge.zoe_controller import ZoeController
from tests.support.documents import document, part
from tests.support.forked_controller import ForkedControllerSite
from tests.support.installation import Installation
from tests.support.object_store import ADMIN, logged_in, object_store
from tests.support.store_executions import s3_of, sign_in
from tests.support.waiting import until
from tests.support.whole_storage import TOKEN, Whole, client_of, installation_with
from zoe_client import Client
from zoe_client.wire import CredentialRequest
from zoe_embedded.home import Account
from zoe_embedded.swift.configuration import ControllerLine
from zoe_embedded.swift.controller import ControllerSite
from zoe_lib.domain.applications.templates import escape
from zoe_lib.domain.executions.execution import ExecutionState

MB = 10**6
CAPACITY = 40 * MB
FIRST, SECOND, WRITTEN = 3_000_017, 1_234_567, 654_321
# Reads a first object, tells so and waits, reads a second one and writes.
PROGRAM = """
import os, re, sys, time, urllib.error, urllib.request
conf, auth, told, go = sys.argv[1:]
text = open(conf).read()
user, key = (re.findall("service.zoe." + name + "</name><value>(.*?)<", text)[0] for name in ("username", "password"))
while True:
    try:
        sign_in = urllib.request.Request(auth, headers={"X-Auth-User": user, "X-Auth-Key": key})
        answer = urllib.request.urlopen(sign_in)
        break
    except urllib.error.HTTPError:  # the proxy hears of a new credential within half a second
        time.sleep(0.1)
url, token = answer.headers["X-Storage-Url"], {"X-Auth-Token": answer.headers["X-Auth-Token"]}
def get(name):
    return len(urllib.request.urlopen(urllib.request.Request(url + "/data/" + name, headers=token)).read())
first = get("first")
open(told, "w").write(str(first))
while not os.path.exists(go):
    time.sleep(0.05)
second = get("second")
put = urllib.request.Request(url + "/data/out", data=b"x" * WRITTEN, headers=token, method="PUT")
urllib.request.urlopen(put).read()
open(told, "w").write(str(first + second))
""".replace("WRITTEN", str(WRITTEN))


@dataclass
class Site:
    """A store and the processes of its controller, which may be killed."""

    whole: Whole
    controllers: ControllerSite
    processes: list[subprocess.Popen[bytes]]

    def kill(self) -> None:
        end(self.processes[-1])

    def start(self) -> None:
        self.processes.append(self.controllers.start())
        self.controllers.wait_until_up(self.processes[-1])


def end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


@pytest.fixture
def site(postgres_url: str) -> Iterator[Site]:
    sites: list[ControllerSite] = []

    def line(apart: Path, account: Account | None) -> ControllerLine:
        sites.append(ForkedControllerSite(apart, TOKEN, account))
        return sites[0].line

    def secret(_: Path, account: Account | None) -> str:
        return str(sites[0].executions_secret)

    small = {"nodes": 1, "replicas": 1, "proxy_workers": 2, "s3": True}
    with ExitStack() as undo:
        store = undo.enter_context(object_store(**small, executions_secret=secret, controller=line))
        [controllers] = sites
        undo.callback(controllers.close)
        plain = postgres_url.replace("postgresql+psycopg2:", "postgresql:")
        controllers.configure(store, ADMIN, plain, BandwidthSlo(CAPACITY, CAPACITY))
        processes = [controllers.start()]
        undo.callback(lambda: end(processes[-1]))
        controllers.wait_until_up(processes[-1])
        client = connect(ControllerSettings(controllers.url, TOKEN, "zoe", timeout_s=30))
        assert isinstance(client, ZoeController)
        yield Site(Whole(store, controllers.url, client), controllers, processes)


@pytest.fixture
def objects(site: Site) -> None:
    with logged_in(site.whole.store, "acme:ann") as ann:
        ann.put("data")
        ann.put("data/first", os.urandom(FIRST))
        ann.put("data/second", os.urandom(SECOND))


@pytest.fixture
def installation(postgres_url: str, site: Site, tmp_path: Path) -> Iterator[Installation]:
    with installation_with(site.whole, postgres_url, tmp_path, storage_services=site.whole.services) as made:
        yield made


@pytest.fixture
def client(installation: Installation, postgres_url: str, site: Site) -> Iterator[Client]:
    with client_of(installation, postgres_url, site.whole) as made:
        key = site.whole.store.user("acme:ann").key
        made.set_storage_credential("zoe", CredentialRequest(user="acme:ann", key=key))
        yield made


def reader(site: Site, tmp_path: Path) -> dict[str, Any]:
    python = shutil.which("python3", path="/usr/local/bin:/usr/bin")
    if python is None:
        pytest.skip("missing program: python3 in /usr/bin for components")
    auth = site.whole.store.auth_url
    arguments = ["{scratch}/zoe-storage/core-site.xml", auth, "{workspace}/told", "{workspace}/go"]
    return document(
        part("main", python, "-I", "-c", escape(PROGRAM), *arguments, ends_application=True),
        storage={"inputs": [{"name": "data", "uri": "swift2d://data.zoe/first"}]},
    )


def told(installation: Installation) -> str:
    place = installation.workspaces / "acme" / "ann" / "told"
    return place.read_text() if place.exists() else ""


def moved(client: Client, execution_id: str) -> list[dict[str, Any]]:
    events = client.events(execution_id).events
    return [dict(event.data["transfers"]) for event in events if event.kind == "storage_transferred"]


def set_prices(installation: Installation) -> None:
    rates = [{"meter": meter, "rate": "1000"} for meter in ("read_gb", "written_gb")]
    prices = {"currency": "EUR", "from": "2026-01-01", "digits": 6, "rates": rates}
    installation.store.billing.set_price_list(prices, 0.0, "root", past=True)


def charged(client: Client) -> dict[str, tuple[str, str | None]]:
    month = datetime.now(UTC).strftime("%Y-%m")
    return {
        str(line.meter): (line.quantity, line.amount) for line in client.statement(month).lines if "_gb" in line.meter
    }


@pytest.mark.usefixtures("objects")
def test_an_execution_gets_what_it_moved_whoever_is_killed_meanwhile(
    site: Site, installation: Installation, client: Client, tmp_path: Path
) -> None:
    """The controller is killed while it reads, and the master between the journal and the controller's forgetting."""
    set_prices(installation)
    first = installation.start_master()
    execution_id = client.submit(reader(site, tmp_path)).id
    until(lambda: told(installation) == str(FIRST), lambda: output(client, execution_id), 60)
    until(lambda: so_far(client, execution_id) == (FIRST, 0), lambda: client.execution(execution_id))
    site.kill()
    with logged_in(site.whole.store, "acme:ann") as ann:  # not the execution's
        assert ann.call("GET", "data/second").status_code == 200
    (installation.workspaces / "acme" / "ann" / "go").write_text("")
    until(lambda: told(installation) == str(FIRST + SECOND), lambda: installation.log("master"))
    assert client.wait(execution_id, 60).state is ExecutionState.SUCCEEDED
    assert moved(client, execution_id) == [], "its controller is away"
    installation.stop(first)
    killed = installation.start_master(ZOE_CRASH_AT="storage_told")
    site.start()
    until(lambda: killed.poll() is not None, lambda: installation.log("master"), 60)
    assert killed.returncode == -signal.SIGKILL
    again = installation.start_master()
    until(lambda: list(site.whole.controller.ended_transfers()) == [], lambda: installation.log("master"), 60)
    [one] = moved(client, execution_id)
    assert (one["read_bytes"], one["written_bytes"], one["whole"]) == (FIRST + SECOND, WRITTEN, True)
    assert 0 < one["transferring_s"] <= one["waiting_s"]
    shown = client.execution(execution_id).transfers
    assert shown is not None
    assert (shown.read_bytes, shown.written_bytes, shown.final) == (FIRST + SECOND, WRITTEN, True)
    assert charged(client) == {
        "read_gb": (f"{(FIRST + SECOND) / 1e9:.6f}", f"{(FIRST + SECOND) / 1e6:.6f}"),
        "written_gb": (f"{WRITTEN / 1e9:.6f}", f"{WRITTEN / 1e6:.6f}"),
    }
    installation.stop(again)


def output(client: Client, execution_id: str) -> str:
    [service] = client.execution(execution_id).services
    return base64.b64decode(client.logs(execution_id, service.id).data).decode(errors="replace")


def so_far(client: Client, execution_id: str) -> tuple[int, int] | None:
    shown = client.execution(execution_id).transfers
    if shown is None:
        return None
    assert not shown.final
    return shown.read_bytes, shown.written_bytes


@pytest.mark.usefixtures("objects")
def test_bodies_count_by_both_interfaces_and_neither_headers_nor_what_was_refused(site: Site) -> None:
    controller, store = site.whole.controller, site.whole.store
    credential = controller.set_execution(StoreExecution("x1", "acme", BandwidthSlo()))
    until(lambda: sign_in(store, credential.user, credential.key).status_code == 200)
    with s3_of(store, credential.user, credential.key) as s3:
        assert len(s3.call("GET", "data/first").content) == FIRST
        assert s3.call("PUT", "data/copy", content=b"y" * 70_000).status_code == 200
        assert s3.call("GET", "data/missing").status_code == 404
        assert s3.call("HEAD", "data/second").status_code == 200
    token = sign_in(store, credential.user, credential.key).headers["X-Auth-Token"]
    with logged_in(store, "acme:ann") as ann, httpx.Client(headers={"X-Auth-Token": token}) as http:
        part_of = http.get(f"{ann.account_url}/data/second", headers={"Range": "bytes=100-299"})
        assert len(part_of.content) == 200
        ann.call("GET", "data/second")  # of the tenant, not of the execution
    wanted = FIRST + 200, 70_000
    until(lambda: counted(controller) == wanted, lambda: counted(controller))
    controller.drop_execution("x1")
    until(lambda: len(controller.ended_transfers()) == 1, None, 20)
    [ended] = controller.ended_transfers()
    assert ended.whole
    assert ended.totals is not None
    assert (ended.totals.read_bytes, ended.totals.written_bytes) == wanted


@pytest.mark.usefixtures("objects")
def test_the_history_of_an_execution_tells_its_requests_and_the_rules_that_they_met(site: Site) -> None:
    controller, store = site.whole.controller, site.whole.store
    with httpx.Client(base_url=site.whole.url, headers={"X-Auth-Token": TOKEN}) as http:
        rule = {"text": "FOR CONTAINER acme/data DO SET COMPRESSION"}
        [made] = http.post("/v1/rules", json=rule).json()
        credential = controller.set_execution(StoreExecution("x1", "acme", BandwidthSlo(MB, MB)))
        until(lambda: sign_in(store, credential.user, credential.key).status_code == 200)
        token = sign_in(store, credential.user, credential.key).headers["X-Auth-Token"]
        with logged_in(store, "acme:ann") as ann:
            url = ann.account_url
            until(lambda: _put_by(ann, made["id"]))
        with httpx.Client(headers={"X-Auth-Token": token}, timeout=60) as client:
            assert client.put(f"{url}/data/out", content=b"z" * 70_000).status_code == 201
            assert client.get(f"{url}/data/out").content == b"z" * 70_000
            assert len(client.get(f"{url}/data/first").content) == FIRST  # stored before the rule
            assert client.get(f"{url}/data/missing").status_code == 404
            assert client.get(f"{url.replace('AUTH_acme', 'AUTH_other')}/c/o").status_code == 403

        def told() -> dict[str, Any]:
            span = {"from_s": time.time() - 3600, "to_s": time.time() + 60, "stretch_s": 3600}
            answer = http.get("/v1/owners/zoe/history", params={"execution": "x1", **span})
            return dict(answer.json()["executions"]["x1"])

        wanted = {
            "request/GET/data": (2, 1, FIRST + 70_000, 0),
            "request/PUT/data": (1, 0, 0, 70_000),
            "request/GET/": (0, 1, 0, 0),  # of another account, no container
            f"rule/{made['id']}/COMPRESSION/put": (1, 0, 0, 0),
            f"rule/{made['id']}/COMPRESSION/get": (1, 0, 0, 0),
        }
        until(lambda: _amounts(told()) == wanted, lambda: _amounts(told()))
        until(
            lambda: (
                {entry["subject"] for entry in told()["uses"] if entry["done"] > 0} >= {"cpu/PUT/data", "cpu/GET/data"}
            )
        )
        points = told()["points"]
        assert sum(point["read_bytes"] for point in points) == FIRST + 70_000
        assert sum(point["written_bytes"] for point in points) == 70_000


def _put_by(ann: Any, rule: int) -> bool:
    """Whether the proxy has the rule: the records of stored objects show it."""
    ann.put("data/probe", b"probe")
    return f'"rule":{rule}' in str(ann.call("HEAD", "data/probe", headers={"X-Zoe-Why": "yes"}).headers).replace(
        " ", ""
    )


def _amounts(told: dict[str, Any]) -> dict[str, tuple[int, int, int, int]]:
    return {
        entry["subject"]: (entry["done"], entry["refused"], entry["read_bytes"], entry["written_bytes"])
        for entry in told["uses"]
        if not entry["subject"].startswith(("limit/", "cpu/"))  # of a busy machine
    }


@pytest.mark.usefixtures("objects")
def test_restarts_of_the_proxy_lose_nothing_and_count_nothing_twice(site: Site) -> None:
    controller, store = site.whole.controller, site.whole.store
    credential = controller.set_execution(StoreExecution("x1", "acme", BandwidthSlo()))
    until(lambda: sign_in(store, credential.user, credential.key).status_code == 200)
    with s3_of(store, credential.user, credential.key) as s3:
        assert len(s3.call("GET", "data/second").content) == SECOND
        store.restart("proxy")  # before its next report, or after it
    with s3_of(store, credential.user, credential.key) as s3:
        assert len(s3.call("GET", "data/second").content) == SECOND
    controller.drop_execution("x1")
    until(lambda: len(controller.ended_transfers()) == 1, None, 20)
    [ended] = controller.ended_transfers()
    assert ended.totals is not None
    assert (ended.totals.read_bytes, ended.whole) == (2 * SECOND, True)


def counted(controller: ZoeController) -> tuple[int, int] | None:
    totals = (controller.executions() or {})["x1"].totals
    return None if totals is None else (totals.read_bytes, totals.written_bytes)


@pytest.mark.usefixtures("objects")
def test_no_transfer_is_lost_when_the_controller_is_killed(site: Site) -> None:
    controller, store = site.whole.controller, site.whole.store
    credential = controller.set_execution(StoreExecution("x1", "acme", BandwidthSlo()))
    until(lambda: sign_in(store, credential.user, credential.key).status_code == 200)
    until(lambda: (controller.executions() or {})["x1"].totals == TransferTotals(), None, 20)
    read = 0
    with s3_of(store, credential.user, credential.key) as s3:
        for number in range(12):
            if number % 4 == 2:
                site.kill()
            read += len(s3.call("GET", "data/second").content)
            if number % 4 == 3:
                site.start()
    until(lambda: counted(controller) == (read, 0), lambda: (read, counted(controller)), 20)
    controller.drop_execution("x1")
    began_s = time.monotonic()
    until(lambda: len(controller.ended_transfers()) == 1, None, 20)
    assert time.monotonic() - began_s < 10, "the proxy answers at once"
    [ended] = controller.ended_transfers()
    assert ended.totals is not None
    assert (ended.totals.read_bytes, ended.totals.written_bytes, ended.whole) == (12 * SECOND, 0, True)
