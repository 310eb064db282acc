"""One client causes so many lines a second, and others are written meanwhile."""

from __future__ import annotations

import pytest

from tests.support.manual_clock import ManualClock
from zoe_lib.logs import few_lines
from zoe_lib.logs.few_lines import LineLimiter, client_of


def test_a_client_has_so_many_lines_a_second_and_the_next_one_tells_the_others() -> None:
    clock = ManualClock(1000.0)
    few = LineLimiter(3, clock)
    assert [few.take("192.0.2.1") for _ in range(10)] == [0, 0, 0, *[None] * 7]
    assert few.take("192.0.2.2") == 0
    clock.advance(1.0)
    assert [few.take("192.0.2.1") for _ in range(2)] == [7, 0]


def test_an_ipv6_network_is_one_client() -> None:
    few = LineLimiter(1, ManualClock(1000.0))
    assert [few.take(entry) for entry in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1")] == [0, None, 0]
    assert client_of("fe80::1%eth0") == client_of("fe80::2")
    assert client_of("no address: at all") == "no address: at all"


def test_so_many_clients_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(few_lines, "_CLIENTS_MAX", 10)
    few = LineLimiter(1, ManualClock(1000.0))
    assert [few.take(str(number)) for number in range(100)] == [0] * 100
    assert len(few._clients) == 10
