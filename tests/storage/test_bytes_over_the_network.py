"""Savings by placement by places: bytes to hosts over the network, with the weigher and without.

Three hosts with an object server and a proxy each, as nodes of Zoe; its master places readers of an input on them, and
they run there: the same programs, the same inputs, side by side.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from storage_bridge.stocator import SwiftService, credentials_xml, swift_credentials, swift_properties
from tests.support.hosts import Hosts
from tests.support.installation import Installation
from tests.support.long import of_storage
from tests.support.object_store import logged_in
from tests.support.postgres import PostgresServer
from tests.support.spark import SparkDriver, spark_driver
from tests.support.store_on_hosts import StoreOnHosts
from tests.support.waiting import until
from tests.support.whole_storage import TOKEN, Whole, client_of, installation_with, whole_storage
from zoe_client import Client
from zoe_client.wire import CredentialRequest
from zoe_embedded.runtimes.jars import stocator_jars
from zoe_embedded.runtimes.runtime import Runtime
from zoe_embedded.swift.configuration import REGION
from zoe_lib.domain.cluster.policy import DEFAULT_WEIGHERS

pytestmark = of_storage

LOGIN = "acme:ann"
OF_EACH = 3
LINE = b"0123456789abcdef,20.5\n"
LINES = 100_000
# Listings, headers, and questions about tokens.
OVERHEAD = 0.1
READ = """
import sys, urllib.request as u
url, login, key, container = sys.argv[1:]
answer = u.urlopen(u.Request(url, headers={"X-Auth-User": login, "X-Auth-Key": key}))
root, token = answer.headers["X-Storage-Url"], {"X-Auth-Token": answer.headers["X-Auth-Token"]}
names = u.urlopen(u.Request(f"{root}/{container}", headers=token)).read().decode().split()
print(sum(u.urlopen(u.Request(f"{root}/{container}/{n}", headers=token)).read().count(b"\\n") for n in names))
"""
SPARK = "print(sum(spark.read.text(path).count() for path in paths))"


@dataclass
class Site:
    """The hosts, and the store with its controller on them."""

    hosts: Hosts
    whole: Whole
    inputs: Sequence[str]

    @property
    def store(self) -> StoreOnHosts:
        assert isinstance(self.whole.store, StoreOnHosts)
        return self.whole.store


@pytest.fixture(scope="module")
def site(postgres_server: PostgresServer) -> Iterator[Site]:
    url = postgres_server.create_database()
    with Hosts(3) as hosts:
        wanted = {"nodes": 3, "replicas": 1, "proxy_workers": 0, "hosts": hosts.addresses}
        with whole_storage(url, make=partial(StoreOnHosts, hosts=hosts), **wanted) as whole:
            made = Site(hosts, whole, names_by_host(whole, hosts.addresses))
            with logged_in(whole.store, LOGIN) as ann:
                for name in made.inputs:
                    ann.put(name)
                    ann.put(f"{name}/part", LINE * LINES)
            yield made
    postgres_server.drop_database(url)


def names_by_host(whole: Whole, addresses: Sequence[str]) -> list[str]:
    """Return nine inputs, three on each host: taking hosts in turn puts every third reader on the host of its input, as
    by chance.
    """
    found: dict[str, list[str]] = {address: [] for address in addresses}
    with httpx.Client(base_url=whole.url, headers={"X-Auth-Token": TOKEN}) as http:
        for number in range(1000):
            name = f"input{number}"
            [endpoint] = http.get(f"/swift/locality/AUTH_acme/{name}/part/").json()["endpoints"]
            found[str(urlsplit(endpoint).hostname)].append(name)
            if all(len(names) >= OF_EACH for names in found.values()):
                return [name for names in found.values() for name in names[:OF_EACH]]
    raise AssertionError(f"the ring gives some hosts hardly anything: {found}")


def placed(site: Site, installation: Installation, database_url: str) -> list[int]:
    """Return the host to which Zoe's master gives the reader of each input."""
    wants = {"cores": 1, "memory": "1MiB"}
    sleeps = {"name": "c", "image": "zoe/tiny", "command": ["sleep", "600"], "resources": wants}
    document: dict[str, Any] = {"version": 4, "name": "reads", "components": [sleeps]}
    nodes: list[str] = []
    with client_of(installation, database_url, site.whole) as client:
        client.set_storage_credential("zoe", CredentialRequest(user=LOGIN, key=site.store.user(LOGIN).key))
        installation.start_master()
        for name in site.inputs:
            inputs = [{"name": "data", "uri": f"swift2d://{name}.zoe"}]
            made = client.submit({**document, "storage": {"inputs": inputs}}).id
            nodes.append(until(partial(_node_of, client, made)))
        for execution in client.executions().executions:
            client.cancel(execution.id)
            client.wait(execution.id, 60)
    return [site.hosts.addresses.index(node.removeprefix("node-")) for node in nodes]


def _node_of(client: Client, execution_id: str) -> str | None:
    return client.execution(execution_id).services[0].node


def placements(site: Site, server: PostgresServer, tmp_path: Path) -> Iterator[list[int]]:
    """By the default policy, and by the same without the weigher."""
    for off in (False, True):
        url = server.create_database()
        directory = tmp_path / str(off)
        directory.mkdir()
        nodes: list[dict[str, Any]] = [
            {"name": f"node-{a}", "cores": 16, "memory_bytes": 2**30, "labels": {"storage_host": a}}
            for a in site.hosts.addresses
        ]
        given = {"storage_services": site.whole.services, "local_nodes": nodes}
        with installation_with(site.whole, url, directory, **given) as installation:
            if off:
                policy = installation.store.policy()
                weighers = {name: weight for name, weight in DEFAULT_WEIGHERS.items() if name != "locality"}
                installation.store.set_policy(replace(policy, weighers=weighers), policy.version, 0.0, "test")
            yield placed(site, installation, url)
        server.drop_database(url)


def crossed(site: Site, read: Callable[[str, int], str], hosts: Sequence[int]) -> int:
    """Return the bytes that reached all hosts while each input was read on its host; all lines are read."""
    before = sum(site.hosts.received())
    for name, host in zip(site.inputs, hosts, strict=True):
        assert int(read(name, host)) == LINES
    return sum(site.hosts.received()) - before


def compared(site: Site, server: PostgresServer, tmp_path: Path, read: Callable[[str, int], str]) -> None:
    """Chance would leave two thirds to the network; each reader has its input on its own host instead."""
    everything = len(site.inputs) * LINES * len(LINE)
    with_it, without = (crossed(site, read, hosts) for hosts in placements(site, server, tmp_path))
    print(f"bytes over the network: {with_it} with the weigher, {without} without, of {everything}")
    assert with_it <= OVERHEAD * everything
    assert without >= everything / 2


def test_a_reader_where_its_input_lies_takes_fewer_bytes_from_others(
    site: Site, postgres_server: PostgresServer, tmp_path: Path
) -> None:
    key = site.store.user(LOGIN).key

    def read(name: str, host: int) -> str:
        command = site.hosts.on(host, ["python3", "-c", READ, site.store.near_url, LOGIN, key, name])
        return subprocess.run(command, check=True, capture_output=True, text=True, timeout=120).stdout

    compared(site, postgres_server, tmp_path, read)


@of_storage
def test_and_so_does_spark(site: Site, postgres_server: PostgresServer, tmp_path: Path, spark: Runtime) -> None:
    jars = [str(jar) for jar in stocator_jars()]
    near = SwiftService("zoe", site.store.near_url, REGION)
    driver: SparkDriver = replace(
        spark_driver(spark, site.store, LOGIN, tmp_path), properties=swift_properties([near], jars)
    )
    keys = swift_credentials({near: (LOGIN, site.store.user(LOGIN).key)})
    (tmp_path / "core-site.xml").write_text(credentials_xml(keys))

    def read(name: str, host: int) -> str:
        command, environment = driver.command(SPARK, f"swift2d://{name}.zoe/")
        done = subprocess.run(
            site.hosts.on(host, command), env={**environment, "PATH": f"{environment['PATH']}:/usr/bin:/bin"},
            capture_output=True, text=True, timeout=200, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-4000:]
        return done.stdout

    compared(site, postgres_server, tmp_path, read)
