"""Deadlines that the demo requests, and its report of a run."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from zoe_client.wire import FinishTermsView
from zoe_embedded.demos.deadline import DeadlineChoice, choice_for, curve, run_promised, three_of
from zoe_embedded.demos.deadline_job import JOB_CORES, PARTS, WORKERS_MOST, description
from zoe_embedded.demos.deadline_runs import LEARNING, ExpectedRun, choice_text
from zoe_embedded.demos.deadline_world import NODE_CORES
from zoe_lib.descriptions import parse
from zoe_lib.domain.cluster.policy import Policy


def terms(elastic: int, rate: int | None) -> FinishTermsView:
    return FinishTermsView(
        finish_s=0.0,
        confidence=0.9,
        elastic=elastic,
        read_bytes_per_s=rate,
        run_s=1.0,
        begin_by_s=0.0,
        price="1",
        currency="",
        runs=10,
        wide=False,
    )


@dataclass
class Promises:
    """In place of Zoe: the choice for an end in so many seconds."""

    least_s: dict[tuple[int, int | None], float]
    asked: list[float] = field(default_factory=list)

    def expected_run(self, elastic: int, rate: int | None) -> ExpectedRun:
        return ExpectedRun(60.0, 70.0, 10)

    def promise_for(self, in_s: float) -> FinishTermsView | None:
        self.asked.append(in_s)
        fitting = [key for key, least_s in self.least_s.items() if in_s >= least_s]
        return terms(*fitting[0]) if fitting else None


def test_the_curve_has_each_choice_with_its_earliest_end() -> None:
    found = curve(Promises({(0, None): 80.0, (0, 2): 60.0, (1, 2): 50.0, (2, 4): 40.0}))
    assert [choice.key for choice in found] == [(0, None), (0, 2), (1, 2), (2, 4)]
    for choice, least_s in zip(found, (80.0, 60.0, 50.0, 40.0), strict=True):
        assert least_s <= choice.first_s < 1.1 * least_s
        assert least_s <= choice.in_s <= min(choice.last_s, 1.3 * least_s)
    assert [three_of(found)[name].key for name in ("late", "middle", "tight")] == [(0, None), (1, 2), (2, 4)]


def test_looking_for_choices_comes_to_an_end() -> None:
    always = Promises({(0, None): 0.0})
    assert len(curve(always)) == 1
    assert len(always.asked) < 100
    assert curve(Promises({})) == []
    assert three_of([]) == {}


def test_two_choices_are_not_three_deadlines() -> None:
    two = [DeadlineChoice(2.0, 3.0, terms(0, None)), DeadlineChoice(1.0, 1.5, terms(1, 4))]
    assert three_of(two) == {"late": two[0], "tight": two[1]}
    assert three_of(two[:1]) == {"late": two[0]}


def test_a_choice_that_was_used_is_not_taken_again() -> None:
    three = [DeadlineChoice(4.0 - number, 4.0 - number, terms(number, 2)) for number in range(3)]
    assert choice_for("middle", three, {three[0].key}) == three[1]
    assert choice_for("middle", three, {three[0].key, three[1].key}) is None, "the last one is for the tight deadline"
    assert choice_for("tight", three, {three[0].key, three[2].key}) == three[1]
    assert choice_for("tight", three, {choice.key for choice in three}) is None


class Answering(Promises):
    """Its answer may differ from its earlier one."""

    def __init__(self, answers: list[tuple[int, int | None] | None]) -> None:
        super().__init__({(0, None): 80.0, (0, 2): 60.0, (1, 2): 50.0})
        self.answers, self.withdrew = answers, 0

    def asked_for(self, in_s: float) -> tuple[Any, str]:
        key = self.answers.pop(0)
        promise = None if key is None else SimpleNamespace(terms=terms(*key))
        offers = SimpleNamespace(why="too late", offers=[]) if key is None else None
        return SimpleNamespace(promise=promise, offers=offers), "result"


def runs_of(answering: Answering) -> Any:
    def withdrawn(_: Any) -> None:
        answering.withdrew += 1

    return SimpleNamespace(
        expected_run=answering.expected_run,
        promise_for=answering.promise_for,
        submit_with_deadline=answering.asked_for,
        follow_promised=lambda execution, _: execution.promise.terms,
        withdraw=withdrawn,
    )


def test_a_deadline_is_asked_again_when_the_answer_is_not_what_was_told() -> None:
    answering = Answering([None, (0, None), (0, 2)])
    found = run_promised(Console(quiet=True), runs_of(answering), "middle", {(0, None)})
    assert found is not None
    assert (found[1].elastic, found[1].read_bytes_per_s, answering.withdrew) == (0, 2, 2)  # type: ignore[attr-defined]
    never = Answering([None] * 9)
    assert run_promised(Console(quiet=True), runs_of(never), "late", set()) is None
    assert len(never.answers) == 6


@pytest.mark.parametrize(("workers", "rate"), LEARNING)
def test_its_descriptions_are_valid_and_give_what_they_say(workers: int, rate: int | None) -> None:
    application = parse(description("r", workers, rate))
    worker = next(component for component in application.components if component.name.endswith("worker"))
    assert (worker.essential_count, worker.total_count) == (workers, WORKERS_MOST)
    assert worker.reservation.cores_milli == worker.cores_limit_milli == 500
    assert PARTS % workers == 0


def test_promises_may_hold_the_whole_job() -> None:
    assert Policy().promise_share * NODE_CORES >= JOB_CORES


def test_choices_are_told_in_words() -> None:
    assert choice_text(0, None) == "1 worker, no bandwidth guaranteed"
    assert choice_text(2, 4_000_000) == "3 workers, 4 MB/s guaranteed"
