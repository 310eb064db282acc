"""The server of requests, on an address that another program has."""

from __future__ import annotations

import socket
from pathlib import Path

from structlog.testing import capture_logs

from zoe_lib.messaging.keys import ensure_keys
from zoe_master.rpc.server import RpcServer


def test_a_taken_endpoint_names_the_setting(tmp_path: Path) -> None:
    ensure_keys(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        endpoint = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
        with capture_logs() as logs, RpcServer(endpoint, tmp_path, {}, {}) as server:
            server.ensure()
    assert "change master_endpoint (ZOE_MASTER_ENDPOINT)" in logs[0]["hint"]
