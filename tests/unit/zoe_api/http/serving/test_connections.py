"""Limits on connections, and on their waiting times."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.manual_clock import ManualClock
from zoe_api.http.serving import connections
from zoe_api.http.serving.connections import AcceptTrouble, Bounds, Connections, Exchange
from zoe_lib.logs.few_lines import client_of
from zoe_lib.settings.config import Settings


class Quiet(Connections):
    """Connections that a test sweeps itself."""

    def _sweep_later(self) -> None:
        return None


def made(**bounds: Any) -> tuple[Connections, ManualClock]:
    clock = ManualClock(100.0)
    return Quiet(Bounds(**bounds), clock), clock


def exchange(unsent: int = 0, paused: bool = False, **state: Any) -> tuple[Exchange, list[str]]:
    done: list[str] = []
    one = Exchange(
        end=lambda: done.append("end"),
        abort=lambda: done.append("abort"),
        paused=lambda: paused,
        unsent=lambda: unsent,
        **state,
    )
    return one, done


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8::1", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("x:y", "x:y"),
        ("", ""),
    ],
)
def test_a_client_is_an_address_or_what_a_provider_assigns_of_ipv6(address: str, place: str) -> None:
    assert client_of(address) == place


def test_there_are_so_many_in_all_and_of_one_address() -> None:
    all_of, _ = made(in_all=3, of_address=2)
    assert [all_of.enter(entry) for entry in ("a", "a", "a", "b", "c")] == [True, True, False, True, False]
    all_of.leave("a")
    assert all_of.open == 2
    assert all_of.enter("a")
    for entry in ("a", "a", "b"):
        all_of.leave(entry)
    assert (all_of.open, all_of._of_address) == (0, {})


def test_addresses_of_proxies_stand_for_many_clients() -> None:
    all_of, _ = made(in_all=9, of_address=1, shared=("10.0.0.0/8", "2001:db8::1"))
    assert [all_of.enter(entry) for entry in ("10.1.2.3", "10.1.2.3", "2001:db8::1", "2001:db8::1")] == [True] * 4
    assert [all_of.enter(entry) for entry in ("11.0.0.1", "11.0.0.1", "x", "x")] == [True, False, True, False]


@pytest.mark.parametrize(
    ("state", "limit_s"),
    [
        ({"head_since_s": 100.0}, 10.0),
        ({"body_since_s": 100.0}, 30.0),
        ({"body_since_s": 100.0, "body_bytes": 5000}, 35.0),
        ({}, None),
        ({"body_since_s": 100.0, "paused": True}, None),
        ({"unsent": 5}, 60.0),
        ({"half_closed_since_s": 100.0}, 5.0),
    ],
)
def test_overdue_exchange_is_ended(state: dict[str, Any], limit_s: float | None) -> None:
    all_of, clock = made()
    one, done = exchange(**state)
    all_of.exchanges.add(one)
    all_of.sweep()
    clock.advance((limit_s or 1e6) - 0.1)
    all_of.sweep()
    assert done == []
    clock.advance(0.2)
    all_of.sweep()
    kind = "end" if "head_since_s" in state or "body_since_s" in state else "abort"
    assert done == ([] if limit_s is None else [kind])


def test_a_client_that_reads_more_gets_more_time() -> None:
    unsent = [9]
    one = Exchange(lambda: None, lambda: None, lambda: False, lambda: unsent[0])
    assert not one.is_stuck(0.0, 60.0)
    unsent[0] = 8
    assert not one.is_stuck(59.0, 60.0)
    assert not one.is_stuck(118.0, 60.0)
    assert one.is_stuck(119.0, 60.0)
    unsent[0] = 0
    assert not one.is_stuck(200.0, 60.0)


def test_a_request_that_has_come_waits_for_nothing() -> None:
    one, _ = exchange(head_since_s=1.0, body_since_s=2.0)
    one.all_came()
    assert (one.head_since_s, one.body_since_s) == (None, None)


@pytest.mark.parametrize(("descriptors", "room"), [(1024, 448), (128, 8), (144, 8), (146, 9), (0, 8)])
def test_files_bound_connections(descriptors: int, room: int) -> None:
    assert connections._room(descriptors) == room


@pytest.mark.parametrize(("soft", "in_all"), [(1024, 448), (10**6, 1000), (-1, 1000)])
def test_settings_give_bounds(monkeypatch: pytest.MonkeyPatch, soft: int, in_all: int) -> None:
    monkeypatch.setattr("zoe_api.http.serving.connections.resource.getrlimit", lambda _: (soft, soft))
    found = Bounds.from_settings(Settings(trusted_proxies=["10.0.0.0/8"], api_write_timeout_s=7.0))
    assert (found.in_all, found.of_address, found.head_s, found.body_s) == (in_all, 250, 10.0, 30.0)
    assert (found.body_bytes_per_s, found.write_s, found.shared) == (1000, 7.0, ("10.0.0.0/8",))


def test_the_log_has_one_line_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[Any] = []
    monkeypatch.setattr(connections.log, "warning", lambda *_, **given: lines.append(given))
    all_of, clock = made(in_all=0)
    for after_s in (0.0, 0.5, 0.4, 0.2):
        clock.advance(after_s)
        all_of.enter("a")
    assert [line["refused"] for line in lines] == [1, 3]
    all_of._log_refusals()
    assert len(lines) == 2


def test_failed_accepts_are_told_once_a_second_and_other_errors_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[Any] = []
    monkeypatch.setattr(connections.log, "error", lambda *_, **given: lines.append(given["tries"]))
    clock = ManualClock(100.0)
    trouble = AcceptTrouble(clock)
    others: list[Any] = []
    loop: Any = type("Loop", (), {"default_exception_handler": lambda _, context: others.append(context)})()
    for after_s in (0.0, 0.5, 0.4, 0.2):
        clock.advance(after_s)
        trouble(loop, {"message": "socket.accept() out of system resource"})
    trouble(loop, {"message": "something else"})
    assert (lines, len(others)) == ([1, 3], 1)
