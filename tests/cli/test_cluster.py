"""nodes, top, status, whoami, policy, token."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

from tests.cli.conftest import Zoe
from tests.cli.server import GIB, READER, Server
from zoe_cli.commands.cluster.cluster import _state
from zoe_lib.store.values import UsageSample


def test_nodes(server: Server, zoe: Zoe, submitted: str) -> None:
    server.start(submitted)
    row = zoe("nodes").out.splitlines()[1]
    assert row.split()[:4] == ["node-1", "ready", "3", "3/8"]
    assert "3 GiB / 32 GiB" in row
    assert zoe("nodes", "-o", "json").json()["nodes"][0]["reserved_memory_bytes"] == 3 * GIB
    assert zoe("nodes", "-o", "name").out == "node-1\n"
    server.end(submitted)


def test_a_warning_on_a_node_that_is_used_is_shown() -> None:
    def shown(ready: bool, message: str) -> str:
        return _state(cast(Any, SimpleNamespace(ready=ready, message=message, holds=[])))

    assert shown(True, "containers on this node reach metadata") == "ready: containers on this node reach metadata"
    assert shown(False, "it is down") == "not ready: it is down"
    assert (shown(True, ""), shown(False, "")) == ("ready", "not ready")


def test_windows_of_a_node_stand_side_by_side_and_are_cancelled_one_by_one(server: Server, zoe: Zoe) -> None:
    def listed() -> list[tuple[str, str]]:
        lines = zoe("nodes", "holds").out.splitlines()[1:]
        return [(line.split()[-1], line[line.index("20") :][:19]) for line in lines]

    for begins, note in (("2031-02-01 06:00", "disks"), ("2031-01-01 06:00", "kernel")):
        drained = zoe("nodes", "drain", "--all", "--at", begins, "--for", "4h", "--note", note)
        assert (drained.code, "what it holds up is not known" in drained.err) == (0, True)  # no master runs here
    assert zoe("nodes", "drain", "node-1", "--note", "fan", "--yes").err == ""
    assert "replaces the earlier hold of node-1" in zoe("nodes", "drain", "node-1", "--note", "fans").err
    assert [note for note, _ in listed()] == ["fans", "kernel", "disks"]
    assert listed()[1:] == [("kernel", "2031-01-01 06:00:00"), ("disks", "2031-02-01 06:00:00")]
    assert "ready, drained (fans), and 2 more: zoe nodes holds" in zoe("nodes").out
    refused = zoe("nodes", "release", "--all", "--at", "2031-01-02")
    assert (refused.code, "no hold of these nodes begins at 2031-01-02" in refused.err) == (2, True)
    assert zoe("nodes", "release", "--all", "--at", "2031-01-01 06:00").code == 0
    assert [note for note, _ in listed()] == ["fans", "disks"]
    assert zoe("nodes", "release", "--all").code == 0
    assert listed() == []


def test_top(server: Server, zoe: Zoe, submitted: str) -> None:
    server.start(submitted)
    server.master.usage = [
        {
            "service_id": f"{submitted}.worker.{n}.1",
            "execution_id": submitted,
            "node": "node-1",
            "cpu_s": 1.0,
            "memory_bytes": (n + 1) * GIB,
            "at_s": 1.0,
        }
        for n in range(2)
    ]
    lines = zoe("top").out.splitlines()
    assert [line.split()[0][-3:] for line in lines[1:]] == ["1.1", "0.1"]
    assert "2 GiB" in lines[1]
    server.end(submitted)


def test_top_of_one_execution_shows_now_and_peak(server: Server, zoe: Zoe, submitted: str) -> None:
    assert "no service of it has been sampled" in zoe("top", submitted).err
    server.start(submitted)
    began_s = server.get(submitted).services[0].started_at_s
    assert began_s is not None
    main = f"{submitted}.main.0.1"
    # CPU seconds and memory after 10, 20 and 30 seconds: one core, a half, a tenth.
    for after_s, cpu_s, memory in ((10, 5.0, GIB // 2), (20, 15.0, 3 * GIB // 4), (30, 16.0, GIB // 4)):
        server.store.add_usage([UsageSample(submitted, main, "node-1", began_s + after_s, cpu_s, memory)])
    lines = zoe("top", submitted).out.splitlines()
    assert lines[1].split() == [
        "main-0", "node-1", "0.10", "1.00", "1", "256", "MiB", "768", "MiB", "1", "GiB",
    ]  # fmt: skip
    [use] = zoe("top", submitted, "-o", "json").json()["services"]
    assert (use["memory_peak_bytes"], use["cpu_s"], use["service_id"]) == (3 * GIB // 4, 16.0, main)
    assert abs(use["sampled_s"] - 30) < 0.001
    assert "used CPU" not in zoe("show", submitted).out
    server.end(submitted)
    shown = zoe("show", submitted).out
    assert "used CPU          16.0 s, 53% of the reserved cores" in shown
    assert "peak memory       768 MiB in main-0, 75% of its reservation" in shown
    assert zoe("top", submitted).out.splitlines()[1].split()[2:4] == ["1.00", "1"]
    assert zoe("top", "x000000000000000").code == 3


def test_status_with_and_without_a_master(server: Server, zoe: Zoe) -> None:
    assert "here:1 leads, epoch 7" in zoe("status").out
    assert zoe("status", "-o", "json").json()["master"]["epoch"] == 7
    server.master.there = False
    try:
        assert "run later" in zoe("status").out
        assert zoe("top").code == 75
    finally:
        server.master.there = True


def test_whoami(server: Server, zoe: Zoe) -> None:
    assert zoe("whoami").out.splitlines()[1].split()[:3] == ["ada", "lab", "admin"]
    assert zoe("whoami", "-o", "json", token=READER).json()["scopes"] == ["read"]


def test_policy(server: Server, zoe: Zoe) -> None:
    assert zoe("policy", "set", "order=size", "ageing_s=300", 'weighers={"free_memory": 2}').code == 0
    policy = zoe("policy", "get", "-o", "json").json()
    assert (policy["order"], policy["ageing_s"], policy["weighers"]) == ("size", 300, {"free_memory": 2})
    assert 'weighers                 {"free_memory": 2.0}' in zoe("policy", "get").out
    assert zoe("policy", "set", "order=fifo", token=READER).code == 4
    assert zoe("policy", "set", "filters=readiness,labels,devices,resources", "-o", "name").code == 0


def test_tokens(server: Server, zoe: Zoe) -> None:
    made = zoe("token", "add", "--scope", "read", "--lifetime", "3600", "--note", "for a script")
    assert made.code == 0
    secret = made.err.removeprefix("secret, shown once: ").strip()
    assert secret not in made.out
    assert "59m" in made.out
    assert zoe("ls", token=secret).code == 0
    assert zoe("token", "add", token=secret).code == 4
    token_id = secret.split("_")[1]
    assert token_id in zoe("token", "ls", "-o", "name").out.split()
    assert zoe("token", "revoke", token_id, "-o", "json").json() == {"revoked": token_id}
    assert zoe("ls", token=secret).code == 4
    assert zoe("token", "revoke", token_id).code == 3


def test_a_secret_for_a_script_is_on_standard_output_alone(server: Server, zoe: Zoe) -> None:
    made = zoe("token", "add", "-o", "json")
    assert (made.code, made.err) == (0, "")
    assert zoe("ls", token=json.loads(made.out)["secret"]).code == 0
