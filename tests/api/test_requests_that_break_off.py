"""Clients that end at any byte, at any route: nothing of level error in the log, and no traceback."""

from __future__ import annotations

import json
import logging
import random
import re
import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from tests.support.api import Api
from tests.support.long import LONG
from zoe_api.main import bare_app

SEED = 20261129
REQUESTS = 5000 if LONG else 60
_NAME = re.compile(r"\{[^}]*\}")


def routes() -> list[tuple[str, str]]:
    """Methods and paths of all routes, with a name in place of each parameter."""
    paths = bare_app().openapi()["paths"]
    found = [(method.upper(), path) for path, known in sorted(paths.items()) for method in sorted(known)]
    return [(method, _NAME.sub("some", path)) for method, path in found]


def requests(token: str, chance: random.Random) -> Iterator[bytes]:
    """Requests that are cut at any byte of head or body."""
    known = routes()
    for _ in range(REQUESTS):
        method, path = chance.choice(known)
        body = json.dumps({"name": "x" * chance.randint(0, 3000), "text": [1, {"a": None}]}).encode()
        coding = chance.choice(["length", "chunked", "none"])
        head = f"{method} {path} HTTP/1.1\r\nHost: {{host}}\r\nAuthorization: Bearer {token}\r\n"
        head += "Content-Type: application/json\r\n"
        if coding == "length":
            head += f"Content-Length: {len(body) + chance.choice([0, 0, 50])}\r\n"
        if coding == "chunked":
            head += "Transfer-Encoding: chunked\r\n"
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        whole = head.encode() + b"\r\n" + (b"" if coding == "none" else body)
        yield whole[: chance.randint(1, len(whole))]


def test_broken_off_requests_log_no_error_and_no_traceback(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    print(f"seed {SEED}")
    chance = random.Random(SEED)
    at = urlsplit(api.url)
    with caplog.at_level(logging.DEBUG):
        for sent in requests(api.admin, chance):
            with socket.create_connection((at.hostname or "", at.port or 0), timeout=10) as line:
                line.sendall(sent.replace(b"{host}", f"{at.hostname}:{at.port}".encode()))
                if chance.random() < 0.5:
                    line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")  # reset, not closed
        assert api.http().get("/api/v1/whoami").status_code in (200, 404)
    assert caplog.records
    wrong = [record for record in caplog.records if record.levelno >= logging.ERROR or record.exc_info]
    assert [(record.name, record.getMessage(), record.exc_text) for record in wrong] == []
    assert len([record for record in caplog.records if record.levelno >= logging.WARNING]) <= REQUESTS
