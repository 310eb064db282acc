"""Messages for terminals that could not be opened."""

from __future__ import annotations

import socket
import ssl

import pytest

from zoe_client import Unreachable
from zoe_client.calls.terminals import Terminal, _cause_of
from zoe_client.wire import TerminalOpening

REFUSED = "[Errno 111] Connect call failed ('{}', 1)"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionRefusedError(111, "Connect call failed ('127.0.0.1', 1)"), "Connection refused"),
        (OSError(f"Multiple exceptions: {REFUSED.format('::1')}, {REFUSED.format('127.0.0.1')}"), "Connection refused"),
        (OSError(113, "Connect call failed ('10.0.0.1', 1)"), "No route to host"),
        (socket.gaierror(-2, "Name or service not known"), "[Errno -2] Name or service not known"),
        (ssl.SSLError(1, "certificate verify failed"), "certificate verify failed"),
        (ConnectionResetError(), "ConnectionResetError"),
        (TimeoutError("timed out during opening handshake"), "timed out during opening handshake"),
    ],
)
def test_why_there_is_no_answer_is_said_once(error: Exception, said: str) -> None:
    assert _cause_of(error) == said


def test_where_nobody_listens_that_is_said() -> None:
    with pytest.raises(Unreachable, match=r"^no answer from http://localhost:1: Connection refused$"):
        Terminal("http://localhost:1", "token", "/x", TerminalOpening(command=["sh"]))
