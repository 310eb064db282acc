"""An application that breaks off in the middle of its answer: the browser sees that, and the log has one line of it."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.proxied import DOMAIN, HTTP, SECRET, Proxied
from tests.support.waiting import until
from zoe_api.apps import middleware as door

BROKEN = {
    "length": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
    "chunks": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
    "no chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\nxyz\r\n",
}


@pytest.mark.parametrize("http", HTTP)
@pytest.mark.parametrize("answer", BROKEN.values(), ids=BROKEN)
def test_it_costs_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, http: str, answer: bytes
) -> None:
    told: list[tuple[str, str]] = []
    log: Any = SimpleNamespace(warning=lambda event, *, execution, why: told.append((event, execution)))
    monkeypatch.setattr(door, "log", log)
    proxied = Proxied(http=http)
    proxied.application.answer = answer
    names = f"Host: e1.{DOMAIN}\r\nCookie: zoe-app={SECRET}\r\n\r\n".encode()
    try:
        got = proxied.exchange(b"GET / HTTP/1.1\r\n" + names)
        assert b"half" in got
        assert not got.endswith(b"0\r\n\r\n")
        until(lambda: told)
    finally:
        proxied.close()
    assert told == [("an application ended its answer early", "e1")]
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
