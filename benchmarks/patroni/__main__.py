"""Pause of submissions after the loss of the primary of a PostgreSQL under Patroni: `python -m benchmarks.patroni`.

Three machines with PostgreSQL, Patroni and etcd, and one with master and API, are network namespaces. It needs root and
Debian's packages, which it downloads once into /var/cache/zoe. Four clients submit all the time. For each fault it
prints the longest time without an acknowledgement, and the time until an execution submitted after the fault has
succeeded. In the end, each acknowledged execution must have run, once.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from contextlib import closing

from benchmarks.patroni.clients import JOB, Clients, longest_gap_s
from benchmarks.patroni.database import Machines
from benchmarks.patroni.network import Network
from benchmarks.patroni.packages import CannotRunError, packages
from benchmarks.support import machine, tell
from tests.support.installation import Installation, free_port
from tests.support.waiting import until
from zoe_client import Client
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.store.postgres import migrate

NAMES = ("pg1", "pg2", "pg3")
ZOE = "zoe"
CLIENTS = 4
TIMINGS = {
    "default": {"ttl": 30, "loop_wait": 10, "retry_timeout": 10},
    "quick": {"ttl": 20, "loop_wait": 2, "retry_timeout": 5},
}
_SETTLE_S = 5.0


def main() -> int:
    """Run `[default|quick] [ROUNDS]`, and print; return 1 if an acknowledged execution was lost or ran twice."""
    timing = sys.argv[1] if len(sys.argv) > 1 else "default"
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    if os.geteuid() != 0:
        raise CannotRunError("only root can make network namespaces")
    programs = packages()
    print(machine())
    print(programs.versions())
    with Network((*NAMES, ZOE)) as network:
        network.enter(ZOE)
        with Machines(network, NAMES, programs, TIMINGS[timing]) as machines:
            migrate.upgrade(machines.url)
            with closing(Installation(machines.url, forked=False)) as installation:
                return Drill(network, machines, installation).run(timing, rounds)


class Drill:
    """Faults, one after the other, while clients submit."""

    def __init__(self, network: Network, machines: Machines, installation: Installation) -> None:
        self._network = network
        self._machines = machines
        self._installation = installation
        self._port = free_port()
        self._answers: dict[str, Counter[str]] = {}
        self._figures: dict[str, list[float]] = {}
        self._acknowledged: list[str] = []

    def run(self, timing: str, rounds: int) -> int:
        """Apply each fault in each round; return 1 if a rule was broken."""
        self._installation.start_master()
        self._installation.start_api(self._port)
        with self._client(patience_s=60) as client:
            client.wait(client.submit(JOB).id, 60)
        self._installation.until_leading()
        with self._client(patience_s=60) as client:
            client.wait(client.submit(JOB).id, 60)
        faults: dict[str, Callable[[str], None]] = {
            "switchover": lambda _: self._machines.switch_over(),
            "PostgreSQL killed": self._machines.kill_postgres,
            "machine killed": self._network.kill_all,
            "machine cut off": self._network.cut_off,
        }
        for _ in range(rounds):
            for name, fault in faults.items():
                self._apply(name, fault)
        tell(f"Patroni with ttl, loop_wait, retry_timeout = {tuple(TIMINGS[timing].values())}", self._figures)
        for name, answers in self._answers.items():
            print(f"  answers meanwhile, {name}: {dict(answers)}")
        return self._check()

    def _apply(self, name: str, fault: Callable[[str], None]) -> None:
        self._machines.until_ready()
        primary = self._machines.primary
        assert primary is not None
        with Clients(self._client, CLIENTS) as clients:
            time.sleep(_SETTLE_S)
            begin_s = time.monotonic()
            before = len(clients.seen.acknowledged)
            fault(primary)
            with self._client(patience_s=300) as client:
                client.wait(client.submit(JOB, name="after").id, 300)
            runs_s = time.monotonic() - begin_s
            time.sleep(_SETTLE_S)
        assert len(clients.seen.acknowledged) > before
        self._figures.setdefault(f"{name}: no acknowledgement, s", []).append(longest_gap_s(clients.seen, begin_s))
        self._figures.setdefault(f"{name}: until one has run, s", []).append(runs_s)
        self._answers.setdefault(name, Counter()).update(clients.seen.answers)
        self._acknowledged += [execution_id for _, execution_id in clients.seen.acknowledged]
        self._network.connect(primary)
        if name == "machine killed":
            self._machines.start(primary)

    def _check(self) -> int:
        self._machines.until_ready()
        wrong: list[str] = []
        with self._client(patience_s=300) as client:
            for execution_id in self._acknowledged:
                state = client.wait(execution_id, 300).state
                if state is not ExecutionState.SUCCEEDED or self._installation.ran(execution_id) != ["ran"]:
                    wrong.append(f"{execution_id} {state} {self._installation.ran(execution_id)}")
            until(lambda: client.status().master is not None)
        print(f"  {len(self._acknowledged)} acknowledged, lost or run twice: {len(wrong)} {wrong[:5]}")
        return 1 if wrong else 0

    def _client(self, patience_s: float = 0.0) -> Client:
        return self._installation.client(f"http://127.0.0.1:{self._port}", patience_s)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except CannotRunError as reason:
        sys.exit(f"skipped: {reason}")
