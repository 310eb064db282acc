"""Arrays and a long queue beside Debian's Slurm, in one run: `python -m benchmarks.queues_beside_slurm [RUNS]`.

Needs root and the packages slurmctld, slurmd, slurm-client and munge; without them it reports that and ends. Zoe is
called over an open connection, Slurm by its commands. Both sides take turns. At the end it prints the rows of
docs/operate/performance.md.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import httpx

from benchmarks.beside_slurm import Figures, seconds_of, submit_batch
from benchmarks.slurm import Slurm
from benchmarks.submit_to_process import APPLICATION as OF_1
from benchmarks.support import machine, temporary_home
from zoe_client import Client
from zoe_embedded.stack import Stack

RUNS = 5
INDICES = 10_000
QUEUED = 10_000
_QUEUED_WITHIN_S = 300.0
GOALS = (
    ("accept an array of 10,000", "zoe accepts", "slurm accepts", None),
    ("list its indices", "zoe lists indices", "slurm lists indices", None),
    ("a page of 50 of 10,000 that wait; `squeue`", "zoe lists", "slurm lists", None),
    ("why one of 10,000 waits", "zoe explains", "slurm explains", 100.0),
)
"""Compared figures, and the most ms that Zoe may take; the ratio should be at least 1."""


def main() -> None:
    """Measure and print."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else RUNS
    print(machine())
    figures: Figures = {}
    with Slurm() as slurm:
        print(slurm.version)
        with stack(master=False) as (zoe, http):
            for _ in range(runs):
                _add(figures, arrays(http, slurm))
        slurm.clear()
        with stack(master=True) as (zoe, http):
            last = fill_queue(zoe)
            slurm.submit("--hold", f"--array=1-{QUEUED}", "--job-name=queue")
            for _ in range(runs):
                _add(figures, queue(http, slurm, last))
    print(f"\nMedians of {runs} runs in ms (least to greatest); the ratio is Slurm's time to Zoe's of each run:\n")
    print("| | Zoe | Slurm | ratio | goal |\n|---|---|---|---|---|")
    for title, ours, theirs, most_ms in GOALS:
        ratios = [b / a for a, b in zip(figures[ours], figures[theirs], strict=True)]
        cells = (_spread(figures[ours], 1), _spread(figures[theirs], 1), _spread(ratios, 2))
        print(f"| {title} | {' | '.join(cells)} | {_goal(figures[ours], ratios, most_ms)} |")
    print(f"\nafter: {machine()}")


def _spread(values: Sequence[float], digits: int) -> str:
    median, least, greatest = (f"{value:.{digits}f}" for value in (statistics.median(values), min(values), max(values)))
    return f"{median} ({least} to {greatest})"


def _goal(times_ms: Sequence[float], ratios: Sequence[float], most_ms: float | None) -> str:
    missed = "" if statistics.median(ratios) >= 1 else ", missed"
    if most_ms is None:
        return f">= 1{missed}"
    return f">= 1{missed}; <= {most_ms:g} ms{'' if statistics.median(times_ms) <= most_ms else ', missed'}"


@contextmanager
def stack(master: bool) -> Iterator[tuple[Stack, httpx.Client]]:
    """Yield a separate stack and an open connection to it."""
    node = {"name": "local", "cores": 1, "memory_bytes": 4 << 30}
    with temporary_home() as home, Stack(home, spark=False, master=master, settings={"local_nodes": [node]}) as zoe:
        headers = {"Authorization": f"Bearer {zoe.token}"}
        with httpx.Client(base_url=f"{zoe.url}/api/v1", headers=headers, timeout=120, trust_env=False) as http:
            http.get("/executions").raise_for_status()
            yield zoe, http


def arrays(http: httpx.Client, slurm: Slurm) -> dict[str, float]:
    """Return ms to accept an array, and to list all its indices."""
    body = {"application": OF_1, "indices": f"1-{INDICES}"}
    made: list[str] = []
    found = {
        "zoe accepts": _ms(lambda: made.append(http.post("/arrays", json=body).raise_for_status().json()["id"])),
        "slurm accepts": _ms(lambda: slurm.submit("--hold", f"--array=1-{INDICES}", "--job-name=listed")),
    }
    path, brief = f"/arrays/{made[0]}/indices", {"brief": "true", "limit": str(INDICES)}
    listed: list[int] = []
    found["zoe lists indices"] = _ms(
        lambda: listed.append(len(http.get(path, params=brief).raise_for_status().json()["indices"]))
    )
    found["slurm lists indices"] = _ms(lambda: listed.append(slurm.list("--array", "--name=listed").count("\n")))
    assert listed == [INDICES, INDICES], listed
    slurm.clear()
    while slurm.list("--array").strip():  # cancelled ones stay for a moment
        time.sleep(0.1)
    return found


def fill_queue(zoe: Stack) -> str:
    """Let a service hold the only core, and executions wait behind it; return the id of the last."""
    holder = {**OF_1, "components": [{**OF_1["components"][0], "command": ["sleep", "3600"]}]}
    with Client(zoe.url, zoe.token, timeout_s=120) as client:
        client.submit(_whole_core(holder), priority=1000)
        ids = [text for _ in range(QUEUED // 100) for text in submit_batch(client, _whole_core(OF_1))]
        give_up_s = time.monotonic() + _QUEUED_WITHIN_S
        while client.execution(ids[-1]).state != "queued":
            assert time.monotonic() < give_up_s, "the queue does not fill"
            time.sleep(0.5)
        time.sleep(5)  # reasons are written
    return ids[-1]


def queue(http: httpx.Client, slurm: Slurm, last: str) -> dict[str, float]:
    """Return ms to list the queue, and to explain why the last one waits."""
    found = {
        "zoe lists": _ms(lambda: http.get("/executions", params={"limit": "50"}).raise_for_status()),
        "slurm lists": _ms(slurm.list),
        "slurm lists each": _ms(lambda: slurm.list("--array")),
        "zoe explains": _ms(lambda: http.get(f"/executions/{last}/explain").raise_for_status()),
        "slurm explains": _ms(lambda: slurm.show("queue")),
    }
    assert found["zoe explains"] > 0
    return found


def _whole_core(application: dict[str, object]) -> dict[str, object]:
    """Return an application that needs the whole core."""
    components = application["components"]
    assert isinstance(components, list)
    return {**application, "components": [{**components[0], "resources": {"memory": "16MiB", "cores": 1}}]}


def _ms(call: Callable[[], object]) -> float:
    return seconds_of(call) * 1e3


def _add(figures: Figures, values: dict[str, float]) -> None:
    for name, value in values.items():
        figures.setdefault(name, []).append(value)
    print("  ".join(f"{name}: {value:.1f}" for name, value in values.items()), flush=True)


if __name__ == "__main__":
    main()
