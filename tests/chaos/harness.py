"""Two masters, two APIs and a database, under random kills, pauses and faults."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.chaos.applications import CORES, SERVICE, awaited_by, essential_of
from tests.chaos.clients import ChaosClients
from tests.chaos.clocks import Clocks
from tests.chaos.faults import LEASE_S, ProgramFaults, clock_blows, database_blows, link_blows, message_blows
from tests.chaos.history import Entry, History, Line
from tests.chaos.links import ZoeLinks
from tests.chaos.messages import Forwarder
from tests.chaos.world import Blow, World
from tests.support.installation import Installation, Program, free_port
from tests.support.postgres import PostgresServer, connect
from zoe_client import Client, ZoeError
from zoe_client.wire import CredentialRequest, LimitAmounts

MASTERS, APIS = ("first", "second"), 2
AT_REST_S = 180.0
_PAUSE_S = 0.5
"""Between two faults, on average."""
_UNENDED_MAX = 60
"""Executions that wait or run: with two cores for everything, what piles up in one outage would delay all after it."""
_API_NAMES = [f"api-{number}" for number in range(APIS)]
# Times of entries, by the clock of the database, which never jumps.
_REAL_TIMES = """
CREATE TABLE chaos_times (id bigint, stored_s double precision);
CREATE FUNCTION chaos_note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO chaos_times SELECT id, extract(epoch FROM clock_timestamp()) FROM written; RETURN NULL; END $$;
CREATE TRIGGER chaos_note AFTER INSERT ON journal REFERENCING NEW TABLE AS written
  FOR EACH STATEMENT EXECUTE FUNCTION chaos_note();
"""


def _not_a_file(directory: str, names: list[str]) -> list[str]:
    paths = {name: Path(directory, name) for name in names}
    return [name for name, path in paths.items() if not (path.is_file() or path.is_dir())]


class Chaos:
    """One run. `act` does one random thing; `history` waits until all is at rest and returns the history.

    `library` lets clocks jump. `spared` are the names of excluded faults; `unended_max` bounds the executions that wait
    or run (None: none do); `settings` are of all programs.
    """

    def __init__(
        self,
        server: PostgresServer,
        url: str,
        seed: int,
        world: World,
        library: Path | None = None,
        spared: frozenset[str] = frozenset(),
        unended_max: int | None = None,
        **settings: Any,
    ) -> None:
        self._chance = random.Random(seed)
        self._server = server
        self._url = url
        self._world = world
        self._exits = ExitStack()
        self._exits.callback(world.close)
        self.kills: Counter[str] = Counter()
        self.ended: list[str] = []
        self.restores = 0
        self.installation = Installation(url, master_lease_s=LEASE_S, **{**world.settings, **settings})
        self._exits.callback(self.installation.close)
        world.begin(self.installation)
        self._read(_REAL_TIMES)
        self._clocks: Clocks | None = None
        if library is not None:
            # Not below the installation, of which nothing may be left: what forks programs knows this directory.
            apart = Path(self._exits.enter_context(TemporaryDirectory(prefix="zoe-clocks-")))
            self._clocks = Clocks(library, apart)
            self._clocks.fork_with_library()
        self._links = ZoeLinks(self.installation.secrets, url, MASTERS)
        self._exits.callback(self._links.close)
        # APIs reach the first master through a forwarder, and the second one without.
        behind = f"{self._links.bound(MASTERS[0])}.behind"
        self._forwarder = Forwarder(self.installation.keys_dir, self._links.bound(MASTERS[0]), behind, seed)
        self._exits.callback(self._forwarder.close)
        self._bound = {MASTERS[0]: behind, MASTERS[1]: self._links.bound(MASTERS[1])}
        self._ports = [free_port() for _ in range(APIS)]
        self._masters = {name: self._master(name) for name in MASTERS}
        self._apis = {port: self._api(port) for port in self._ports}
        self._later: list[tuple[float, Callable[[], None]]] = []
        blows = {**self._own_blows(), **world.blows(self._chance, self._after)}
        self._blows = {name: blow for name, blow in blows.items() if name not in spared}
        if (credential := world.credential()) is not None:
            with self._client(0) as client:
                client.set_storage_credential(SERVICE, CredentialRequest(**credential))
        if unended_max is not None:
            with self._client(0) as client:
                client.admin.set_limit(LimitAmounts(executions=unended_max))
        self._clients = ChaosClients(self._client, seed, world.stores)
        self._exits.callback(self._clients.close)

    def act(self) -> None:
        """Do one thing, and end or begin those whose time has come."""
        self.due()
        self.strike()
        time.sleep(self._chance.expovariate(1 / _PAUSE_S))

    def strike(self) -> None:
        """Do one thing at once."""
        name = self._chance.choices(list(self._blows), [blow.weight for blow in self._blows.values()])[0]
        self.kills[name] += self._blows[name].act()

    def due(self) -> None:
        """End or begin due faults."""
        now_s = time.monotonic()
        due = [do for at_s, do in self._later if at_s <= now_s]
        self._later = [(at_s, do) for at_s, do in self._later if at_s > now_s]
        for do in due:
            do()
        self.ended += self._programs.begin_ended()

    def restore(self) -> None:
        """Lose the database, and restore a backup of this moment into an empty one; the programs are down meanwhile."""
        self._end_faults()
        for program in (*self._masters.values(), *self._apis.values()):
            self.installation.stop(program)
        self.restores += 1
        file = self.installation.base / f"backup-{self.restores}"
        self._set_up("backup", file)
        self._server.replace_by_an_empty_one(self._url)
        self._set_up("restore", file)
        file.unlink()
        self._read(_REAL_TIMES)
        self._masters |= {name: self._master(name) for name in self._masters}
        self._apis |= {port: self._api(port) for port in self._apis}

    def _set_up(self, *words: object) -> None:
        variables = {"ZOE_DATABASE_URL": self._url, "ZOE_KEYS_DIR": str(self.installation.keys_dir)}
        command = [sys.executable, "-m", "zoe_api.setup", *map(str, words)]
        done = subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)
        if done.returncode:
            raise AssertionError(f"{words[0]} failed: {done.stderr}")

    def programs(self) -> Mapping[str, int]:
        """Return the pids of masters, APIs, and what else belongs to the installation."""
        masters = {f"master {name}": program.pid for name, program in self._masters.items()}
        apis = {f"API {number}": self._apis[port].pid for number, port in enumerate(self._ports)}
        return {**masters, **apis, **self._world.programs()}

    @property
    def defects(self) -> list[str]:
        """Return what no fault excuses: answers of the API, and programs that ended by themselves."""
        return [*self._clients.defects, *self.ended]

    @property
    def submissions(self) -> int:
        """Return how many were acknowledged."""
        return len(self._clients.acknowledged)

    def rest(self) -> Sequence[str]:
        """Stop all faults and the submissions, wait for rest, and return the leftovers."""
        self._end_faults()
        self._clients.stop()
        with self._client(0) as client:
            return self._rest(client)

    def _end_faults(self) -> None:
        until_s = time.monotonic() + 30
        while self._later and time.monotonic() < until_s:
            self.due()
            time.sleep(0.1)
        self._world.mend()

    def history(self) -> History:
        """Wait for rest, and return everything that happened."""
        left = self.rest()
        with self._client(0) as client:
            entries, names = self._journal()
            self._wait(lambda: bool(entries) and self._clients.streamed[-1:] == [entries[-1].id], 30)
            # A clock that jumped ahead may have put ends behind midnight.
            tomorrow_s = time.time() + 86_400
            core_s = sum(day.core_hours * 3600 for day in client.daily_use(0.0, tomorrow_s).days)
        return History(
            entries=entries,
            lines=self._lines(),
            acknowledged=frozenset(self._clients.acknowledged),
            essential={execution_id: essential_of(name) for execution_id, name in names.items()},
            awaited={execution_id: awaited_by(name) for execution_id, name in names.items()},
            defects=self.defects,
            cores=CORES,
            streamed=list(self._clients.streamed),
            core_s=core_s,
            left=left,
        )

    def keep(self, directory: Path) -> None:
        """Copy logs, the state of services and the journal to a place where they outlive this run."""
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        for path in self.installation.base.glob("*.log*"):
            shutil.copy(path, directory)
        shutil.copytree(self.installation.base / "state", directory / "state", symlinks=True, ignore=_not_a_file)
        rows = self._journal()[0]
        (directory / "journal").write_text("\n".join(map(str, rows)))

    def close(self) -> None:
        """End everything."""
        self._exits.close()

    # -- what happens ----------------------------------------------------------------------------------------------
    def _own_blows(self) -> Mapping[str, Blow]:
        chance, after = self._chance, self._after
        self._programs = ProgramFaults(self._masters, self._apis, self._master, self._api, chance, after)
        clocks = clock_blows(self._clocks, [*MASTERS, *_API_NAMES], chance, after) if self._clocks else {}
        return {
            **self._programs.blows(),
            **database_blows(self._server, self._url, chance, after),
            **link_blows(self._links, chance, after),
            **message_blows(self._forwarder, chance, after),
            **clocks,
        }

    def _after(self, seconds: float, do: Callable[[], None]) -> None:
        self._later.append((time.monotonic() + seconds, do))

    # -- programs --------------------------------------------------------------------------------------------------
    def _master(self, name: str) -> Program:
        return self.installation.start_master(
            ZOE_MASTER_NAME=name,
            ZOE_MASTER_ENDPOINT=self._bound[name],
            ZOE_MASTER_ADVERTISED_ENDPOINT=self._links.advertised(name),
            ZOE_DATABASE_URL=self._links.database_of(name),
            **self._clock_of(name),
        )

    def _api(self, port: int) -> Program:
        clock = self._clock_of(_API_NAMES[self._ports.index(port)])
        return self.installation.start_api(port, ZOE_DATABASE_URL=self._links.database_of("api"), **clock)

    def _clock_of(self, program: str) -> dict[str, str]:
        return self._clocks.environment(program) if self._clocks is not None else {}

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
            "SELECT j.id, execution_id, version, kind, at_s, data, stored_s FROM journal j"
            " LEFT JOIN chaos_times t ON t.id = j.id WHERE execution_id IS NOT NULL ORDER BY j.id"
        )
        names = {str(row[0]): str(row[1]) for row in self._read("SELECT id, name FROM executions")}
        return [Entry(*row) for row in rows], names  # type: ignore[arg-type]

    def _lines(self) -> list[Line] | None:
        if not self._world.programs_know_their_service:
            return None
        path = self._world.shared() / "history"
        words = [line.split() for line in path.read_text().splitlines()] if path.exists() else []
        return [Line(service_id, word, float(at_s)) for service_id, word, at_s in words]

    def _read(self, query: str) -> list[tuple[object, ...]]:
        with closing(connect(self._url)) as connection, connection.cursor() as cursor:
            cursor.execute(query)
            return cursor.fetchall() if cursor.description else []

    def _wait(self, look: Callable[[], bool], seconds: float) -> None:
        until_s = time.monotonic() + seconds
        while not look() and time.monotonic() < until_s:
            time.sleep(0.1)


def run(
    server: PostgresServer,
    seed: int,
    kills: int,
    seconds: float,
    tell: Callable[[str], None],
    world: World,
    library: Path | None = None,
) -> Chaos:
    """Go on until there are enough kills or the time is over; the caller reads the history and closes."""
    chaos = Chaos(server, server.create_database(), seed, world, library, unended_max=_UNENDED_MAX)
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
