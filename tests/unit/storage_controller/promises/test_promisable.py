"""Guarantees never exceed the proxies' bandwidth, and the part that a single one cannot deliver is reported."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from pydantic import ValidationError

from storage_bridge.model import BandwidthSlo
from storage_controller.composition import promisable_by
from storage_controller.settings import ControllerSettings


def settings(read: int, write: int, *, spare: int = 0, **proxies: int) -> ControllerSettings:
    files: Any = {"token_file": "/none", "key_file": "/none", "proxies_spare": spare}
    return ControllerSettings(read_bytes_per_s=read, write_bytes_per_s=write, proxies=proxies, **files)


@pytest.mark.parametrize(
    ("read", "write", "proxies", "promised", "said"),
    [
        (400, 200, {"p": 600}, (400, 200), []),
        (400, 201, {"p": 600}, (400, 201), ["move 600 bytes/s together"]),
        (700, 200, {"p": 600}, (600, 200), ["guarantees are limited to", "move 600 bytes/s together"]),
        (700, 200, {"p": 600, "q": 600}, (700, 200), ["one proxy moves 600"]),
        (10**6, 10**6, {"p": 600, "q": 600}, (1200, 1200), ["limited", "one proxy moves 600", "1200 bytes/s together"]),
    ],
)
def test_no_more_is_promised_than_the_proxies_move(
    caplog: pytest.LogCaptureFixture,
    read: int,
    write: int,
    proxies: dict[str, int],
    promised: tuple[int, int],
    said: list[str],
) -> None:
    with caplog.at_level(logging.WARNING):
        found = promisable_by(settings(read, write, **proxies), lambda _: True)
    assert found.capacity == BandwidthSlo(*promised)
    assert len(caplog.messages) == len(said)
    assert all(words in message for words, message in zip(said, caplog.messages, strict=True))


@pytest.mark.parametrize(("spare", "promised"), [(0, 1800), (1, 900), (2, 300)])
def test_bandwidth_of_spare_proxies_is_not_promised(spare: int, promised: int) -> None:
    found = promisable_by(settings(5000, 5000, spare=spare, p=300, q=900, r=600), lambda _: True)
    assert found.capacity == BandwidthSlo(promised, promised)


def test_some_proxy_is_left() -> None:
    with pytest.raises(ValidationError, match="proxies_spare is 1; it must be below the number of proxies, 1"):
        settings(5, 5, spare=1, p=300)


def test_where_object_servers_hold_bandwidth_no_more_is_promised_than_they_move(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Writes pass them as often as there are replicas."""
    held: Any = {"bandwidth_nodes": {"o1": 10**7, "o2": 10**7}, "bandwidth_replicas": 2}
    found = promisable_by(settings(10**8, 10**8, p=10**9).model_copy(update=held), lambda _: True)
    assert found.capacity == BandwidthSlo(2 * 10**7, 10**7)
    assert "guarantees are limited to" in caplog.text
    assert found.check("acme", BandwidthSlo(10**7, 5 * 10**6)) == {}
    assert "writes count 2 times" in found.check("acme", BandwidthSlo(10**7, 6 * 10**6))["Warning"]


def test_a_proxy_and_an_object_server_have_names_of_their_own() -> None:
    with pytest.raises(ValidationError, match="p is the name of a proxy and of an object server"):
        ControllerSettings(
            token_file="/none",  # type: ignore[arg-type]
            key_file="/none",  # type: ignore[arg-type]
            read_bytes_per_s=1,
            write_bytes_per_s=1,
            proxies={"p": 1},
            bandwidth_nodes={"p": 10**6},
        )
