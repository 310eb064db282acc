"""A proxy whose key the controller did not have is connected again once it has it, and its counters are all told."""

from __future__ import annotations

import subprocess
from pathlib import Path

import httpx
import pytest
import zmq

from storage_bridge.model import BandwidthSlo
from tests.support.object_store import ADMIN, Person, logged_in, object_store
from tests.support.waiting import until
from tests.support.whole_storage import MB, TOKEN
from zoe_embedded.home import Account, Home
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.swift.configuration import ControllerLine
from zoe_embedded.swift.controller import ControllerSite
from zoe_embedded.swift.environment import ensure_swift


def stopped(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait(30)


def asked(url: str, path: str) -> httpx.Response:
    return httpx.get(f"{url}{path}", headers={"X-Auth-Token": TOKEN}, timeout=30)


def test_counters_of_a_refused_proxy_arrive_later(postgres_url: str, tmp_path: Path) -> None:
    sites: list[ControllerSite] = []

    def line(apart: Path, account: Account | None) -> ControllerLine:
        sites.append(ControllerSite(apart, TOKEN, account))
        return sites[0].line

    plain = postgres_url.replace("postgresql+psycopg2:", "postgresql:")
    with object_store(nodes=1, replicas=1, controller=line) as store, logged_in(store, "acme:ann") as ann:
        [site] = sites
        site.configure(store, ADMIN, plain, BandwidthSlo(20 * MB, 20 * MB))
        for number in range(3):
            ann.put(f"before{number}")
        keys = site.log.parent / "server.keys"
        right = keys.read_text()
        keys.write_text("\n".join([*right.split()[:2], zmq.curve_keypair()[0].decode()]))
        process = site.start()
        try:
            site.wait_until_up(process)
            assert asked(site.url, "/v1/reports").json() == {"proxy": None}
            with pytest.raises(AssertionError):
                until(lambda: told(site.url, "before0"), deadline_s=3)
            stopped(process)
            keys.write_text(right)
            process = site.start()
            site.wait_until_up(process)
            until(lambda: all(told(site.url, f"before{number}") == 1 for number in range(3)), deadline_s=30)
            assert asked(site.url, "/v1/reports").json()["proxy"] < 5
            rule = {"text": "FOR TENANT acme DO SET COMPRESSION"}
            added = httpx.post(f"{site.url}/v1/rules", json=rule, headers={"X-Auth-Token": TOKEN}, timeout=30)
            assert added.status_code == 201
            until(lambda: compressed(ann, site.url), deadline_s=15)
            stopped(process)
            process = site.start()  # and again, without anything that was counted anew
            site.wait_until_up(process)
            until(lambda: told(site.url, "before2") == 1, deadline_s=15)
        finally:
            stopped(process)
            site.close()


def told(url: str, container: str) -> int:
    """How many PUTs of this container the controller knows of."""
    marks = 'tenant="acme"', f'container="{container}"', 'method="PUT"', 'result="answered"'
    lines = [
        line for line in asked(url, "/metrics").text.splitlines() if line.startswith("zoe_object_store_requests_total")
    ]
    return sum(int(float(line.split()[-1])) for line in lines if all(mark in line for mark in marks))


def compressed(ann: Person, url: str) -> bool:
    ann.put("before0/one", b"text " * 10_000)
    query = "tenant=acme&container=before0&object=one"
    return [entry["filter"] for entry in asked(url, f"/v1/rules/why?{query}").json()["done"]] == ["COMPRESSION"]


AWAY = """
import logging, os, sys, time
from pathlib import Path
import eventlet
from storage_filters.bandwidth import content_samples, limits
from storage_filters.bandwidth import controller_connection as connection
from storage_filters.counting import cpu_budget, rate_table, request_counters, transfer_counters, use_counters
connection._SILENCE_S, connection.REPORT_INTERVAL_S = 0.2, 0.02
listener = eventlet.listen(("127.0.0.1", 0))
attempts = []
def refuse():
    while True:
        one, _ = listener.accept()
        attempts.append(time.monotonic())
        one.close()
eventlet.spawn_n(refuse)
address = "tcp://127.0.0.1:%d" % listener.getsockname()[1]
directory = Path(sys.argv[1])
tables = [rate_table.RateTable(directory / name) for name in ("rates", "clients")]
moved = transfer_counters.TransferCounters(directory / "moved")
asked, signed = (request_counters.RequestCounters(directory / name) for name in ("asked", "signed"))
uses, budget = use_counters.UseCounters(directory / "uses"), cpu_budget.CpuBudget(directory / "rates")
samples = content_samples.ContentSamples(directory / "rates")
conf = {"rates_file": str(directory / "rates"), "key_file": sys.argv[2], "limits_from": address, "usage_to": address}
agent = limits.LimitsAgent(*tables, moved, asked, signed, uses, budget, samples, conf["rates_file"], "proxy")
eventlet.spawn_n(connection.ControllerConnection(agent, "proxy", conf, logging.getLogger()).run)
eventlet.sleep(2)
early = len(attempts)
eventlet.sleep(6)
late = sum(at_s > time.monotonic() - 2 for at_s in attempts)
print(early, late, flush=True)
os._exit(0)
"""


def test_the_longer_a_controller_is_away_the_more_often_it_is_not_asked(tmp_path: Path) -> None:
    """A connection with queued reports was retried for ever after it was given up, beside the later ones."""
    public, secret = (data.decode() for data in zmq.curve_keypair())
    (tmp_path / "key").write_text(f"{public}\n{public}\n{secret}\n")
    python = ensure_swift(Home.find(CLONE).create()) / "bin" / "python"
    command = [str(python), "-P", "-c", AWAY, str(tmp_path), str(tmp_path / "key")]
    environment = {"PYTHONPATH": str(CLONE)}
    run = subprocess.run(command, check=True, env=environment, stdout=subprocess.PIPE, text=True, timeout=60)
    early, late = map(int, run.stdout.split())
    assert 0 < late < 2 * early
