"""State shared by the handles of a store in memory."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from threading import RLock
from types import TracebackType

from zoe_lib.domain.applications.entries import Entry
from zoe_lib.domain.applications.sharing import ExecutionShares, Visibility
from zoe_lib.domain.cluster.cluster import Node
from zoe_lib.domain.cluster.platform import BackendCapabilities
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.executions.arrays import Array, ArrayEventKind, ArrayId, index_ended, member_of, with_end_time
from zoe_lib.domain.executions.events import Event
from zoe_lib.domain.executions.execution import Execution, ExecutionId, ExecutionState, Mark
from zoe_lib.domain.executions.promises import StoreCapacity
from zoe_lib.domain.executions.use import DayOfUser, ResourceSeconds, daily_use
from zoe_lib.domain.values.frozen import value
from zoe_lib.domain.values.progress import ExecutionProgress
from zoe_lib.domain.values.store_queries import StoreQuery
from zoe_lib.store.documents.codec import event_data
from zoe_lib.store.errors import NotFound
from zoe_lib.store.values import JournalEntry, Leader, TickRecord


@value(frozen=True, slots=True)
class Fact:
    """A fact about the installation, for the journal."""

    kind: str
    at_s: float
    cause_id: str
    data: Mapping[str, object]


@value(frozen=True, slots=True)
class Record:
    """An entry of the journal; its JSON form is made on reading, which simulations seldom do."""

    id: int
    what: Event | Fact
    execution_id: ExecutionId | None = None
    tenant: str | None = None
    version: int | None = None

    def entry(self, with_data: bool) -> JournalEntry:
        """Return the entry as readers see it."""
        what = self.what
        data: Mapping[str, object] = {}
        if with_data:
            data = what.data if isinstance(what, Fact) else event_data(what)
        return JournalEntry(
            self.id, what.kind, what.at_s, what.cause_id, data, self.execution_id, self.tenant, self.version
        )


class State:
    """All tables, and the lock that makes each use of them a transaction: `with state:`."""

    def __init__(self) -> None:
        self.lock = RLock()
        self.executions: dict[ExecutionId, Execution] = {}
        self.active: dict[ExecutionId, Execution] = {}
        self.active_of: Counter[str] = Counter()
        """Number of active executions, by tenant."""
        self.active_of_user: Counter[tuple[str, str]] = Counter()
        """Number of active executions, by tenant and user."""
        self.counts: dict[ExecutionState, int] = dict.fromkeys(ExecutionState, 0)
        self.idempotency_keys: dict[tuple[str, str], tuple[str, ExecutionId, float]] = {}
        self.journal: list[Record] = []
        self.subscribers: dict[object, Callable[[], None]] = {}
        self.platform: Sequence[Node] = ()
        self.storage_capacity: StoreCapacity | None = None
        self.capabilities = BackendCapabilities()
        self.policy = Policy()
        self.leader: object | None = None
        self.epoch = 0
        self.lead: Leader | None = None
        self.ticks: list[TickRecord] = []
        self.cut_s = 0.0
        self.kept_use: dict[DayOfUser, ResourceSeconds] = {}
        self.last_uses: dict[ExecutionId, float] = {}
        self.progress: dict[ExecutionId, ExecutionProgress] = {}
        self.queries: dict[ExecutionId, tuple[StoreQuery, ...]] = {}
        self.arrays: dict[ArrayId, Array] = {}
        self.array_states: dict[ArrayId, bytearray] = {}
        self.array_entries: dict[ArrayId, Sequence[Entry]] = {}
        self._newest_id = 0

    def __enter__(self) -> State:
        self.lock.acquire()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.lock.release()

    def execution(self, execution_id: ExecutionId) -> Execution:
        """Return one execution; NotFound."""
        found = self.executions.get(execution_id)
        if found is None:
            raise NotFound(f"execution {execution_id!r} does not exist")
        return found

    def put(self, execution: Execution) -> None:
        """Replace an execution's earlier version."""
        before = self.executions.get(execution.id)
        if before is not None:
            self.counts[before.state] -= 1
        self.counts[execution.state] += 1
        self.executions[execution.id] = execution
        was_active = execution.id in self.active
        if not execution.terminal:
            self.active[execution.id] = execution
        elif was_active:
            del self.active[execution.id]
        if before is not None and was_active:
            self._count_active(before, -1)
        if not execution.terminal:
            self._count_active(execution, 1)

    def _count_active(self, execution: Execution, more: int) -> None:
        self.active_of[execution.tenant] += more
        self.active_of_user[execution.tenant, execution.user] += more

    def record(self, execution: Execution, events: Sequence[Event]) -> None:
        """Write the event that led to this state of the execution."""
        first_version = execution.version - len(events) + 1
        for version, event in enumerate(events, first_version):
            self._newest_id += 1
            self.journal.append(Record(self._newest_id, event, execution.id, execution.tenant, version))

        if execution.terminal:
            self._note_end(execution, events[-1].cause_id)

    def _note_end(self, execution: Execution, cause_id: str) -> None:
        member = member_of(execution.id)
        before = None if member is None else self.arrays.get(member.array_id)
        if before is not None:
            at_s = execution.marks[Mark.ENDED]
            self.put_array(index_ended(before, self.array_states[before.id], execution), at_s, cause_id)

    def put_array(self, array: Array, at_s: float, cause_id: str, change: Fact | None = None) -> Array:
        """Replace an array, and write the entry of the change and, if it has ended, that of its end."""
        after = with_end_time(array, at_s)
        facts = [] if change is None else [change]
        if after.ended_at_s is not None and array.ended_at_s is None:
            data = {"state": after.state.value, "counts": {state.value: n for state, n in after.counts.items()}}
            facts.append(Fact(ArrayEventKind.ENDED, at_s, cause_id, data))
        self.arrays[after.id] = after
        for fact in facts:
            self._newest_id += 1
            self.journal.append(Record(self._newest_id, fact, after.id, after.tenant, after.version))
        return after

    def shares(self, record_id: str) -> ExecutionShares:
        """Return the users who may see an execution or an array."""
        array = self.arrays.get(record_id)
        return (
            shares_of_owner(self.executions[record_id])
            if array is None
            else ExecutionShares(array.tenant, array.user, {})
        )

    def record_fact(self, fact: Fact) -> None:
        """Write a fact about the installation."""
        self._newest_id += 1
        self.journal.append(Record(self._newest_id, fact))

    def records(
        self, after_id: int, limit: int, visibility: Visibility, execution_id: ExecutionId | None
    ) -> Iterable[Record]:
        """Return the records after an id."""
        # Pruning leaves gaps in the ids, so counting back from the end starts early enough.
        at_least = max(len(self.journal) - (self._newest_id - after_id), 0)
        start = bisect_right(self.journal, after_id, lo=at_least, key=lambda record: record.id)
        if visibility.tenant is None and execution_id is None:
            return self.journal[start : start + limit]
        matching = (
            record
            for record in map(self.journal.__getitem__, range(start, len(self.journal)))
            if (execution_id is None or record.execution_id == execution_id)
            and (
                record.tenant in (None, visibility.tenant)
                if record.execution_id is None
                else visibility.includes(self.shares(record.execution_id))
            )
        )
        return islice(matching, limit)

    def notify_subscribers(self) -> None:
        """Call the subscribers, outside the lock, since they may call the store."""
        for notify in list(self.subscribers.values()):
            notify()

    def prune(self, ended_before_s: float) -> int:
        """Remove executions that ended before, with all their data; return how many."""
        old = {e.id for e in self.executions.values() if e.terminal and e.marks[Mark.ENDED] < ended_before_s}
        self._move_cut(ended_before_s)
        if not old:
            return 0
        add_use(self.kept_use, daily_use(self.executions[execution_id] for execution_id in sorted(old)))
        for execution_id in old:
            self.counts[self.executions.pop(execution_id).state] -= 1
            self.last_uses.pop(execution_id, None)
            self.progress.pop(execution_id, None)
            self.queries.pop(execution_id, None)
        self.journal = [record for record in self.journal if record.execution_id not in old]
        self.idempotency_keys = {key: used for key, used in self.idempotency_keys.items() if used[1] not in old}
        return len(old)

    def _move_cut(self, cut_s: float) -> None:
        self.cut_s = max(self.cut_s, cut_s)
        starts = [number for number, tick in enumerate(self.ticks) if tick.whole and tick.at_s <= cut_s]
        if starts:
            del self.ticks[: starts[-1]]

    def prune_keys(self, before_s: float) -> None:
        """Remove old idempotency keys."""
        self.idempotency_keys = {key: used for key, used in self.idempotency_keys.items() if used[2] >= before_s}


class MemorySubscription:
    """A subscriber of a store in memory."""

    def __init__(self, state: State) -> None:
        self._state = state

    def close(self) -> None:
        """End the subscription."""
        with self._state:
            self._state.subscribers.pop(self, None)


def shares_of_owner(execution: Execution) -> ExecutionShares:
    """Return the users who may see an execution without shares."""
    return ExecutionShares(execution.tenant, execution.user, {})


def add_use(total: dict[DayOfUser, ResourceSeconds], more: Mapping[DayOfUser, ResourceSeconds]) -> None:
    """Add usage to the present sums."""
    for key, use in more.items():
        total[key] = total.get(key, ResourceSeconds()) + use
