"""A long queue on a real database: what a tick sends is bounded, starts do not wait for it, and it comes to rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
from sqlalchemy import event, text

from tests.simulation.world import World, application, component, node
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.executions.execution import Execution, ExecutionState
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.sql.batch import submitting
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.simulated import ServiceBehaviour
from zoe_master.loop.observer import INTAKE_MAX
from zoe_master.loop.reason_writer import REASONS_MAX
from zoe_master.loop.tick import Tick
from zoe_master.state.state_cache import CHANGES_PER_SET

QUEUED = 10_000
# Of a tick that takes in and tells as many as it may: four statements a set, reads of the journal, and the plan's own.
STATEMENTS_MAX = 4 * (INTAKE_MAX + REASONS_MAX) // CHANGES_PER_SET + 24
WIDE, SMALL = application(component("wide", 1, 1, cores=8)), application(component("small", 1, 1))
COUNTS = text("SELECT state, reason ->> 'sentence', count(*) FROM executions GROUP BY 1, 2")
NEW = text("SELECT kind, count(*) FROM journal WHERE id > :after GROUP BY 1")


class Statements:
    """What a store sends to the database, and the greatest number of journal entries that one statement writes."""

    def __init__(self, store: PostgresStore) -> None:
        self.sent: list[str] = []
        self.entries_most = 0
        database = store.database
        for engine in (database._reader, database._writer, database._single):
            event.listen(engine, "before_cursor_execute", self._sent)

    def _sent(self, _connection: object, _cursor: object, statement: str, parameters: object, *_: object) -> None:
        self.sent.append(statement)
        if isinstance(parameters, dict) and "kinds" in parameters:
            self.entries_most = max(self.entries_most, len(parameters["kinds"]))

    def taken(self) -> list[str]:
        sent, self.sent = self.sent, []
        return sent


class Growth:
    """A full cluster but for a small place, with a long queue that finds no room; time stands still."""

    def __init__(self, store: PostgresStore) -> None:
        self.started: set[str] = set()
        store.accounts.ensure_member("ada", "default", "admin")
        self.store = store
        self.world = World([node("n1", cores=8), node("n2", cores=8)], self._behave, store=store)
        self.world.submit(application(component("filler", 1, 1, cores=8)))
        self.world.submit(application(component("half", 1, 1, cores=6)))
        self.world.tick()
        self.world.tick()
        assert len(self.started) == 2
        self.statements = Statements(store)

    def _behave(self, start: ServiceStart) -> ServiceBehaviour:
        self.started.add(start.execution_id)
        return ServiceBehaviour()

    def submit(self, names: Sequence[str], shape: Application = WIDE) -> None:
        """Past the API, all at once."""
        now_s = self.world.clock.now_s()
        fresh = [Execution(name, shape.name, "default", "ada", shape, now_s) for name in names]
        prepared = [submitting.prepare(self.store._applications, execution, "test", None, "") for execution in fresh]
        self.store.database.write_repeatable(lambda connection: submitting.write(connection, prepared))
        self.statements.taken()

    def tick(self) -> tuple[Tick, int, dict[str, int]]:
        """The tick, how many statements it sent, and how many events of each kind it wrote."""
        after = self.store.last_journal_id()
        self.statements.taken()
        tick = self.world.tick()
        sent = self.statements.taken()
        wrote = self.store.database.read(lambda c: c.execute(NEW, {"after": after}).all())
        return tick, len(sent), {row[0]: row[1] for row in wrote}

    def set_order(self, order: str) -> None:
        policy = self.store.policy()
        self.store.set_policy(replace(policy, order=order), policy.version, self.world.clock.now_s(), "admin")

    def to_rest(self, ticks_most: int) -> int:
        """Tick until none is due at once; how many it took, each of them within its bounds."""
        for number in range(1, ticks_most + 1):
            tick, sent, wrote = self.tick()
            assert sent <= STATEMENTS_MAX
            assert wrote.get("queued", 0) <= INTAKE_MAX
            assert wrote.get("reason_changed", 0) <= REASONS_MAX
            if not tick.is_due_again:
                return number
        raise AssertionError(f"not at rest after {ticks_most} ticks")

    def sentences(self) -> dict[str, int]:
        """Return how many waiting executions have each reason."""
        rows = self.store.database.read(lambda c: c.execute(COUNTS).all())
        assert {row[0] for row in rows} <= {"queued", "running"}
        return {row[1]: row[2] for row in rows if row[0] == "queued"}


@pytest.fixture
def growth(store: PostgresStore) -> Growth:
    """Two that run for ever."""
    return Growth(store)


def test_a_tick_is_bounded_starts_come_through_and_all_comes_to_rest(growth: Growth) -> None:
    growth.submit([f"w{number:05}" for number in range(QUEUED)])
    assert growth.to_rest(QUEUED // INTAKE_MAX + 3) >= QUEUED // INTAKE_MAX
    assert growth.statements.entries_most <= CHANGES_PER_SET
    blocked = [sentence for sentence, count in growth.sentences().items() if count == 1]
    assert len(blocked) == 1
    assert sorted(growth.sentences().values()) == [1, QUEUED - 1]

    growth.set_order("fifo")
    tick, sent, wrote = growth.tick()
    assert tick.unfinished
    assert sent <= STATEMENTS_MAX
    assert wrote["reason_changed"] == REASONS_MAX
    # A burst comes while the queue gets reasons after the policy: all of it is taken in, and what can start starts at
    # once.
    growth.submit(["small"], SMALL)
    growth.submit([f"x{number:05}" for number in range(INTAKE_MAX // 2)])
    tick, sent, wrote = growth.tick()
    assert "small" in tick.plan.starts
    assert "small" in growth.started
    assert wrote["queued"] == INTAKE_MAX // 2 + 1
    assert wrote["reason_changed"] == REASONS_MAX
    assert sent <= STATEMENTS_MAX
    growth.to_rest(QUEUED // REASONS_MAX + 3)
    told = growth.sentences()
    assert sorted(told.values()) == [1, QUEUED + INTAKE_MAX // 2 - 1]
    assert any("(fifo)" in sentence for sentence in told)
    for _ in range(3):
        growth.tick()
    tick, sent, wrote = growth.tick()
    assert (sent, wrote) == (1, {})  # it reads the journal, and that is all


def test_everybody_is_told_though_the_policy_never_rests(growth: Growth) -> None:
    count = 2 * REASONS_MAX + CHANGES_PER_SET + 7  # so that a set takes from the line and from the others
    growth.submit([f"w{number:05}" for number in range(count)])
    growth.to_rest(10)
    before = growth.store.last_journal_id()
    for order in ("fifo", "sjf", "srpt", "las"):  # another sentence for all in each tick
        growth.set_order(order)
        growth.tick()
    entries = growth.store.journal(before, 100_000)
    told = {entry.execution_id for entry in entries if entry.kind == "reason_changed"}
    assert len(told) >= count - 1  # all but the first, which waits for room
    growth.to_rest(10)
    changes = [(e.execution_id, e.version) for e in growth.store.journal(before, 100_000) if e.execution_id]
    assert len(changes) == len(set(changes))
    assert len(growth.sentences()) == 2


def test_a_master_that_is_new_takes_in_what_waits_bit_by_bit(growth: Growth) -> None:
    growth.submit([f"w{number:05}" for number in range(2 * INTAKE_MAX)])
    growth.submit(["late"], SMALL)
    growth.world.restart()
    tick, sent, wrote = growth.tick()
    assert (tick.unfinished, wrote["queued"]) == (True, INTAKE_MAX)
    assert sent <= STATEMENTS_MAX
    assert all(e.state is ExecutionState.QUEUED for e in tick.snapshot.queued)
    assert len(tick.snapshot.queued) == INTAKE_MAX
    growth.to_rest(4)
    assert "late" in growth.started
