"""Faults of masters, APIs, the database, and the connections between them."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Mapping
from functools import partial
from typing import TypeVar

from tests.chaos.clocks import Clocks
from tests.chaos.exhaustion import ForeignConnections, lower_descriptors, restore_descriptors
from tests.chaos.links import LinkState, ZoeLinks
from tests.chaos.messages import Forwarder, Treatment
from tests.chaos.world import After, Blow
from tests.support.installation import Program
from tests.support.postgres import PostgresServer

K = TypeVar("K")
LEASE_S = 2.0
HOUR_S = 3600
_PAUSE_S = (0.2, 3 * LEASE_S)
_API_PAUSE_S = (0.2, 3.0)
_JUMP_S = (1.0, 20.0)
_SPARE_DESCRIPTORS = (0, 6)
_ABORTED = -signal.SIGABRT


class ProgramFaults:
    """Masters by name and APIs by port; `begin` starts one again."""

    def __init__(
        self,
        masters: dict[str, Program],
        apis: dict[int, Program],
        begin_master: Callable[[str], Program],
        begin_api: Callable[[int], Program],
        chance: random.Random,
        after: After,
    ) -> None:
        self._masters = masters
        self._apis = apis
        self._begin_master = begin_master
        self._begin_api = begin_api
        self._chance = chance
        self._after = after
        self._killed: set[object] = set()
        self._short_of_descriptors: set[int] = set()
        """Processes that were at any time."""

    def begin_ended(self) -> list[str]:
        """Restart ended programs, as an init system does; return the ones with an unexpected end.

        Expected are only ends by a lack of descriptors: with an exit code, or aborted by ZeroMQ, which aborts when it
        cannot accept a connection at an `ipc` endpoint.
        """
        return [*self._begun(self._masters, self._begin_master), *self._begun(self._apis, self._begin_api)]

    def blows(self) -> Mapping[str, Blow]:
        """Return kills, pauses and lack of descriptors."""
        return {
            "master killed": Blow(6, lambda: self._kill(self._masters, self._begin_master)),
            "master paused": Blow(4, lambda: self._pause(self._masters, *_PAUSE_S)),
            "API killed": Blow(3, lambda: self._kill(self._apis, self._begin_api)),
            "API paused": Blow(2, lambda: self._pause(self._apis, *_API_PAUSE_S)),
            "master without descriptors": Blow(1, lambda: self._exhaust(self._masters)),
            "API without descriptors": Blow(1, lambda: self._exhaust(self._apis)),
        }

    def _begun(self, programs: dict[K, Program], begin: Callable[[K], Program]) -> list[str]:
        ended = {key: program for key, program in programs.items() if key not in self._killed}
        found = []
        for key, program in ended.items():
            code = program.poll()
            if code is None:
                continue
            programs[key] = begin(key)
            if program.pid not in self._short_of_descriptors or (code < 0 and code != _ABORTED):
                found.append(f"{key} ended by itself with {code}")
        return found

    def _kill(self, programs: dict[K, Program], begin: Callable[[K], Program]) -> bool:
        key = self._chance.choice(list(programs))
        program = programs[key]
        if program.poll() is not None:
            return False
        program.send_signal(signal.SIGCONT)
        program.kill()
        program.wait(30)
        self._killed.add(key)

        def begin_again() -> None:
            programs[key] = begin(key)
            self._killed.discard(key)

        self._after(self._chance.uniform(0, 2), begin_again)
        return True

    def _pause(self, programs: dict[K, Program], least_s: float, most_s: float) -> bool:
        program = programs[self._chance.choice(list(programs))]
        if program.poll() is not None:
            return False
        program.send_signal(signal.SIGSTOP)
        self._after(self._chance.uniform(least_s, most_s), lambda: program.send_signal(signal.SIGCONT))
        return True

    def _exhaust(self, programs: dict[K, Program]) -> bool:
        program = programs[self._chance.choice(list(programs))]
        if program.poll() is not None or not lower_descriptors(program.pid, self._chance.randint(*_SPARE_DESCRIPTORS)):
            return False
        self._short_of_descriptors.add(program.pid)
        self._after(self._chance.uniform(*_PAUSE_S), partial(restore_descriptors, program.pid))
        return True


def database_blows(server: PostgresServer, url: str, chance: random.Random, after: After) -> Mapping[str, Blow]:
    """Return a kill, and a lack of connections."""
    foreign = ForeignConnections(url)

    def kill() -> bool:
        server.kill()
        server.embedded.start()
        return True

    def take() -> bool:
        taken = foreign.take()
        after(chance.uniform(0.5, _PAUSE_S[1]), foreign.give_back)
        return taken

    return {"database killed": Blow(1, kill), "connections taken": Blow(1, take)}


def link_blows(links: ZoeLinks, chance: random.Random, after: After) -> Mapping[str, Blow]:
    """Return what connections suffer."""

    def treat(state: LinkState) -> bool:
        link = links.choose(chance)
        link.become(state)
        after(chance.uniform(*_PAUSE_S), lambda: link.become(LinkState.WHOLE))
        return True

    return {
        "link cut": Blow(3, lambda: links.choose(chance).cut() > 0),
        "link late": Blow(2, lambda: treat(LinkState.LATE)),
        "link mute": Blow(2, lambda: treat(LinkState.MUTE)),
    }


def message_blows(forwarder: Forwarder, chance: random.Random, after: After) -> Mapping[str, Blow]:
    """Return what messages between APIs and the first master suffer."""

    def treat(treatment: Treatment) -> bool:
        forwarder.become(treatment)
        after(chance.uniform(*_PAUSE_S), lambda: forwarder.become(Treatment.PASSED))
        return True

    return {
        "messages doubled": Blow(2, lambda: treat(Treatment.DOUBLED)),
        "messages late": Blow(2, lambda: treat(Treatment.LATE)),
    }


def clock_blows(clocks: Clocks, programs: list[str], chance: random.Random, after: After) -> Mapping[str, Blow]:
    """Return jumps by an hour, for a while or until the next one."""

    def jump(seconds: int) -> bool:
        program = chance.choice(programs)
        clocks.jump(program, seconds)
        if chance.random() < 0.5:
            after(chance.uniform(*_JUMP_S), lambda: clocks.jump(program, 0))
        return True

    return {
        "clock ahead": Blow(1, lambda: jump(HOUR_S)),
        "clock behind": Blow(1, lambda: jump(-HOUR_S)),
    }
