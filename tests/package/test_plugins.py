"""The example plugin, built and installed beside Zoe: its filter, weigher and back-end are found, used and listed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.documents import ROOT
from tests.support.api import Api
from tests.support.documents import document, job, part
from tests.support.installation import GIB, Installation
from tests.support.waiting import until
from zoe_client import Client, Refused
from zoe_lib.plugins import installed_plugins

EXAMPLE = ROOT / "tests" / "examples" / "zoe_example_plugin"
BROKEN = {"zoe.filters": {"broken": "zoe_broken:nothing", "resources": "zoe_broken:nothing"}}
MOST = {"resources": {"cores": 3, "memory": "512MiB"}}
NODES = [
    {"name": "n1", "cores": 4, "memory_bytes": GIB, "labels": {"tenants": "blue"}},
    {"name": "n2", "cores": 4, "memory_bytes": GIB, "labels": {"preference": "0"}},
    {"name": "n3", "cores": 4, "memory_bytes": GIB, "labels": {"preference": "1"}},
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory into which the example is installed, with a second plugin that cannot be loaded."""
    site = tmp_path_factory.mktemp("site")
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--no-build-isolation")
    done = subprocess.run([*pip, "--target", site, EXAMPLE], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    metadata = site / "zoe_broken-0.1.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: zoe-broken\nVersion: 0.1\n")
    lines = [
        line
        for group, entries in BROKEN.items()
        for line in (f"[{group}]", *(f"{name} = {place}" for name, place in entries.items()))
    ]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    return site


@pytest.fixture
def installation(postgres_url: str) -> Iterator[Installation]:
    made = Installation(
        postgres_url, forked=False, backend="local", local_nodes=NODES, backend_options={"run_s": "0.2"}
    )
    yield made
    made.close()


@pytest.fixture
def variables(site: Path) -> dict[str, str]:
    return {"PYTHONPATH": str(site), "ZOE_BACKEND": "rehearsal"}


@pytest.fixture
def client(
    installation: Installation, postgres_url: str, site: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Client]:
    """Of an API in the test's own process, which finds the plugins."""
    monkeypatch.syspath_prepend(str(site))
    installed_plugins.cache_clear()
    api = Api(postgres_url, keys_dir=installation.keys_dir, master_endpoint=installation.endpoint)
    yield api.client(installation.token, patience_s=60.0)
    api.close()
    installed_plugins.cache_clear()


def test_policy_and_settings_use_what_the_example_brings(
    installation: Installation, client: Client, variables: dict[str, str]
) -> None:
    policy = client.policy()
    wanted = {"filters": [*policy.filters, "tenants_of_node"], "weighers": {"preference": 1.0}}
    client.set_policy(policy.model_copy(update=wanted))
    installation.start_master(**variables)
    submitted = client.submit(job("true"))
    ended = client.wait(submitted.id, 60)
    assert (ended.state, [service.node for service in ended.services]) == ("succeeded", ["n3"])
    wide = client.submit(
        document(
            part("main", "true", **MOST, ends_application=True),
            part("rest", "true", **MOST, essential_count=2, total_count=2),
        )
    )
    until(lambda: client.execution(wide.id).reason)
    reason = client.execution(wide.id).reason
    assert reason is not None
    assert (reason.code, reason.counts["tenants_of_node"]) == ("nodes_away", 1)
    assert "refused by filters of plugins: without 1 node" in reason.sentence
    nodes = client.explain(wide.id).nodes
    assert "the node is for the tenants blue" in nodes["n1"].values()
    small = client.submit(job("true"))  # the execution that no filter lets start blocks no other
    assert client.wait(small.id, 60).state == "succeeded"
    client.cancel(wide.id)


def test_installed_plugins_are_listed_with_their_distribution(
    installation: Installation, client: Client, variables: dict[str, str]
) -> None:
    found = {(p.kind, p.name, p.distribution): p for p in client.plugins().plugins}
    assert found["weigher", "preference", "zoe-example-plugin"].version == "1.0"
    assert ("backend", "rehearsal", "zoe-example-plugin") in found
    assert found["filter", "resources", "zoe-analytics"].problem == ""
    assert "Zoe's own is used" in found["filter", "resources", "zoe-broken"].problem
    assert found["filter", "broken", "zoe-broken"].problem == ""  # its code is the master's to load
    installation.start_master(**variables)
    until(lambda: client.status().master)
    listed = {p.name: p.problem for p in client.plugins().plugins}
    assert "No module named 'zoe_broken'" in listed["broken"]
    assert listed["preference"] == ""
    policy = client.policy()
    with pytest.raises(Refused) as refused:
        client.set_policy(policy.model_copy(update={"filters": [*policy.filters, "broken"]}))
    assert [error.message for error in refused.value.problem.errors] == [
        "filter 'broken' is unknown: devices, holds, labels, readiness, resources, tenants_of_node"
    ]
    table = zoe(installation, client, "policy", "get")
    assert "preference (zoe-example-plugin 1.0)" in table
    assert "broken (zoe-broken 0.1), cannot be used: " in table
    assert set(json.loads(zoe(installation, client, "policy", "get", "-o", "json"))) == set(policy.model_dump())


def zoe(installation: Installation, client: Client, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "zoe_cli.main", *arguments],
        env={"ZOE_URL": client.url, "ZOE_TOKEN": installation.token, "COLUMNS": "300", "HOME": str(installation.base)},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_broken_plug_in_stops_a_master_only_when_it_is_named(
    installation: Installation, client: Client, variables: dict[str, str]
) -> None:
    policy = client.policy()
    client.set_policy(policy.model_copy(update={"filters": [*policy.filters, "broken"]}))  # no master says no
    assert installation.start_master(**variables).wait(30) == 2
    assert "zoe-master: the policy names filter 'broken', which cannot be used: zoe-broken 0.1: " in (
        installation.log("master")
    )
    client.set_policy(client.policy().model_copy(update={"filters": policy.filters}))
    installation.start_master(**variables)
    installation.until_leading()
    assert '"event": "a plugin cannot be used"' in installation.log("master")


def test_a_policy_that_outlives_its_plug_in_is_refused_at_the_start(installation: Installation, client: Client) -> None:
    policy = client.policy()
    client.set_policy(policy.model_copy(update={"weighers": {"preference": 1.0}}))
    assert installation.start_master().wait(30) == 2
    assert "weigher 'preference', which cannot be used: no installed distribution has it" in installation.log("master")


def test_a_back_end_that_is_not_installed_is_refused(installation: Installation) -> None:
    assert installation.start_master(ZOE_BACKEND="rehearsal").wait(30) == 2
    assert "back-end 'rehearsal' is not installed; there are: docker, local, podman, swarm" in installation.log(
        "master"
    )


def test_a_back_end_says_what_is_wrong_with_its_options(installation: Installation, variables: dict[str, str]) -> None:
    options = {"ZOE_BACKEND_OPTIONS": json.dumps({"run_s": "soon"})}
    assert installation.start_master(**variables, **options).wait(30) == 2
    assert "zoe-master: backend_options.run_s must be a number of seconds" in installation.log("master")


def test_the_simulator_tells_what_it_leaves_out(site: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "zoe_simulator", "run", tmp_path / "none"],
        env={"PYTHONPATH": str(site), "PATH": "/usr/bin:/bin"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "zoe-sim: filter broken of zoe-broken 0.1 is ignored: " in done.stderr
    assert "filter tenants_of_node" not in done.stderr
