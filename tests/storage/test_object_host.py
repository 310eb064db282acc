"""Filters at object servers, with a store in memory: where each runs, and the fallback if it cannot run."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from tests.storage.test_filter_host import KEYS, PATH, Ask, ask, get, keyring, put, rules

__all__ = ("ask", "keyring")
TEXT = b"all work and no play " * 20_000
BOTH = "FOR TENANT acme DO SET ENCRYPTION ON OBJECT, SET COMPRESSION ON PROXY"


def records(answer: Any, name: str = "a") -> list[list[str]]:
    """Return the filters of the proxy and of the object servers, as an object's metadata have them."""
    texts = answer[1][PATH + name]
    return [[load["filter"] for load in json.loads(text or "[]")] for text in texts]


def places(answer: Any) -> list[tuple[str, str, str | None]]:
    told = json.loads(answer[1]["why"])
    return [(entry["filter"], entry["at"], entry.get("moved")) for entry in told]


def why(name: str = "a") -> dict[str, Any]:
    return {**get(name, {"X-Zoe-Why": "yes"}, "HEAD"), "why": True}


def content(answer: Any) -> bytes:
    return base64.b64decode(answer["body"])


def test_each_filter_runs_where_its_rule_says_and_readers_are_told(ask: Ask) -> None:
    answers = ask([rules(BOTH), put("a", TEXT), rules(), {"method": "RECORDS"}, {"method": "STORED"}, get("a"), why()])
    assert records(answers[3]) == [["COMPRESSION"], ["ENCRYPTION"]]
    assert answers[4][1][PATH + "a"] < len(TEXT) / 10
    assert content(answers[5][1]) == TEXT
    assert places(answers[6]) == [("COMPRESSION", "proxy", None), ("ENCRYPTION", "object server", None)]


def test_an_object_is_read_when_its_rules_have_moved_and_by_servers_without_filters(ask: Ask) -> None:
    moved = "FOR TENANT acme DO SET ENCRYPTION ON PROXY, SET COMPRESSION ON OBJECT"
    ranged = {"Range": "bytes=300000-300099"}
    wanted = [get("a"), get("a", ranged), {**get("a"), "bare": True}, {**get("a", ranged), "bare": True}]
    answers = ask([rules(BOTH), put("a", TEXT), rules(moved), put("b", TEXT), *wanted, {"method": "RECORDS"}])
    for plain, behind in answers[4:8]:
        assert behind == plain
    assert records(answers[-1]) == [["COMPRESSION"], ["ENCRYPTION"]]
    assert records(answers[-1], "b") == [["ENCRYPTION"], ["COMPRESSION"]]


def test_fragments_are_filtered_at_the_proxy_in_the_same_order(ask: Ask) -> None:
    answers = ask([rules(BOTH), {"method": "FRAGMENTS"}, put("a", TEXT), get("a"), why(), {"method": "RECORDS"}])
    assert answers[3][1] == answers[3][0]
    assert places(answers[4]) == [("COMPRESSION", "proxy", None), ("ENCRYPTION", "proxy", "fragments")]
    assert records(answers[5]) == [["COMPRESSION", "ENCRYPTION"], []]


def test_a_module_stays_at_the_proxy_and_so_does_what_runs_before_it(ask: Ask) -> None:
    rule = "FOR TENANT acme DO SET COMPRESSION ON OBJECT, SET FLIPPING ON OBJECT, SET ENCRYPTION ON OBJECT"
    answers = ask([rules(rule), put("a", TEXT), why(), get("a")])
    assert places(answers[2]) == [
        ("COMPRESSION", "proxy", "order"),
        ("MODULE", "proxy", "module"),
        ("ENCRYPTION", "object server", None),
    ]
    assert content(answers[3][1]) == TEXT


def test_servers_without_the_host_store_nothing_rather_than_plain_bytes(ask: Ask) -> None:
    answers = ask([rules(BOTH), {**put("a", TEXT), "bare": True}, get("a")])
    assert answers[1][1]["status"] == "503 Service Unavailable"
    assert b"the object servers cannot run the filters that rules set ON OBJECT" in content(answers[1][1])
    assert answers[2][1]["status"] == "404 Not Found"
    [*_, (_, wrong)] = ask([rules(BOTH), put("a", TEXT, {"Etag": "0" * 32})])
    assert wrong["status"].startswith("422"), "the client's own mistake"


def test_servers_without_a_key_store_nothing_and_leave_reading_to_the_proxy(ask: Ask, tmp_path: Path) -> None:
    other = tmp_path / "keyring.json"
    other.write_text(json.dumps({"beta": KEYS["acme"]}))
    here = {"method": "KEYRING", "path": str(other)}
    answers = ask([rules(BOTH), put("a", TEXT), here, get("a"), put("b", TEXT), get("b")])
    assert content(answers[3][1]) == TEXT
    assert answers[4][1]["status"] == "503 Service Unavailable"
    assert answers[5][1]["status"] == "404 Not Found"


def test_clients_cannot_set_the_filters_of_object_servers(ask: Ask) -> None:
    header = {"X-Backend-Zoe-Node-Filters": '[{"filter":"NOOP"}]', "X-Object-Sysmeta-Zoe-Node-Filters": "[]"}
    answers = ask([rules(), put("a", TEXT, header), {"method": "RECORDS"}, get("a")])
    assert answers[2][1][PATH + "a"] == [None, None]
    assert content(answers[3][1]) == TEXT


@pytest.mark.parametrize("action", ["ENCRYPTION", "COMPRESSION", "COMPRESSION WITH TYPE=LZ4"])
def test_damage_is_refused_or_ends_early(ask: Ask, action: str) -> None:
    rule = rules(f"FOR TENANT acme DO SET {action} ON OBJECT")
    whole = bytes(range(256)) * 2000
    for entry in ask([rule, put("a", whole), {"method": "DAMAGE"}, get("a"), get("a", {"Range": "bytes=400000-"})])[3:]:
        behind = entry[1]
        assert not behind["status"].startswith("2") or (behind["broken"] and whole.startswith(content(behind)))
