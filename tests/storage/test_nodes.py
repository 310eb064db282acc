"""The health of a real Swift's servers with its reason, and the restart of one."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from storage_controller.database.supervision import Mode, Supervisor
from storage_controller.nodes.health import Bounds, NodeState
from storage_controller.nodes.restarts import NodeRestarts
from storage_controller.nodes.watch import NodeHealth, NodeWatch
from storage_controller.rules.dsl import parse_rule
from storage_controller.settings import NodeSettings
from storage_filters.rules.documents import RuleBook, book_document
from tests.storage.test_filter_host_at_swift import pushed
from tests.support.object_store import logged_in, object_store
from tests.support.pusher import pushed_store
from tests.support.waiting import until
from tests.support.whole_storage import keyring
from zoe_embedded.swift.store import ObjectStore
from zoe_embedded.swift.store_socket import StoreSocket

ROOMY = Bounds(slow_s=30.0, full=1.0)
PATIENT_S = 60.0


@pytest.fixture(scope="module")
def store() -> Iterator[ObjectStore]:
    with object_store(nodes=1, replicas=1) as made:
        yield made


def nodes_of(store: ObjectStore, restart: Callable[[str], list[str]] = lambda _: []) -> dict[str, NodeSettings]:
    return {
        name: NodeSettings.model_validate({"kind": kind, "url": url, "restart": restart(name)})
        for name, (kind, url) in store.servers.items()
    }


@contextmanager
def watch(store: ObjectStore, **further: Any) -> Iterator[NodeWatch]:
    """Checks nodes when a test requests it."""
    settings: dict[str, Any] = {"bounds": ROOMY, "timeout_s": PATIENT_S} | further
    made = NodeWatch(nodes_of(store), Supervisor(), lambda: Mode.ON, **settings)
    try:
        yield made
    finally:
        made.close()


def looked(watch: NodeWatch) -> dict[str, NodeHealth]:
    watch.look()
    return {node.name: node for node in watch.nodes()}


def test_all_servers_are_up_and_tell_of_their_disks(store: ObjectStore) -> None:
    with watch(store) as all_nodes:
        found = looked(all_nodes)
    assert {name: (str(health.kind), health.state, health.reason) for name, health in found.items()} == {
        "proxy": ("proxy", NodeState.UP, ""),
        "account-1": ("account", NodeState.UP, ""),
        "container-1": ("container", NodeState.UP, ""),
        "object-1": ("object", NodeState.UP, ""),
    }
    [disk] = found["object-1"].found.disks
    room = os.statvfs(store.directory)
    used = 1 - room.f_bavail / room.f_blocks
    assert disk.name == "d1"
    assert disk.used == pytest.approx(used, abs=0.02)


def test_failing_node_is_reported_with_its_reason(store: ObjectStore) -> None:
    device = store.directory / "devices" / "node1" / "d1"
    apart = [device / "quarantined" / "objects" / name for name in "abc"]
    with watch(store, bounds=Bounds(slow_s=30.0, full=0.0)) as strict:
        [reason] = {health.reason for health in looked(strict).values() if health.kind != "proxy"}
        assert reason.startswith("disk d1 ")
        assert reason.endswith(" % full")
    with watch(store) as all_nodes:
        for path in apart:
            path.mkdir(parents=True)
        found = looked(all_nodes)
        assert (found["object-1"].state, found["object-1"].reason) == (NodeState.FAILING, "3 objects quarantined")
        assert found["container-1"].state is NodeState.UP
        for entry in apart:
            entry.rmdir()
        (device / ".ismount").rename(device / "ismount")
        assert looked(all_nodes)["account-1"].reason == "disk d1 is not mounted"
        (device / "ismount").rename(device / ".ismount")
        assert looked(all_nodes)["account-1"].state is NodeState.UP


def test_a_server_that_hangs_is_away_and_holds_up_no_other(store: ObjectStore) -> None:
    with watch(store, timeout_s=2.0) as all_nodes:
        store.signal("object-1", signal.SIGSTOP)
        try:
            found = looked(all_nodes)
        finally:
            store.signal("object-1", signal.SIGCONT)
        assert found["object-1"].state is NodeState.AWAY
        assert found["object-1"].reason == "no answer for 0 s: no answer within 2 s"
        until(lambda: looked(all_nodes)["object-1"].state is NodeState.UP)
        assert found["container-1"].state is NodeState.UP


def test_a_server_that_was_killed_is_away_until_an_admin_restarts_it(store: ObjectStore) -> None:
    with StoreSocket(store) as socket, watch(store) as all_nodes:
        restarts = NodeRestarts(nodes_of(store, socket.restart_command), 120.0, all_nodes.look_soon)
        store.signal("object-1", signal.SIGKILL)
        store.signal("container-1", signal.SIGKILL)
        until(lambda: {*store.all_ended()} == {"container-1", "object-1"})
        gone = looked(all_nodes)["container-1"]
        all_nodes.begin()
        assert (gone.state, gone.reason) == (NodeState.AWAY, "no answer for 0 s: connection refused")
        before = store.processes["container-1"]
        restarts.begin("container-1", "root")

        def ended() -> bool:
            last = restarts.last_restart("container-1")
            return last is not None and last.ended_s is not None

        until(ended)
        last = restarts.last_restart("container-1")
        assert last is not None
        assert (last.code, last.output, last.author) == (0, "it was restarted", "root"), "though another one is away"
        assert store.processes["container-1"] != before
        store.restart("object-1")
        until(lambda: {node.state for node in all_nodes.nodes()} == {NodeState.UP})
        assert store.ended_server() is None
        strange = NodeRestarts(nodes_of(store, lambda _: socket.restart_command("object-9")), 120.0)
        strange.begin("object-1", None)
        until(lambda: (one := strange.last_restart("object-1")) is not None and one.code == 1)
        one = strange.last_restart("object-1")
        assert one is not None
        assert one.output == "the store has no server 'object-9'"


def test_an_object_server_that_cannot_encrypt_is_failing() -> None:
    """With two replicas clients do not notice it: one is stored."""
    with pushed_store(nodes=2, replicas=2, keyring=keyring) as (store, pusher), logged_in(store, "acme:ann") as ann:
        ann.put("c")
        conf = store.directory / "object-1.conf"
        conf.write_text(conf.read_text().replace("keyring_file = ", "keyring_file = /nonexistent"))
        store.restart("object-1")
        pushed(
            pusher, book_document(RuleBook((replace(parse_rule("FOR TENANT acme DO SET ENCRYPTION ON OBJECT"), id=1),)))
        )
        ann.put("c/o", b"secret")
        with watch(store) as all_nodes:
            found = looked(all_nodes)
        assert (found["object-1"].state, found["object-2"].state) == (NodeState.FAILING, NodeState.UP)
        assert "not stored as the rules say: the keyring of this server cannot be read" in found["object-1"].reason
