"""A long queue under a changed policy, and a burst of submissions: a real master and database, a simulated back-end.

`python -m benchmarks.ticks [QUEUED] [BURST]`; 0 leaves a part out.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from typing import Any

import structlog
from sqlalchemy import event, text

from benchmarks.support import machine, percentile, temporary_home
from zoe_embedded.postgres import EmbeddedPostgres
from zoe_lib.clock import SYSTEM_CLOCK
from zoe_lib.descriptions import parse
from zoe_lib.domain.applications.application import Application
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.resources import Resources
from zoe_lib.store.postgres.migrate import upgrade
from zoe_lib.store.postgres.store import PostgresStore
from zoe_lib.store.sql.batch import submitting
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.simulated import ServiceBehaviour, SimulatedBackend
from zoe_master.background.forecast_thread import ForecastThread
from zoe_master.loop.master import Master
from zoe_master.loop.tick_recorder import TickRecorder
from zoe_master.waker import TickWaker

GIB = 2**30
NODES = 100
CORES = 32
TICKS = 100
SUBMIT_AFTER_S = 0.2
WRITERS = 4
GIVE_UP_S = 900.0
_PAUSE_S = 0.05
# The size of the rows of executions that were taken into the queue and have a reason.
_QUEUED = text("""
    UPDATE executions SET state = 'queued', version = 3,
    marks = jsonb_build_object('queued', submitted_at_s),
    reason = CAST(:reason AS jsonb) WHERE state = 'submitted'
""")
_REASON = """{"code": "behind_in_queue", "counts": {}, "hint": "`zoe eta` tells when it is expected to start",
    "sentence": "Others come first by the policy (size); the first of them waits for room."}"""


def application(name: str, cores: int, essential: int = 1) -> Application:
    """Return an application of core services with this many cores."""
    worker = {
        "name": "worker",
        "image": "zoe/tiny",
        "essential_count": essential,
        "total_count": essential,
        "resources": {"memory": "64MiB", "cores": cores},
    }
    return parse({"version": 4, "name": name, "components": [worker]})


class Statements:
    """The statements that one store sends to the database."""

    def __init__(self, store: PostgresStore) -> None:
        self.count = 0
        database = store.database
        for engine in (database._reader, database._writer, database._single):
            event.listen(engine, "before_cursor_execute", self._count_statement)

    def _count_statement(self, *_: Any) -> None:
        self.count += 1

    def take_count(self) -> int:
        """Return the number since the last call."""
        count, self.count = self.count, 0
        return count


class Run:
    """A master in a separate thread, run as its process runs it."""

    def __init__(self, url: str, backend: SimulatedBackend, waker: TickWaker) -> None:
        began_s = time.perf_counter()
        self.store = PostgresStore(url)
        self.statements = Statements(self.store)
        epoch = self.store.try_lead("bench")
        assert epoch is not None
        self.backend, self.waker = backend, waker
        self.master = Master(self.store, backend, epoch, tick_recorder=TickRecorder(self.store, epoch))
        self.tick_s: list[float] = []
        self.sent: list[int] = []
        self.tick_once()
        self.up_s = time.perf_counter() - began_s

    def tick_once(self) -> bool:
        """Run one tick; return whether another one is due at once."""
        self.statements.take_count()
        began_s = time.perf_counter()
        tick = self.master.tick()
        self.tick_s.append(time.perf_counter() - began_s)
        self.sent.append(self.statements.take_count())
        return tick.is_due_again

    def forget(self) -> None:
        """Reset the counts."""
        self.tick_s.clear()
        self.sent.clear()

    def loop(self, stop: Callable[[], bool]) -> None:
        """Tick as the process does, until stopped."""
        while not stop():
            if not self.tick_once():
                due_s = self.backend.next_change_s()
                self.waker.wait(_PAUSE_S if due_s is None else max(min(due_s - time.time(), _PAUSE_S), 0.0))

    def close(self) -> None:
        """Close the database connections."""
        self.store.stop_leading()
        self.store.close()


def backend_of(waker: TickWaker, behave: Callable[[ServiceStart], ServiceBehaviour]) -> SimulatedBackend:
    """Return the cluster."""
    nodes = [Node(f"node{i:03}", Resources(CORES * 1000, 128 * GIB)) for i in range(NODES)]
    return SimulatedBackend(nodes, SYSTEM_CLOCK, waker, behave=behave)


def fill(store: PostgresStore, applications: Sequence[tuple[Application, int]]) -> None:
    """Put executions into the database, bypassing the API."""
    numbers = iter(range(10**9))
    for application, count in applications:
        for first in range(0, count, 500):
            fresh = [
                Execution(
                    f"{application.name}{next(numbers):06}",
                    application.name,
                    "default",
                    "ada",
                    application,
                    time.time(),
                )
                for _ in range(first, min(first + 500, count))
            ]
            prepared = [submitting.prepare(store._applications, e, "bench", None, "") for e in fresh]
            store.database.write_repeatable(lambda c, prepared=prepared: submitting.write(c, prepared))  # type: ignore[misc]


def long_queue(url: str, queued: int) -> None:
    """Measure a queue that cannot start under another policy; then one fresh small execution."""
    started: dict[str, float] = {}

    def behave(start: ServiceStart) -> ServiceBehaviour:
        started.setdefault(start.execution_id, time.perf_counter())
        return ServiceBehaviour()

    waker = TickWaker()
    backend = backend_of(waker, behave)
    with closing(PostgresStore(url)) as store:
        store.accounts.ensure_member("ada", "default", "admin")
        # All but one node are occupied for ever; that one has room for a small execution, and for no waiting one.
        fill(store, [(application("filler", CORES, NODES - 1), 1), (application("half", CORES - 4), 1)])
        first = Run(url, backend, waker)
        while len(started) < 2:
            first.tick_once()
        for _ in range(3):
            first.tick_once()
        first.close()
        fill(store, [(application("waiting", 8), queued)])
        store.database.write(lambda c: c.execute(_QUEUED, {"reason": _REASON}))
        store.database.write(lambda c: c.execute(text("ANALYZE")))

        run = Run(url, backend, waker)
        print(f"{'master up, first tick over':<58}{run.up_s:10.2f} s", flush=True)
        forecasts = ForecastThread(run.master, run.waker)
        run.forget()
        store.set_policy(replace(store.policy(), order="fifo"), store.policy().version, time.time(), "bench")
        fresh = Execution("small", "small", "default", "ada", application("small", 1), time.time())

        def submit() -> None:
            store.submit(fresh, "bench")
            run.waker.wake()

        asked_s = time.perf_counter() + SUBMIT_AFTER_S
        threading.Timer(SUBMIT_AFTER_S, submit).start()
        give_up_s = time.perf_counter() + GIVE_UP_S

        def stop() -> bool:
            return len(run.tick_s) >= TICKS or time.perf_counter() > give_up_s

        run.loop(stop)
        forecasts.close()
        waited_s = started.get("small", float("inf")) - asked_s
        print(f"{'fresh small execution handed over after':<58}{waited_s:10.2f} s")
        tell("tick", run.tick_s, run.sent)
        states = store.database.read(
            lambda c: c.execute(text("SELECT reason ->> 'sentence', count(*) FROM executions GROUP BY 1")).all()
        )
        for sentence, count in states:
            print(f"  {count:>7,} {sentence}")
        run.close()


def tell(name: str, tick_s: list[float], sent: list[int]) -> None:
    """Print times and statements of all ticks."""
    p50, p99 = percentile(tick_s, 0.5), percentile(tick_s, 0.99)
    print(f"{name + f's: {len(tick_s)}; p50, p99, longest':<58}{p50:10.3f} {p99:.3f} {max(tick_s):.3f} s")
    print(f"{'  statements in a tick: median, most':<58}{percentile([*map(float, sent)], 0.5):10.0f} {max(sent)}")


def burst(url: str, number: int, at_once: bool) -> float:
    """Measure a burst of executions that end at once: jobs per second from the first submission to the last end."""
    with closing(PostgresStore(url)) as one, closing(PostgresStore(url)) as other:
        one.accounts.ensure_member("ada", "default", "admin")
        waker = TickWaker()
        run = Run(url, backend_of(waker, lambda _: ServiceBehaviour(run_s=0.0)), waker)
        run.forget()
        small = application("burst" if at_once else "row", 1)
        fresh = [Execution(f"{small.name}{i:06}", small.name, "default", "ada", small, 0.0) for i in range(number)]
        done = threading.Event()

        def submit(number: int) -> None:
            (one if number % 2 else other).submit(replace(fresh[number], submitted_at_s=time.time()), "bench")
            run.waker.wake()

        def ended_executions() -> int:
            query = text("SELECT count(*) FROM executions WHERE name = :name AND state = 'succeeded'")
            return int(one.database.read(lambda c: c.execute(query, {"name": small.name})).scalar_one())

        began_s = time.perf_counter()
        loop = threading.Thread(target=run.loop, args=(done.is_set,))
        loop.start()
        with ThreadPoolExecutor(2 * WRITERS if at_once else 1) as writers:
            list(writers.map(submit, range(number)))
        submitted_s = time.perf_counter() - began_s
        while ended_executions() < number and time.perf_counter() - began_s < GIVE_UP_S:
            time.sleep(0.2)
        took_s = time.perf_counter() - began_s
        done.set()
        run.waker.wake()
        loop.join()
        waits = one.database.read(
            lambda c: c.execute(
                text("SELECT max((marks ->> 'queued')::float - submitted_at_s) FROM executions WHERE name = :name"),
                {"name": small.name},
            ).scalar_one()
        )
        how = "through two stores at once" if at_once else "one after the other"
        print(f"{f'{number:,} {how}: jobs a second':<58}{ended_executions() / took_s:10.0f}")
        print(f"{'  submitted a second':<58}{number / submitted_s:10.0f}")
        print(f"{'  longest time as submitted':<58}{waits or float('inf'):10.2f} s")
        tell("  tick", run.tick_s, run.sent)
        run.close()
        return number / took_s


@contextmanager
def database() -> Any:
    """Yield the URL of a new, migrated database."""
    with temporary_home() as home:
        postgres = EmbeddedPostgres(home)
        url = postgres.start()
        try:
            upgrade(url)
            yield url
        finally:
            postgres.stop()


def main() -> int:
    """Run both parts."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    queued = int(sys.argv[1]) if len(sys.argv) > 1 else 50_000
    number = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
    print(machine())
    if queued:
        print(f"\n{queued:,} queued on a full cluster of {NODES} nodes, and a changed policy")
        with database() as url:
            long_queue(url, queued)
    if number:
        print("\na burst")
        with database() as url:
            alone, together = burst(url, number, False), burst(url, number, True)
            print(f"{'at once / one after the other':<58}{together / alone:10.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
