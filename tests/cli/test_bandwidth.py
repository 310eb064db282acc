"""zoe storage status, and bandwidth in `zoe show`."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import APP, Zoe
from tests.cli.server import OTHER, Server
from zoe_lib.descriptions import parse
from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.domain.values.transfers import StoreTransfers

MB = 10**6


def rates(read: int, write: int = 0) -> dict[str, int]:
    return {"read_bytes_per_s": read * MB, "write_bytes_per_s": write * MB}


def tenant(name: str, granted: int, achieved: int, missed: int = 0) -> dict[str, Any]:
    return {"tenant": name, "granted": rates(granted), "achieved": rates(achieved), "missed": rates(missed)}


@pytest.fixture
def told(server: Server) -> Iterator[dict[str, Any]]:
    server.master.storage = {
        "configured": True,
        "problem": "",
        "resting": False,
        "at_s": time.time(),
        "capacity": rates(100, 80),
        "promised": rates(65),
        "tenants": [tenant("lab", 40, 38, 2), tenant("other", 25, 30)],
    }
    yield server.master.storage
    server.master.storage = {"configured": False}


@pytest.fixture
def reader_of_much(zoe: Zoe, tmp_path: Path) -> str:
    """A submitted execution that wants 40 MB/s."""
    file = tmp_path / "reader.json"
    storage = {"bandwidth": {"read": "40MB/s", "guarantee": "preferred"}}
    file.write_text(json.dumps({**APP, "storage": storage}))
    done = zoe("run", str(file), "-o", "name")
    assert done.code == 0, done.err
    return done.out.strip()


def test_the_status_shows_capacity_tenants_and_who_waits(
    server: Server, zoe: Zoe, told: dict[str, Any], reader_of_much: str
) -> None:
    sentence = "waiting for storage bandwidth: needs 40 MB/s, 35 free"
    reason = Reason(ReasonCode.STORAGE_BANDWIDTH, sentence)
    server.append(reader_of_much, ev.Queued(at_s=1.0), ev.ReasonChanged(at_s=2.0, reason=reason))
    shown = zoe("storage", "status")
    assert shown.code == 0, shown.err
    assert "capacity    100 MB/s read, 80 MB/s write" in shown.out
    assert "promised    65 MB/s read" in shown.out
    [row] = [line for line in shown.out.splitlines() if line.startswith("lab ")]
    assert [row.count(text) for text in ("40 MB/s read", "38 MB/s read", "2 MB/s read")] == [1, 1, 1]
    assert sentence in shown.out
    answer = zoe("storage", "status", "-o", "json").json()
    assert [execution["execution_id"] for execution in answer["waiting"]] == [reader_of_much]
    assert zoe("cancel", reader_of_much).code == 0


def test_members_are_told_of_their_own_tenant_only(
    server: Server, zoe: Zoe, told: dict[str, Any], reader_of_much: str
) -> None:
    reason = Reason(ReasonCode.STORAGE_BANDWIDTH, "waiting")
    server.append(reader_of_much, ev.Queued(at_s=1.0), ev.ReasonChanged(at_s=2.0, reason=reason))
    answer = zoe("storage", "status", "-o", "json", token=OTHER).json()
    assert [entry["tenant"] for entry in answer["tenants"]] == ["other"]
    assert answer["waiting"] == []
    assert answer["capacity"] == rates(100, 80)
    assert zoe("cancel", reader_of_much).code == 0


def test_show_has_what_was_granted_beside_what_is_achieved(
    server: Server, zoe: Zoe, told: dict[str, Any], reader_of_much: str
) -> None:
    server.start(reader_of_much)
    shown = zoe("show", reader_of_much).out
    assert "40 MB/s to read not granted" in shown
    assert "38 MB/s read, 0 MB/s write by all of lab, who are granted 40 MB/s read" in shown
    server.end(reader_of_much)
    assert "granted" not in zoe("show", reader_of_much).out


def test_untold_bandwidth_is_shown_as_unknown(
    server: Server, zoe: Zoe, told: dict[str, Any], reader_of_much: str
) -> None:
    told["tenants"] = [{"tenant": "lab", "granted": rates(40), "achieved": None, "missed": None}]
    [row] = [line for line in zoe("storage", "status").out.splitlines() if line.startswith("lab ")]
    assert (row.count("not told"), row.count("0 MB/s read")) == (2, 1)
    [one] = zoe("storage", "status", "-o", "json").json()["tenants"]
    assert (one["achieved"], one["missed"]) == (None, None)
    server.start(reader_of_much)
    assert (
        "not reported by the storage controller, of all of lab, who are granted 40 MB/s read"
        in zoe("show", reader_of_much).out
    )
    server.end(reader_of_much)


def test_why_bandwidth_that_is_preferred_is_not_granted_is_told(server: Server, zoe: Zoe, reader_of_much: str) -> None:
    server.start(reader_of_much)
    server.append(reader_of_much, ev.StorageDeclined(at_s=3.0, why="unknown tenant"))
    assert "40 MB/s to read not granted: unknown tenant" in zoe("show", reader_of_much).out
    explained = zoe("explain", reader_of_much).out
    assert explained.startswith("It does not wait: it is running.\n")
    assert "The requested bandwidth is not granted: unknown tenant\n" in explained
    assert zoe("explain", reader_of_much, "-o", "json").json()["storage_problem"] == "unknown tenant"
    server.end(reader_of_much)
    assert "requested bandwidth was not granted at its end: unknown tenant\n" in zoe("explain", reader_of_much).out


def test_that_granted_bandwidth_was_withdrawn_is_told_until_it_is_granted_again(
    server: Server, zoe: Zoe, reader_of_much: str
) -> None:
    server.start(reader_of_much)
    server.append(reader_of_much, ev.StorageGranted(at_s=3.0))
    assert "40 MB/s to read granted" in zoe("show", reader_of_much).out
    server.append(reader_of_much, ev.StorageWithdrawn(at_s=4.0, why="promised to others"))
    shown = zoe("show", reader_of_much).out
    assert "40 MB/s to read not granted any more: promised to others" in shown
    assert "storage_withdrawn " in shown
    assert "storage_granted" not in shown
    assert "requested bandwidth is not granted: promised to others" in zoe("explain", reader_of_much).out
    told = [event["kind"] for event in zoe("events", reader_of_much, "-o", "json").json()["events"]]
    assert told[-2:] == ["storage_granted", "storage_withdrawn"]
    server.append(reader_of_much, ev.StorageGranted(at_s=5.0))
    assert "40 MB/s to read granted" in zoe("show", reader_of_much).out
    server.end(reader_of_much)


def test_one_whose_required_bandwidth_is_refused_waits_and_says_why(
    server: Server, zoe: Zoe, told: dict[str, Any]
) -> None:
    application = parse({**APP, "storage": {"bandwidth": {"read": "40MB/s", "guarantee": "required"}}})
    stored = server.store.submit(Execution("xrequires", "reader", "lab", "ada", application, time.time()), "test")
    server.append(stored.id, ev.Queued(at_s=1.0), ev.StartPlanned(at_s=1.0, placements=server.placements(stored.id)))
    server.append(stored.id, ev.StorageRefused(at_s=2.0, why="unknown tenant"))
    sentence = "The storage controller refuses the required bandwidth: unknown tenant"
    assert f"{'waits':<18}{sentence}" in zoe("show", stored.id).out
    assert zoe("explain", stored.id).out.startswith(f"{sentence}\nHint: the master asks again")
    assert "storage_refused" in zoe("ls").out
    waiting = zoe("storage", "status", "-o", "json").json()["waiting"]
    assert [(execution["execution_id"], execution["sentence"]) for execution in waiting] == [(stored.id, sentence)]
    assert zoe("cancel", stored.id).code == 0


def test_a_controller_that_is_away_or_absent_is_told(server: Server, zoe: Zoe, told: dict[str, Any]) -> None:
    server.master.storage = {"configured": True, "problem": "the storage controller cannot be reached", "resting": True}
    shown = zoe("storage", "status").out
    assert "cannot be reached; the master pauses its polls for some seconds" in shown
    server.master.storage = {"configured": False}
    assert "no storage controller" in zoe("storage", "status").err
    assert zoe("storage", "status", "-o", "json").json()["configured"] is False


def test_moved_bytes_are_shown_so_far_and_in_the_end(server: Server, zoe: Zoe, reader_of_much: str) -> None:
    assert "moved" not in zoe("show", reader_of_much).out
    server.start(reader_of_much)
    assert re.search(r"^moved +not known$", zoe("show", reader_of_much).out, re.MULTILINE)
    assert zoe("show", reader_of_much, "-o", "json").json()["transfers"] is None
    server.store.keep_transfers(time.time(), {reader_of_much: StoreTransfers(3, 5 * 2**20, 2**10, 65.0, 70.0)})
    assert re.search(
        r"^moved +5 MiB read, 1 KiB written in 1m05s of transfers, as of ",
        zoe("show", reader_of_much).out,
        re.MULTILINE,
    ), zoe("show", reader_of_much).out
    moved = StoreTransfers(3, 6 * 2**20, 2**10, 66.0, 70.0)
    server.append(reader_of_much, ev.StorageTransferred(at_s=9.0, attempt=1, transfers=moved))
    server.store.keep_transfers(time.time(), {reader_of_much: StoreTransfers(4, 2**20, 0, 1.0, 1.0)})
    later = zoe("show", reader_of_much, "-o", "json").json()["transfers"]
    assert (later["read_bytes"], later["final"]) == (7 * 2**20, False), "of two attempts"
    server.end(reader_of_much)
    rest = StoreTransfers(4, 2 * 2**20, 0, 1.0, 1.0, whole=False)
    server.append(reader_of_much, ev.StorageTransferred(at_s=12.0, attempt=2, transfers=rest))
    final = zoe("show", reader_of_much, "-o", "json").json()["transfers"]
    assert (final["read_bytes"], final["written_bytes"], final["final"], final["whole"]) == (
        8 * 2**20,
        2**10,
        True,
        False,
    )
    assert "8 MiB read, 1 KiB written in 1m07s of transfers, at least\n" in zoe("show", reader_of_much).out
