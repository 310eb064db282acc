"""Two masters, two APIs and a database with the local back-end, whose programs are killed and paused at random."""

from __future__ import annotations

import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import ExitStack, closing, suppress
from functools import partial
from typing import TypeVar

import psutil

from tests.chaos.history import Entry, History, Line
from tests.support.documents import Document, document, part
from tests.support.installation import TENANT, Installation, Program, free_port
from tests.support.postgres import PostgresServer, connect
from zoe_lib.sdk import Client, ZoeError

K = TypeVar("K")
MASTERS, APIS = ("first", "second"), 2
SUBMITTERS = 3
LEASE_S = 2.0
CORES = {"main": 0.1, "worker": 0.05}
ESSENTIAL: Mapping[str, Mapping[str, int]] = {
    "job": {"main": 1},
    "group": {"main": 1, "worker": 2},
    "long": {"main": 1},
}
AT_REST_S = 180.0
_SIGNS = "echo $ZOE_SERVICE_ID {word} $(date +%s.%N) >> {{workspace}}/history"


def documents(chance: random.Random) -> Document:
    """Return one of the applications: a job, a group with elastic workers, or one that runs until it is cancelled."""
    kind = chance.choice(("job", "job", "group", "long"))
    seconds = 600 if kind == "long" else round(chance.uniform(0, 3), 2)
    parts = [_part("main", seconds, ends_application=True)]
    if kind == "group":
        parts.append(_part("worker", 600, essential_count=2, total_count=4))
    return document(*parts, name=kind)


def _part(name: str, seconds: float, **changes: object) -> Document:
    script = f"{_SIGNS.format(word='start')}; sleep {seconds}; {_SIGNS.format(word='end')}"
    resources = {"memory": "16MiB", "cores": CORES[name]}
    return part(name, "sh", "-c", script, resources=resources, **changes)


class Chaos:
    """One run. `act` kills or pauses something; `history` waits until all is at rest and returns what happened."""

    def __init__(self, server: PostgresServer, url: str, seed: int) -> None:
        self._chance = random.Random(seed)
        self._server = server
        self._url = url
        self.kills: Counter[str] = Counter()
        self.installation = Installation(url, master_lease_s=LEASE_S)
        self._ports = [free_port() for _ in range(APIS)]
        self._masters = {name: self._master(name) for name in MASTERS}
        self._apis = {port: self.installation.start_api(port) for port in self._ports}
        self._later: list[tuple[float, Callable[[], None]]] = []
        self._stop = threading.Event()
        self._acknowledged: set[str] = set()
        self._long: set[str] = set()
        self._streamed: list[int] = []
        self._threads = [threading.Thread(target=self._submit, args=(n, seed), daemon=True) for n in range(SUBMITTERS)]
        self._follower = threading.Thread(target=self._follow, daemon=True)
        for thread in (*self._threads, self._follower):
            thread.start()

    def act(self) -> None:
        """Kill or pause one program, and begin or wake those whose time has come."""
        self._due()
        actions: dict[str, tuple[int, Callable[[], bool]]] = {
            "master killed": (6, self._kill_master),
            "master paused": (4, self._pause_master),
            "API killed": (3, self._kill_api),
            "API paused": (2, self._pause_api),
            "supervisor killed": (3, self._kill_supervisor),
            "database killed": (1, self._kill_database),
        }
        name = self._chance.choices(list(actions), [weight for weight, _ in actions.values()])[0]
        self.kills[name] += actions[name][1]()
        time.sleep(self._chance.expovariate(2.0))

    def history(self) -> History:
        """Stop the kills and the submissions, wait for rest, and return everything."""
        until_s = time.monotonic() + 30
        while self._later and time.monotonic() < until_s:
            self._due()
            time.sleep(0.1)
        self._stop.set()
        for thread in self._threads:
            thread.join(120)
        with self._client(0) as client:
            left = self._rest(client)
            entries, names = self._journal()
            self._wait(lambda: bool(entries) and self._streamed[-1:] == [entries[-1].id], 30)
            core_s = sum(day.core_hours * 3600 for day in client.daily_use(0.0).days)
        return History(
            entries=entries,
            lines=self._lines(),
            acknowledged=frozenset(self._acknowledged),
            essential={execution_id: ESSENTIAL[name] for execution_id, name in names.items()},
            cores=CORES,
            streamed=list(self._streamed),
            core_s=core_s,
            left=left,
        )

    def close(self) -> None:
        """End everything."""
        self._stop.set()
        self.installation.close()

    # -- kills -----------------------------------------------------------------------------------------------------
    def _kill_master(self) -> bool:
        name = self._chance.choice(MASTERS)
        return self._kill(self._masters, name, partial(self._master, name))

    def _kill_api(self) -> bool:
        port = self._chance.choice(self._ports)
        return self._kill(self._apis, port, partial(self.installation.start_api, port))

    def _kill(self, programs: dict[K, Program], key: K, begin: Callable[[], Program]) -> bool:
        program = programs[key]
        if program.poll() is not None:
            return False
        program.send_signal(signal.SIGCONT)
        program.kill()
        program.wait(30)
        self._after(self._chance.uniform(0, 2), lambda: programs.update({key: begin()}))
        return True

    def _pause_master(self) -> bool:
        return self._pause(self._masters[self._chance.choice(MASTERS)], self._chance.uniform(0.2, 3 * LEASE_S))

    def _pause_api(self) -> bool:
        return self._pause(self._apis[self._chance.choice(self._ports)], self._chance.uniform(0.2, 3))

    def _pause(self, program: Program, seconds: float) -> bool:
        if program.poll() is not None:
            return False
        program.send_signal(signal.SIGSTOP)
        self._after(seconds, lambda: program.send_signal(signal.SIGCONT))
        return True

    def _kill_supervisor(self) -> bool:
        found = [process for process in psutil.process_iter(["cmdline"]) if self._supervises(process)]
        if not found:
            return False
        with suppress(psutil.NoSuchProcess):
            self._chance.choice(sorted(found, key=lambda process: process.pid)).kill()
        return True

    def _supervises(self, process: psutil.Process) -> bool:
        words = " ".join(process.info["cmdline"] or ())
        return "supervisor" in words and str(self.installation.base) in words

    def _kill_database(self) -> bool:
        self._server.kill()
        self._server.embedded.start()
        return True

    def _after(self, seconds: float, do: Callable[[], None]) -> None:
        self._later.append((time.monotonic() + seconds, do))

    def _due(self) -> None:
        now_s = time.monotonic()
        due = [do for at_s, do in self._later if at_s <= now_s]
        self._later = [(at_s, do) for at_s, do in self._later if at_s > now_s]
        for do in due:
            do()

    def _master(self, name: str) -> Program:
        endpoint = f"ipc://{self.installation.secrets}/{name}"
        return self.installation.start_master(ZOE_MASTER_NAME=name, ZOE_MASTER_ENDPOINT=endpoint)

    # -- clients ---------------------------------------------------------------------------------------------------
    def _client(self, number: int) -> Client:
        return self.installation.client(f"http://127.0.0.1:{self._ports[number % APIS]}")

    def _submit(self, number: int, seed: int) -> None:
        chance = random.Random(f"{seed} {number}")
        with self._client(number) as client:
            while not self._stop.wait(chance.uniform(0.2, 1.0)):
                wanted = documents(chance)
                with suppress(ZoeError):
                    execution_id = client.submit(wanted).id
                    self._acknowledged.add(execution_id)
                    if wanted["name"] == "long":
                        self._long.add(execution_id)
                    if len(self._long) > SUBMITTERS:
                        client.cancel(self._long.pop())

    def _follow(self) -> None:
        while not self._stop.is_set():
            with suppress(ZoeError), self._client(1) as client:
                for event in client.stream("/events", {"after": self._streamed[-1] if self._streamed else 0}):
                    self._streamed.append(int(event.id))

    # -- the end ---------------------------------------------------------------------------------------------------
    def _rest(self, client: Client) -> list[str]:
        active = self._active()
        for execution_id in active:
            with suppress(ZoeError):
                client.cancel(execution_id)
        self._wait(lambda: not self._active(), AT_REST_S)
        self._wait(lambda: not self.installation.traces(), 60)
        return self.installation.traces()

    def _active(self) -> list[str]:
        rows = self._read("SELECT id, name FROM executions WHERE state NOT IN ('succeeded', 'failed', 'cancelled')")
        return [str(row[0]) for row in rows]

    def _journal(self) -> tuple[list[Entry], dict[str, str]]:
        rows = self._read(
            "SELECT id, execution_id, version, kind, at_s, data FROM journal WHERE execution_id IS NOT NULL ORDER BY id"
        )
        names = {str(row[0]): str(row[1]) for row in self._read("SELECT id, name FROM executions")}
        return [Entry(*row) for row in rows], names  # type: ignore[arg-type]

    def _lines(self) -> list[Line]:
        path = self.installation.workspaces / TENANT / "history"
        words = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
        return [Line(service_id, word, float(at_s)) for service_id, word, at_s in words]

    def _read(self, query: str) -> list[tuple[object, ...]]:
        with closing(connect(self._url)) as connection, connection.cursor() as cursor:
            cursor.execute(query)
            return cursor.fetchall()

    def _wait(self, look: Callable[[], bool], seconds: float) -> None:
        until_s = time.monotonic() + seconds
        while not look() and time.monotonic() < until_s:
            time.sleep(0.1)


def run(server: PostgresServer, seed: int, kills: int, seconds: float, tell: Callable[[str], None]) -> Chaos:
    """Kill until there are enough kills or the time is over; the caller reads the history and closes."""
    chaos = Chaos(server, server.create_database(), seed)
    until_s, told_s = time.monotonic() + seconds, time.monotonic()
    with ExitStack() as exits:
        exits.callback(chaos.close)
        while chaos.kills.total() < kills and time.monotonic() < until_s:
            chaos.act()
            if time.monotonic() - told_s > 10:
                told_s = time.monotonic()
                tell(f"kills={chaos.kills.total()} of {kills}")
        exits.pop_all()
    return chaos
