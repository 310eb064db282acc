"""Two masters, two APIs and a database, to which kills, pauses and faults happen at random."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from functools import partial
from typing import TypeVar

from tests.chaos.applications import CORES, ESSENTIAL
from tests.chaos.clients import ChaosClients
from tests.chaos.history import Entry, History, Line
from tests.chaos.links import LinkState, ZoeLinks
from tests.chaos.world import Blow, World
from tests.support.installation import TENANT, Installation, Program, free_port
from tests.support.postgres import PostgresServer, connect
from zoe_lib.sdk import Client, ZoeError

K = TypeVar("K")
MASTERS, APIS = ("first", "second"), 2
LEASE_S = 2.0
AT_REST_S = 180.0
_PAUSE_S = (0.2, 3 * LEASE_S)


class Chaos:
    """One run. `act` does one thing at random; `history` waits until all is at rest and returns what happened."""

    def __init__(self, server: PostgresServer, url: str, seed: int, world: World) -> None:
        self._chance = random.Random(seed)
        self._server = server
        self._url = url
        self._world = world
        self._exits = ExitStack()
        self._exits.callback(world.close)
        self.kills: Counter[str] = Counter()
        self.installation = Installation(url, master_lease_s=LEASE_S, **world.settings)
        self._exits.callback(self.installation.close)
        world.begin(self.installation)
        self._links = ZoeLinks(self.installation.secrets, url, MASTERS)
        self._exits.callback(self._links.close)
        self._ports = [free_port() for _ in range(APIS)]
        self._masters = {name: self._master(name) for name in MASTERS}
        self._apis = {port: self._api(port) for port in self._ports}
        self._later: list[tuple[float, Callable[[], None]]] = []
        self._blows = {**self._own_blows(), **world.blows(self._chance, self._after)}
        self._clients = ChaosClients(self._client, seed)
        self._exits.callback(self._clients.close)

    def act(self) -> None:
        """Do one thing, and end or begin those whose time has come."""
        self._due()
        name = self._chance.choices(list(self._blows), [blow.weight for blow in self._blows.values()])[0]
        self.kills[name] += self._blows[name].act()
        time.sleep(self._chance.expovariate(2.0))

    def history(self) -> History:
        """Stop all blows and the submissions, wait for rest, and return everything."""
        until_s = time.monotonic() + 30
        while self._later and time.monotonic() < until_s:
            self._due()
            time.sleep(0.1)
        self._world.mend()
        self._clients.stop()
        with self._client(0) as client:
            left = self._rest(client)
            entries, names = self._journal()
            self._wait(lambda: bool(entries) and self._clients.streamed[-1:] == [entries[-1].id], 30)
            core_s = sum(day.core_hours * 3600 for day in client.daily_use(0.0).days)
        return History(
            entries=entries,
            lines=self._lines(),
            acknowledged=frozenset(self._clients.acknowledged),
            essential={execution_id: ESSENTIAL[name] for execution_id, name in names.items()},
            cores=CORES,
            streamed=list(self._clients.streamed),
            core_s=core_s,
            left=left,
        )

    def close(self) -> None:
        """End everything."""
        self._exits.close()

    # -- what happens ----------------------------------------------------------------------------------------------
    def _own_blows(self) -> Mapping[str, Blow]:
        return {
            "master killed": Blow(6, self._master_killed),
            "master paused": Blow(4, self._master_paused),
            "API killed": Blow(3, self._api_killed),
            "API paused": Blow(2, self._api_paused),
            "database killed": Blow(1, self._database_killed),
            "link cut": Blow(3, self._link_cut),
            "link late": Blow(2, self._link_late),
            "link mute": Blow(2, self._link_mute),
        }

    def _master_killed(self) -> bool:
        name = self._chance.choice(MASTERS)
        return self._kill(self._masters, name, partial(self._master, name))

    def _api_killed(self) -> bool:
        port = self._chance.choice(self._ports)
        return self._kill(self._apis, port, partial(self._api, port))

    def _kill(self, programs: dict[K, Program], key: K, begin: Callable[[], Program]) -> bool:
        program = programs[key]
        if program.poll() is not None:
            return False
        program.send_signal(signal.SIGCONT)
        program.kill()
        program.wait(30)
        self._after(self._chance.uniform(0, 2), lambda: programs.update({key: begin()}))
        return True

    def _master_paused(self) -> bool:
        return self._pause(self._masters[self._chance.choice(MASTERS)], self._chance.uniform(*_PAUSE_S))

    def _api_paused(self) -> bool:
        return self._pause(self._apis[self._chance.choice(self._ports)], self._chance.uniform(0.2, 3))

    def _pause(self, program: Program, seconds: float) -> bool:
        if program.poll() is not None:
            return False
        program.send_signal(signal.SIGSTOP)
        self._after(seconds, lambda: program.send_signal(signal.SIGCONT))
        return True

    def _database_killed(self) -> bool:
        self._server.kill()
        self._server.embedded.start()
        return True

    def _link_cut(self) -> bool:
        return self._links.choose(self._chance).cut() > 0

    def _link_late(self) -> bool:
        return self._link(LinkState.LATE)

    def _link_mute(self) -> bool:
        return self._link(LinkState.MUTE)

    def _link(self, state: LinkState) -> bool:
        link = self._links.choose(self._chance)
        link.become(state)
        self._after(self._chance.uniform(*_PAUSE_S), lambda: link.become(LinkState.WHOLE))
        return True

    def _after(self, seconds: float, do: Callable[[], None]) -> None:
        self._later.append((time.monotonic() + seconds, do))

    def _due(self) -> None:
        now_s = time.monotonic()
        due = [do for at_s, do in self._later if at_s <= now_s]
        self._later = [(at_s, do) for at_s, do in self._later if at_s > now_s]
        for do in due:
            do()

    # -- programs --------------------------------------------------------------------------------------------------
    def _master(self, name: str) -> Program:
        return self.installation.start_master(
            ZOE_MASTER_NAME=name,
            ZOE_MASTER_ENDPOINT=self._links.bound(name),
            ZOE_MASTER_ADVERTISED_ENDPOINT=self._links.advertised(name),
            ZOE_DATABASE_URL=self._links.database_of(name),
        )

    def _api(self, port: int) -> Program:
        return self.installation.start_api(port, ZOE_DATABASE_URL=self._links.database_of("api"))

    def _client(self, number: int) -> Client:
        return self.installation.client(f"http://127.0.0.1:{self._ports[number % APIS]}")

    # -- the end ---------------------------------------------------------------------------------------------------
    def _rest(self, client: Client) -> Sequence[str]:
        for execution_id in self._active():
            with suppress(ZoeError):
                client.cancel(execution_id)
        self._wait(lambda: not self._active(), AT_REST_S)
        self._wait(lambda: not self._world.left(), self._world.clean_within_s)
        return self._world.left()

    def _active(self) -> list[str]:
        rows = self._read("SELECT id, name FROM executions WHERE state NOT IN ('succeeded', 'failed', 'cancelled')")
        return [str(row[0]) for row in rows]

    def _journal(self) -> tuple[list[Entry], dict[str, str]]:
        rows = self._read(
            "SELECT id, execution_id, version, kind, at_s, data FROM journal WHERE execution_id IS NOT NULL ORDER BY id"
        )
        names = {str(row[0]): str(row[1]) for row in self._read("SELECT id, name FROM executions")}
        return [Entry(*row) for row in rows], names  # type: ignore[arg-type]

    def _lines(self) -> list[Line] | None:
        if not self._world.programs_know_their_service:
            return None
        path = self._world.workspaces() / TENANT / "history"
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


def run(
    server: PostgresServer, seed: int, kills: int, seconds: float, tell: Callable[[str], None], world: World
) -> Chaos:
    """Go on until there are enough kills or the time is over; the caller reads the history and closes."""
    chaos = Chaos(server, server.create_database(), seed, world)
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
