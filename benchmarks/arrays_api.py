"""Ten thousand indices over the API: time to accept and to list them over an open connection."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median

import httpx

from benchmarks.support import temporary_home
from tests.support.documents import job
from zoe_embedded.stack import Stack

RUNS = 7


def measure(indices: int) -> int:
    """Print the medians."""
    with temporary_home() as home, Stack(home, spark=False, master=False) as stack:
        headers = {"Authorization": f"Bearer {stack.token}"}
        with httpx.Client(base_url=f"{stack.url}/api/v1", headers=headers, timeout=30) as http:
            body = {"application": job(), "indices": f"0-{indices - 1}"}
            made: list[str] = []

            def accept() -> None:
                made.append(http.post("/arrays", json=body).raise_for_status().json()["id"])

            _print(f"accept an array of {indices:,} indices", accept)
            path = f"/arrays/{made[0]}"
            _print("show it: counts and ranges", lambda: http.get(path).raise_for_status())
            brief = {"brief": "true", "limit": str(indices)}
            _print(f"list {indices:,} indices", lambda: http.get(f"{path}/indices", params=brief).raise_for_status())
            _print("list arrays", lambda: http.get("/arrays").raise_for_status())
    return 0


def _print(what: str, ask: Callable[[], object]) -> None:
    ask()  # opens the connection
    times = []
    for _ in range(RUNS):
        began_s = time.perf_counter()
        ask()
        times.append(time.perf_counter() - began_s)
    print(f"{what}: median {median(times) * 1e3:.1f} ms of {RUNS}, {min(times) * 1e3:.1f} to {max(times) * 1e3:.1f}")
