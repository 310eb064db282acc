"""Successive masters that make executions of arrays over a simulated cluster."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.support.applications import application, component
from zoe_client.vocabulary import IndexState
from zoe_lib.domain.applications.entries import Entry, EntryList
from zoe_lib.domain.applications.entry_reading import read_entries
from zoe_lib.domain.applications.templates import fill
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.arrays import Array, Member, member_of, use_of_entries
from zoe_lib.domain.executions.indices import first_indices, parse_array
from zoe_lib.domain.values.resources import Resources
from zoe_lib.store.memory.state import State
from zoe_lib.store.memory.store import MemoryStore
from zoe_lib.store.values import StoreLimits
from zoe_master.backends.simulated import ServiceBehaviour, SimulatedBackend, SimulatedClock
from zoe_master.loop.master import Master
from zoe_master.state.crash_points import CrashPoint, never_crash
from zoe_master.waker import TickWaker

_NO_MEMBER = Member("", -1)


class Killed(Exception):  # noqa: N818 - the name is the fact
    """The master was killed."""


class World:
    """Successive masters over one cluster with room for some services."""

    def __init__(self, cores: int = 10**7) -> None:
        self.clock = SimulatedClock(1000.0)
        self.store = MemoryStore(StoreLimits(), State())
        self.failing: set[int] = set()
        self.started: list[str] = []
        self.lists: dict[str, bytes] = {}
        nodes = (Node("n1", Resources(cores, 2**60)),)
        self.backend = SimulatedBackend(nodes, self.clock, TickWaker(), self._behave)
        self.hit = never_crash
        self.lead()

    def lead(self) -> None:
        """Let another master lead."""
        self.store.stop_leading()
        epoch = self.store.try_lead("test")
        assert epoch is not None
        self.master = Master(self.store, self.backend, epoch, clock=self.clock, hit=self._hit)

    def _hit(self, point: CrashPoint) -> None:
        self.hit(point)

    def _behave(self, start: object) -> ServiceBehaviour:
        execution_id: str = start.execution_id  # type: ignore[attr-defined]
        self.started.append(execution_id)
        member = member_of(execution_id)
        return ServiceBehaviour(run_s=1.0, exit_code=int(member is not None and member.index in self.failing))

    def submit(self, indices: str, number: int = 1, **more: object) -> Array:
        """Submit an array."""
        numbers, at_once = parse_array(indices, 10**6)
        fresh = Array(
            id=f"a{number:014}",
            name="sweep",
            tenant="red",
            user="ada",
            application=application(component("main", readiness=None)),
            submitted_at_s=self.clock.now_s(),
            indices=numbers,
            at_once=at_once,
            **more,  # type: ignore[arg-type]
        )
        return self.store.submit_array(fresh, "request")

    def submit_for(self, entries: Sequence[Entry], number: int = 1, **more: object) -> Array:
        """Submit an array over a list, which exists when it is read."""
        values: dict[str, object] = {
            "application": application(component("main", readiness=None, command=("run", "{each:part}"))),
            "indices": first_indices(1),
            "entries": EntryList("part", "parts.json"),
            "user": "ada",
            **more,
        }
        fresh = Array(
            id=f"a{number:014}",
            name="mapped",
            tenant="red",
            submitted_at_s=self.clock.now_s(),
            **values,  # type: ignore[arg-type]
        )
        self.lists[fresh.id] = json.dumps(entries).encode()
        return self.store.submit_array(fresh, "request")

    def arguments(self, array: Array) -> list[str]:
        """Return the entry of each execution of an array, in the order of indices."""
        found = [execution for execution in self.store._state.executions.values() if execution.id.startswith(array.id)]
        found.sort(key=lambda execution: (member_of(execution.id) or _NO_MEMBER).index)
        return [fill(execution.application.components[0].command[1], str) for execution in found]

    def rest(self, ticks_max: int = 10_000) -> int:
        """Tick until nothing is due any more, with another master whenever one is killed; return the number of
        ticks.
        """
        for number in range(ticks_max):
            try:
                self.read_lists()
                again_at_once = self.master.tick().is_due_again
            except Killed:
                self.lead()
                continue
            if not again_at_once:
                due_s = self.master.next_due_s(self.clock.now_s())
                if due_s is None and not self.store.active() and not self.waiting():
                    return number
                self.clock.advance(0.5)
        raise AssertionError("it never rests")

    def read_lists(self) -> None:
        """Give arrays with due lists their entries, like the thread of a master."""
        for array in self.master.due_lists():
            entries = read_entries(self.lists[array.id], use_of_entries(array.application))
            self.store.list_array(array.id, entries, self.clock.now_s(), "list")

    def waiting(self) -> int:
        """Return how many indices wait."""
        return sum(array.count(IndexState.WAITING) for array in self.store._state.arrays.values())

    def check_once_each(self, array: Array, runs: int = 1) -> None:
        """Every index has had one execution, and each of them has started once."""
        members = [member_of(execution) for execution in self.store._state.executions]
        found = sorted(member.index for member in members if member is not None and member.array_id == array.id)
        assert found == sorted([*array.indices] * runs)
        own = [text for text in self.started if text.startswith(array.id)]
        assert len(own) == len(set(own)) == len(found)
