"""Data from ended executions: expected run times of kinds, and recent usage of tenants."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from zoe_lib.domain.applications.program import without_numbers
from zoe_lib.domain.executions.execution import TERMINAL_STATES, Execution, ExecutionState, Mark, ran_s
from zoe_lib.run_times.nearest import RunTimesByProgram
from zoe_lib.run_times.samples import RunKey, run_key
from zoe_lib.store.base import ExecutionStore
from zoe_lib.store.values import ExecutionQuery
from zoe_master.scheduler.ordering.estimate import Estimates
from zoe_master.scheduler.ordering.orders import attained_service
from zoe_master.scheduler.ordering.virtual_time import ExecutionArrival, arrival_of
from zoe_master.state.forecasts import ForecastRecord

_READ_AT_START_MAX = 2_000
_PAGE = 500


class KindEstimates:
    """Expected run times in seconds by kind, updated as executions come and go, and as runs end.

    `expected` returns the estimate for any kind, and `own` whether it comes from the user's own runs.
    """

    def __init__(self, expected: Callable[[RunKey], float | None], own: Callable[[RunKey], bool]) -> None:
        self._expected, self._own = expected, own
        self._present: Counter[RunKey] = Counter()
        self._of_program: dict[tuple[str, str], dict[RunKey, bool]] = defaultdict(dict)
        """Present kinds by tenant and program without numbers, and whether their estimate is the user's own."""
        self.known: dict[RunKey, float] = {}
        """Estimates of present kinds; it changes."""
        self._frozen: Mapping[RunKey, float] | None = None

    def enter(self, kind: RunKey) -> None:
        """Count another execution of this kind."""
        self._present[kind] += 1
        if self._present[kind] == 1:
            self._update(kind)

    def leave(self, kind: RunKey) -> None:
        """Remove one execution of this kind."""
        self._present[kind] -= 1
        if not self._present[kind]:
            del self._present[kind]
            program = _program(kind)
            del self._of_program[program][kind]
            if not self._of_program[program]:
                del self._of_program[program]
            if self.known.pop(kind, None) is not None:
                self._frozen = None

    def run_ended(self, kind: RunKey) -> Sequence[RunKey]:
        """Update the kinds that a run of this kind tells about; return those whose estimate has changed."""
        some = self._of_program.get(_program(kind), {})
        affected = [other for other, own in some.items() if other[1] == kind[1] or not own]
        return [other for other in affected if self._update(other)]

    def _update(self, kind: RunKey) -> bool:
        self._of_program[_program(kind)][kind] = self._own(kind)
        expected_s = self._expected(kind)
        if expected_s == self.known.get(kind):
            return False
        if expected_s is None:  # a run with other numbers has shown that these matter
            del self.known[kind]
        else:
            self.known[kind] = expected_s
        self._frozen = None
        return True

    def snapshot(self) -> Mapping[RunKey, float]:
        """Return an immutable copy of the present estimates."""
        if self._frozen is None:
            self._frozen = dict(self.known)
        return self._frozen


class RunTimeHistory:
    """Learned in memory; the next master reads it from the store again. `record`: outcomes of forecasts.

    Run times: of successful runs (`RunTimesByProgram`). Usage: reserved core-seconds, with a half-life of
    `half_life_s`. Arrivals: of the executions that ended last, with their expected run times.
    """

    def __init__(self, store: ExecutionStore, half_life_s: float) -> None:
        self._runs = RunTimesByProgram()
        self._used: dict[str, float] = {}
        self._used_at_s = 0.0
        self._departed: deque[ExecutionArrival] = deque(maxlen=_READ_AT_START_MAX)
        # With the run times expected before; only one of the orders needs their arrivals.
        self._just_departed: deque[tuple[Execution, float | None]] = deque(maxlen=_READ_AT_START_MAX)
        self.record = ForecastRecord()
        for execution in recently_ended(store):
            if Mark.PLACED in execution.marks:
                self.record.record_wait(execution)
            self.learn(execution, half_life_s)

    def learn(self, execution: Execution, half_life_s: float) -> None:
        """Learn from an execution that has ended."""
        ended_at_s = execution.marks.get(Mark.ENDED, 0.0)
        self._decay_to(ended_at_s, half_life_s)
        late = 2.0 ** (-max(self._used_at_s - ended_at_s, 0.0) / half_life_s)
        self._used[execution.tenant] = (
            self._used.get(execution.tenant, 0.0) + attained_service(execution, ended_at_s) * late
        )
        self.record.record_run_time(execution)
        placed_at_s = execution.marks.get(Mark.PLACED)
        if placed_at_s is not None:
            self._just_departed.append((execution, self.expected_s(run_key(execution))))
        run_s = ran_s(execution)
        if execution.state is ExecutionState.SUCCEEDED and run_s is not None:
            self._runs.learn(run_key(execution), run_s)

    @property
    def departed_arrivals(self) -> tuple[ExecutionArrival, ...]:
        """Return the arrivals of the executions that ended last."""
        while self._just_departed:
            execution, expected_s = self._just_departed.popleft()
            known = {} if expected_s is None else {run_key(execution): expected_s}
            self._departed.append(arrival_of(execution, Estimates(known)))
        return tuple(self._departed)

    def expected_s(self, kind: RunKey) -> float | None:
        """Return the expected run time in seconds, as far as past runs show it."""
        return self._runs.expected_s(kind)

    def knows_user(self, kind: RunKey) -> bool:
        """Return whether the expectation comes from the user's own runs."""
        return self._runs.knows_user(kind)

    def used_by_tenant(self, active: Iterable[Execution], now_s: float, half_life_s: float) -> Mapping[str, float]:
        """Return core-seconds by tenant, including those of running executions."""
        self._decay_to(now_s, half_life_s)
        result = dict(self._used)
        for execution in active:
            result[execution.tenant] = result.get(execution.tenant, 0.0) + attained_service(execution, now_s)
        return result

    def _decay_to(self, at_s: float, half_life_s: float) -> None:
        if at_s > self._used_at_s:
            factor = 2.0 ** (-(at_s - self._used_at_s) / half_life_s)
            self._used = {tenant: used * factor for tenant, used in self._used.items()}
            self._used_at_s = at_s


def recently_ended(store: ExecutionStore) -> list[Execution]:
    """Return the newest ones, the earliest end first."""
    query = ExecutionQuery(states=TERMINAL_STATES, limit=_PAGE)
    found: list[Execution] = []
    while len(found) < _READ_AT_START_MAX:
        page = store.executions(query)
        found += page.executions
        if page.next_cursor is None:
            break
        query = replace(query, cursor=page.next_cursor)
    return sorted(found, key=lambda e: e.marks.get(Mark.ENDED, 0.0))


def _program(kind: RunKey) -> tuple[str, str]:
    return kind[0], without_numbers(kind[2])
