"""An installation whose API is flooded with questions, and a bystander of another tenant."""

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
from typing import Any, Self
from urllib.parse import urlsplit

import httpx

from tests.support import question_flood
from tests.support.installation import REPOSITORY, TENANT, Installation, free_port
from tests.support.largest_questions import largest_question
from tests.support.long import LONG
from tests.support.people import admin_token, make_token
from tests.support.waiting import until

SLOWER_MAX = 5.0
FLOOD_S = 60.0 if LONG else 1.5
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

    @classmethod
    def of(cls, installation: Installation) -> Self:
        """Start master and API."""
        port = free_port()
        installation.start_master()
        installation.start_api(port)
        url = f"http://127.0.0.1:{port}"
        installation.until_leading()
        # Only now: the local back-end starts for one tenant.
        site = cls(installation, url, make_token(installation.store, "bystander", "blue"))
        until(site.answers)
        return site

    def answers(self) -> bool:
        try:
            return bool(self.me_s())
        except OSError:
            return False

    def slower(self, path: str, body: Any) -> tuple[float, dict[str, int]]:
        """Return how many times longer the bystander waits while an admin's token floods; and the flood's statuses."""
        quiet_s = max(median(self.me_s()), FLOOR_S)
        # An admin may put the questions of operators, too, which a token to read may not.
        reader = admin_token(self.installation.store, "watcher")
        with self.flooded(path, body, reader) as statuses:
            flooded_s = median(self.me_s(time.monotonic() + FLOOD_S))
        print(f"{path}: {quiet_s * 1e3:.1f} ms, {flooded_s * 1e3:.1f} ms in the flood, answered {statuses}")
        return round(flooded_s / quiet_s, 1), statuses
