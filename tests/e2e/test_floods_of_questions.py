"""Sixteen clients put the largest question of each kind as fast as they can: another tenant is hardly delayed.

Delays are compared within a run, since machines differ: the same requests with and without the flood, in turns.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from tests.support import question_flood
from tests.support.installation import REPOSITORY, TENANT, Installation, free_port
from tests.support.largest_questions import largest_question, question_paths
from tests.support.long import LONG
from tests.support.people import admin_token, make_token
from tests.support.waiting import until
from zoe_lib.descriptions import catalogue

SLOWER_MAX = 5.0
FLOOD_S = 60.0 if LONG else 1.5
PATHS = tuple(question_paths()) if LONG else ("/api/v1/workflows:validate", "/api/v1/storage/try")
"""All in the long form; else one whose work is done by another process, and one that this one answers."""
QUIET = 40
FLOOR_S = 0.01
"""A quiet machine answers sooner; five times that is a delay that no one notices."""


@dataclass
class Site:
    """An installation with one API, beside a bystander of another tenant."""

    installation: Installation
    url: str
    bystander: str

    def me_s(self, until_s: float = 0.0) -> list[float]:
        """Return the times of requests of the bystander: so many, and until then."""
        connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=120)
        taken: list[float] = []
        while len(taken) < QUIET or time.monotonic() < until_s:
            began_s = time.monotonic()
            connection.request("GET", "/api/v1/me", headers={"Authorization": f"Bearer {self.bystander}"})
            answer = connection.getresponse()
            answer.read()
            taken.append(time.monotonic() - began_s)
            assert answer.status == 200
        connection.close()
        return taken

    def status_of_a_long_check(self) -> int:
        token = make_token(self.installation.store, "reader", TENANT, scopes=("read",))
        body, headers = largest_question("/validate"), {"Authorization": f"Bearer {token}"}
        url = f"{self.url}/api/v1/validate"
        return httpx.post(url, json=body, headers=headers, timeout=120, trust_env=False).status_code

    @contextmanager
    def flooded(self, path: str, body: Any, token: str) -> Iterator[dict[str, int]]:
        """Yield a dictionary that has the statuses of the answers in the end."""
        command = [sys.executable, "-m", question_flood.__name__, self.url, token, path]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=REPOSITORY)
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(body).encode())
            process.stdin.close()
            assert process.stdout.readline() == b"answered\n"
            statuses: dict[str, int] = {}
            yield statuses
            process.terminate()
            statuses |= json.loads(process.stdout.read())
        finally:
            process.kill()
            process.wait()
            process.stdout.close()


@pytest.fixture
def site(installation: Installation) -> Site:
    port = free_port()
    installation.start_master()
    installation.start_api(port)
    url = f"http://127.0.0.1:{port}"
    installation.until_leading()
    # Only now: the local back-end starts for one tenant.
    site = Site(installation, url, make_token(installation.store, "bystander", "blue"))
    until(lambda: _answers(site))
    return site


def _answers(site: Site) -> bool:
    try:
        return bool(site.me_s())
    except OSError:
        return False


def test_no_question_of_a_reader_slows_others(site: Site) -> None:
    slower: dict[str, float] = {}
    for path in PATHS:
        body, filled = largest_question(path), path.replace("{entry_id}", catalogue()[0].id)
        quiet_s = max(median(site.me_s()), FLOOR_S)
        # An admin may put the questions of operators, too, which a token to read may not.
        reader = admin_token(site.installation.store, "watcher")
        with site.flooded(filled, body, reader) as statuses:
            flooded_s = median(site.me_s(time.monotonic() + FLOOD_S))
        slower[path] = round(flooded_s / quiet_s, 1)
        print(f"{path}: {quiet_s * 1e3:.1f} ms, {flooded_s * 1e3:.1f} ms in the flood, answered {statuses}")
        # Long checks of a tenant take turns: behind this one, none of the flood is left.
        until(lambda: site.status_of_a_long_check() == 200, deadline_s=120)
    assert max(slower.values()) <= SLOWER_MAX, slower
