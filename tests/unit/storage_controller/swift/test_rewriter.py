"""The job's walk against a store in memory: where it continues, when it waits, and its counts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from storage_bridge.model import VIEW_PREFIX, RewriteOutcome
from storage_controller.answers import RequestRefusedError
from storage_controller.swift.objects import ListedEntry
from storage_controller.swift.rewrite_ledger import Counts, RewriteJob, Running
from storage_controller.swift.rewriter import LOOK_BYTES, PATIENCE_S, Rewriter
from storage_filters.rules.documents import RuleBook
from tests.support.manual_clock import ManualClock

RATE = 1_000_000
BYTES = 10_000
NAMES = st.text("abé", min_size=1, max_size=3)
STORES = st.dictionaries(NAMES, st.sets(NAMES, max_size=6), max_size=4)


@dataclass
class Jobs:
    """One job, as its ledger has it."""

    now: Running | None
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(Counts.__dataclass_fields__, 0))
    waits: str = ""
    sentence: str = ""
    done: bool = False
    clock: Callable[[], float] = lambda: 0.0
    waits_since_s: float | None = None
    cancel_after: int = 10**9

    def running(self) -> Running | None:
        return self.now

    def expect(self, number: int, objects: int) -> None:
        assert self.now is not None
        self.now = replace(self.now, id=number, expected=objects)

    def note(
        self, number: int, container: str, name: str, counts: Counts, waits: str = "", sentence: str | None = None
    ) -> bool:
        assert self.now is not None
        for count in self.counts:
            self.counts[count] += getattr(counts, count)
        if not waits or self.waits_since_s is None:
            self.waits_since_s = self.clock() if waits else None
        self.waits, self.sentence = waits, self.sentence if sentence is None else sentence
        self.now = replace(self.now, id=number, at_container=container, at_object=name)
        return self.counts["looked"] < self.cancel_after

    def give_up(self, number: int, patience_s: float) -> bool:
        late = self.waits_since_s is not None and self.waits_since_s <= self.clock() - patience_s
        if late and self.now is not None:
            assert number == self.now.id
            self.now = None
        return late

    def end(self, number: int) -> None:
        assert self.now is not None
        assert number == self.now.id
        self.done, self.now = True, None


@dataclass
class Objects:
    """A store that lists two names at a time. answers: what becomes of each object in turn. away: which calls fail."""

    held: Mapping[str, set[str]]
    answer: Callable[[str, str], Mapping[str, Any]]
    away: set[int] = field(default_factory=set)
    calls: int = 0
    asked: list[tuple[str, str]] = field(default_factory=list)

    def _call(self) -> None:
        self.calls += 1
        if self.calls in self.away:
            raise RequestRefusedError(503, "cannot reach Swift")

    def containers(self, _tenant: str, after: str) -> list[ListedEntry]:
        self._call()
        return [ListedEntry(name, len(self.held[name])) for name in sorted(self.held) if name > after][:2]

    def objects(self, _tenant: str, container: str, after: str) -> list[ListedEntry]:
        self._call()
        return [ListedEntry(name, BYTES) for name in sorted(self.held.get(container, ())) if name > after][:2]

    def count(self, _tenant: str, container: str) -> int:
        self._call()
        return len(self.held[container])

    def rewrite(self, _job: RewriteJob, container: str, listed: ListedEntry, book: str) -> Mapping[str, Any]:
        assert len(book) == 64
        self._call()
        self.asked.append((container, listed.name))
        return self.answer(container, listed.name)


def changed(_container: str, _name: str) -> Mapping[str, Any]:
    return {"outcome": "changed", "sentence": "", "bytes": BYTES}


class Site:
    """A job with its clock, which only waiting moves. closes_after: how often is waited before the controller ends."""

    def __init__(self, objects: Objects, container: str = "", closes_after: int = 10**9, dry_run: bool = False) -> None:
        self.objects = objects
        self.jobs = Jobs(Running(1, RewriteJob("acme", container, False, dry_run, RATE), "", "", 0))
        self.clock = ManualClock(0.0)
        self.jobs.clock = self.clock.now_s
        self._left = closes_after

    def _wait(self, seconds: float) -> bool:
        self.clock.advance(seconds)
        self._left -= 1
        return self._left < 0

    def go_on(self) -> None:
        """Continue as a restarted controller does."""
        made = Rewriter(self.jobs, RuleBook, self.objects, lambda: True, self.clock, self._wait)  # type: ignore[arg-type]
        made.go_on()


@given(STORES, st.sets(st.integers(1, 60), max_size=8), st.lists(st.integers(0, 5), max_size=4))
def test_it_reaches_all_objects_however_often_store_and_controller_end(
    held: Mapping[str, set[str]], away: set[int], closes: list[int]
) -> None:
    site = Site(Objects(held, changed, away))
    for waits in (*closes, *itertools.repeat(10**9, 80)):
        if site.jobs.done:
            break
        site._left = waits
        site.go_on()
    everything = {(container, name) for container, names in held.items() for name in names}
    assert site.jobs.done
    assert set(site.objects.asked) == everything
    # Noted at least when it ended or waited, so nothing is counted twice.
    assert (site.jobs.counts["looked"], site.jobs.counts["failed"]) == (len(everything), 0)
    assert (site.jobs.counts["changed"], site.jobs.waits) == (len(everything), "")


def test_it_moves_no_more_than_its_rate_and_a_look_counts() -> None:
    held = {"c": {f"{number:03}" for number in range(50)}}
    site = Site(Objects(held, lambda *_: {"outcome": "changed", "sentence": "", "bytes": 10**6}), "c")
    site.go_on()
    assert abs(site.clock.now_s() - 50 * 10**6 / RATE) < 0.001
    kept = Site(Objects(held, lambda *_: {"outcome": "kept", "sentence": "", "bytes": 10**6}), "c")
    kept.go_on()
    assert abs(kept.clock.now_s() - 50 * LOOK_BYTES / RATE) < 0.001
    dry = Site(Objects(held, lambda *_: {"outcome": "changed", "sentence": "", "bytes": 10**6}), "c", dry_run=True)
    dry.go_on()
    assert (dry.clock.now_s() < 5, dry.jobs.counts["changed_bytes"]) == (True, 50 * 10**6)


def test_a_store_that_is_away_is_waited_for_and_said() -> None:
    site = Site(Objects({"c": {"a", "b"}}, changed, away=set(range(4, 30))), "c")
    site.go_on()
    assert (site.jobs.waits, site.jobs.done, site.jobs.counts["failed"]) == ("cannot reach Swift", False, 0)
    site.objects.away.clear()
    site.go_on()
    assert (site.jobs.waits, site.jobs.done, site.jobs.counts["changed"]) == ("", True, 2)


def test_it_gives_up_a_store_that_stays_away_and_goes_on_when_it_is_resumed() -> None:
    site = Site(Objects({"c": {"a", "b"}}, changed, away=set(range(4, 9999))), "c")
    site.go_on()
    at = site.jobs.now
    site.clock.advance(PATIENCE_S - 10)
    site.go_on()
    assert (site.jobs.now is None, site.jobs.done) == (False, False)
    site.clock.advance(20)
    site.go_on()
    assert (site.jobs.now, site.jobs.done, site.jobs.waits) == (None, False, "cannot reach Swift")
    site.objects.away.clear()
    site.jobs.now, site.jobs.waits_since_s = at, None  # as a resumed job has it
    site.go_on()
    assert (site.jobs.done, site.jobs.counts["looked"]) == (True, 2)


def test_an_object_that_alone_fails_is_counted_and_passed() -> None:
    def answer(_container: str, name: str) -> Mapping[str, Any]:
        if name == "b":
            raise RequestRefusedError(503, "Swift answers 500 to the request to rewrite an object")
        return {"outcome": "failed", "sentence": "no key", "bytes": 1} if name == "a" else changed("", "")

    site = Site(Objects({"c": {"a", "b", "d"}}, answer), "c")
    site.go_on()
    assert site.jobs.done
    assert (site.jobs.counts["failed"], site.jobs.counts["changed"]) == (2, 1)
    assert site.jobs.sentence == "c/b: Swift answers 500 to the request to rewrite an object"


def test_a_proxy_with_other_rules_is_asked_again_and_not_for_ever() -> None:
    answers = iter([RewriteOutcome.LATER] * 5 + [RewriteOutcome.CHANGED])
    site = Site(Objects({"c": {"a"}}, lambda *_: {"outcome": next(answers), "bytes": 1}), "c")
    site.go_on()
    assert (site.jobs.done, site.jobs.counts["changed"], len(site.objects.asked)) == (True, 1, 6)
    never = Site(Objects({"c": {"a"}}, lambda *_: {"outcome": RewriteOutcome.LATER, "sentence": "other rules"}), "c")
    never.go_on()
    assert (never.jobs.done, never.jobs.waits) == (False, "a proxy is not ready: other rules")
    assert (never.jobs.counts["looked"], 50 < never.clock.now_s() < 100) == (0, True)


def test_views_are_left_alone_and_a_cancelled_job_ends() -> None:
    held = {f"{VIEW_PREFIX}x": {"a"}, "c": {f"{number:02}" for number in range(60)}}
    site = Site(Objects(held, changed))
    site.jobs.cancel_after = 20
    site.go_on()
    assert ({container for container, _ in site.objects.asked}, site.jobs.done) == ({"c"}, False)
    assert 20 <= len(site.objects.asked) < 40
