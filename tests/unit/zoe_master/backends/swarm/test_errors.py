"""Whatever an engine or its client says, its addresses and Python's exceptions stay with operators."""

from __future__ import annotations

import re

import pytest
import requests
from docker.errors import APIError

from zoe_master.backends.swarm.errors import error_text, error_text_of

SAID = {
    "HTTPSConnectionPool(host='10.213.7.3', port=2376): Max retries exceeded with url: /v1.41/containers/json "
    "(Caused by NewConnectionError('<urllib3.connection.HTTPSConnection object>: Failed to establish it'))",
    "('Connection aborted.', RemoteDisconnected('Remote end closed connection without response'))",
    'rpc error: code = Unavailable desc = connection error: desc = "transport: Error while dialing dial tcp '
    '10.213.7.1:2377: connect: connection refused"',
    "Get https://registry.example.org/v2/: x509: certificate signed by unknown authority",
    "Error response from daemon: lookup registry on [fd00::53]:53: no such host",
    "error creating external connectivity: driver failed programming: bind for 0.0.0.0:8080 failed",
    "UnixHTTPConnectionPool(host='localhost', port=None): Read timed out. (read timeout=10)",
}
KEPT = {
    "No such image: zoe/spark:latest",
    'OCI runtime create failed: exec: "nothing": executable file not found in $PATH: unknown',
    "no suitable node (insufficient resources on 1 node)",
    "The swarm does not have a leader.",
    "invalid mount config: duplicate mount point: /x",
}
HIDDEN = re.compile(r"\d+\.\d+\.\d+\.\d+|fd00|https?:|Pool|Error\(|Disconnected|registry")


@pytest.mark.parametrize("words", sorted(SAID))
def test_addresses_and_exceptions_are_for_operators(words: str) -> None:
    message, detail = error_text("it failed", words)
    assert not HIDDEN.search(message)
    assert message.startswith("it failed; operators see")
    assert detail == words


@pytest.mark.parametrize("words", sorted(KEPT))
def test_what_helps_the_user_is_told(words: str) -> None:
    assert error_text("it failed", words) == (f"it failed: {words}", "")


def test_without_an_answer_only_operators_see_what_the_client_says() -> None:
    for error in (requests.ConnectionError("node-3 away"), TimeoutError("timed out"), APIError("no response")):
        assert error_text_of("it failed", error).message.startswith("it failed; operators see")
        assert error_text_of("it failed", error).detail == str(error)
