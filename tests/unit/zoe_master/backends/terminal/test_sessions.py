"""The listening address of terminals."""

from __future__ import annotations

import pytest

from zoe_master.backends.terminal.sessions import listening_host


@pytest.mark.parametrize(
    ("endpoint", "host"),
    [
        ("tcp://127.0.0.1:5101", "127.0.0.1"),
        ("tcp://0.0.0.0:5101", "0.0.0.0"),
        ("tcp://*:5101", "0.0.0.0"),
        ("tcp://[::]:5101", "::"),
        ("tcp://[fd00::1]:5101", "fd00::1"),
        ("tcp://master:5101", "master"),
        ("ipc:///run/zoe/master", "127.0.0.1"),
    ],
)
def test_terminals_listen_where_the_master_does(endpoint: str, host: str) -> None:
    assert listening_host(endpoint) == host
