"""Runs of `make demo-deadline`: the training runs, the promised ones, and their outcomes."""

from __future__ import annotations

import base64
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zoe_client import Client, ZoeError
from zoe_client.vocabulary import ExecutionState, Mark
from zoe_client.wire import ExecutionView, FinishTermsView, OffersView, PromiseView
from zoe_embedded.demos.data import Dataset
from zoe_embedded.demos.deadline_job import (
    DEMO_JOB,
    MB,
    RATE,
    WORKERS_MOST,
    DeadlineJob,
    answer_is_right,
    description,
)
from zoe_embedded.demos.demo import until_it_ends

QUARTER, HALF, ALL = RATE // 4, RATE // 2, RATE
LEARNING: Sequence[tuple[int, int | None]] = (
    (1, HALF),
    (3, ALL),
    (1, QUARTER),
    (2, ALL),
    (3, QUARTER),
    (1, ALL),
    (2, HALF),
    (3, HALF),
    (2, QUARTER),
    (3, ALL),
)
"""Workers and bandwidth. A confidence of 90 % needs ten runs of the same kind with a known rate, which guaranteed runs
have; before, a rule of thumb replaces it, and times are three times as long.
"""
EXTREMES: Sequence[tuple[int, int | None]] = ((1, QUARTER), (WORKERS_MOST, ALL))
"""The least and the most of both."""
CONFIDENCE = 0.9
_ANSWER_S_MAX, _LOOK_S = 60.0, 0.1
_LEARNS_S = 2.0  # a thread of the master learns each second


@dataclass(frozen=True, slots=True)
class ExpectedRun:
    """Expected duration of a run, from the knowledge before it: seconds from its placement; runs: how many it is based
    on.
    """

    p50_s: float
    p90_s: float
    runs: int


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """An ended run. took_s: seconds from its placement; expected: None without knowledge."""

    execution: ExecutionView
    workers: int
    read_bytes_per_s: int | None
    expected: ExpectedRun | None
    took_s: float
    right: bool

    @property
    def promise(self) -> PromiseView | None:
        """Return its promise."""
        return self.execution.promise

    @property
    def late_s(self) -> float:
        """Return the seconds between its promised time and its end; negative: it ended early."""
        assert self.promise is not None
        return self.execution.marks[Mark.ENDED] - self.promise.terms.finish_s


def rate_text(rate: int | None) -> str:
    """Return a guaranteed rate as text."""
    return f"{rate / MB:g} MB/s guaranteed" if rate else "no bandwidth guaranteed"


def choice_text(elastic: int, rate: int | None) -> str:
    """Return a choice as text."""
    workers = elastic + 1
    return f"{workers} worker{'s' if workers > 1 else ''}, {rate_text(rate)}"


class DeadlineRuns:
    """Submits runs of the job, one after the other. Raises ZoeError if one does not succeed."""

    def __init__(self, client: Client, data: Dataset, job: DeadlineJob = DEMO_JOB) -> None:
        self.client = client
        self.job = job
        self.data = data
        self._number = int(time.time())

    def learned_runs(self) -> int:
        """Return the number of runs that Zoe has learned from."""
        return max((time_.samples for time_ in self.client.plan(self._description("plan")).run_times), default=0)

    def wait_until_learned(self, runs: int) -> None:
        """Wait until Zoe has learned from so many runs, including the bytes of the last one. Raises ZoeError."""
        give_up_s = time.monotonic() + _ANSWER_S_MAX
        while time.monotonic() < give_up_s:
            ended = self.client.executions(states=[ExecutionState.SUCCEEDED], name=self.job.name, limit=1).executions
            last = next(iter(ended), None)
            moved = None if last is None else self.client.execution(last.id).transfers
            if moved is not None and moved.final and self.learned_runs() >= runs:
                time.sleep(_LEARNS_S)
                return
            time.sleep(_LOOK_S)
        raise ZoeError(
            f"Zoe has not learned from {runs} runs after {_ANSWER_S_MAX:g} s, but from {self.learned_runs()}"
        )

    def expected_run(self, elastic: int, rate: int | None) -> ExpectedRun | None:
        """Return the run time that Zoe expects with so many workers beside the first, at this rate."""
        told = self.client.plan(self._description("plan", 1, rate)).run_times
        found = next((entry for entry in told if entry.elastic == elastic), None)
        return None if found is None else ExpectedRun(found.p50_s, found.p90_s, found.samples)

    def run_unpromised(self, workers: int, rate: int | None, kind: str | None = None) -> RunOutcome:
        """Run the job with so many essential workers and this bandwidth, without a promise; `kind`: under another name,
        so that Zoe does not learn from it about the job.
        """
        expected = self.expected_run(workers - 1, rate)
        result = self._next_result()
        described = self._description(result, workers, rate)
        execution = self.client.submit(described if kind is None else {**described, "name": kind})
        return self._outcome(execution.id, workers, rate, expected, result)

    def promise_for(self, in_s: float) -> FinishTermsView | None:
        """Return the promise for an end in so many seconds; None: none is possible."""
        outlook = self.client.plan(self._description("plan"), finish_by=f"+{in_s:.0f}s", confidence=CONFIDENCE).promise
        return None if outlook is None else outlook.terms

    def submit_with_deadline(self, in_s: float) -> tuple[ExecutionView, str]:
        """Submit the job to end in so many seconds; return it with its answer, a promise or offers, and its result."""
        result = self._next_result()
        execution = self.client.submit(self._description(result), finish_by=f"+{in_s:.0f}s", confidence=CONFIDENCE)
        give_up_s = time.monotonic() + _ANSWER_S_MAX
        while execution.promise is None and execution.offers is None:
            if time.monotonic() > give_up_s:
                raise ZoeError(
                    f"{execution.id} was neither promised nor refused its deadline within {_ANSWER_S_MAX:g} s"
                )
            time.sleep(_LOOK_S)
            execution = self.client.execution(execution.id)
        return execution, result

    def accept(self, execution: ExecutionView, offer: int) -> ExecutionView:
        """Accept an offer."""
        return self.client.accept(execution.id, offer)

    def withdraw(self, execution: ExecutionView) -> None:
        """Cancel the execution, and wait until it has ended."""
        self.client.cancel(execution.id)
        until_it_ends(self.client, execution.id, lambda _: None)

    def follow_promised(self, execution: ExecutionView, result: str) -> RunOutcome:
        """Follow a promised run to its end."""
        assert execution.promise is not None
        terms = execution.promise.terms
        expected = self.expected_run(terms.elastic, terms.read_bytes_per_s)
        return self._outcome(execution.id, terms.elastic + 1, terms.read_bytes_per_s, expected, result)

    def clear(self) -> None:
        """Cancel executions of an earlier demo, and executions without a promise."""
        for state in (ExecutionState.QUEUED, ExecutionState.STARTING, ExecutionState.RUNNING):
            for execution in self.client.executions(states=[state]).executions:
                if execution.name == self.job.name or execution.name.endswith("neighbour"):
                    self.client.cancel(execution.id)

    def _description(self, result: str, essential: int = 1, rate: int | None = None) -> dict[str, Any]:
        return description(result, essential, rate, self.job)

    def _next_result(self) -> str:
        self._number += 1
        return f"result-{self._number}"

    def _outcome(
        self, execution_id: str, workers: int, rate: int | None, expected: ExpectedRun | None, result: str
    ) -> RunOutcome:
        execution = until_it_ends(self.client, execution_id, lambda _: None)
        if execution.state is not ExecutionState.SUCCEEDED:
            raise ZoeError(
                f"{execution_id} ended as {execution.state.value}: {execution.message}\n{self._output(execution)}"
            )
        took_s = execution.marks[Mark.ENDED] - execution.marks[Mark.PLACED]
        return RunOutcome(execution, workers, rate, expected, took_s, answer_is_right(self.data, result))

    def _output(self, execution: ExecutionView) -> str:
        driver = next(service for service in execution.services if service.component == "driver")
        data = self.client.logs(execution.id, driver.id, limit=1 << 20).data
        return base64.b64decode(data).decode(errors="replace")[-3000:]


def offers_of(execution: ExecutionView) -> OffersView | None:
    """Return the offers of an execution that did not get the requested promise."""
    return execution.offers if execution.promise is None else None


def most_workers_used(outcome: RunOutcome) -> int:
    """Return its number of workers, lent ones included."""
    return min(
        sum(
            service.component.endswith("worker") and service.ready_at_s is not None
            for service in outcome.execution.services
        ),
        WORKERS_MOST,
    )
