"""The checker finds each kind of bug: each rule, by a bug planted in a sound history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.chaos.history import Entry, History, Line, violations

Bug = Callable[[History], History]


def journal(execution_id: str, first_id: int, at_s: float, *workers: int) -> list[Entry]:
    """Return the entries of an execution with a main component and essential workers, which succeeds."""
    services = [f"{execution_id}.main.0.1", *(f"{execution_id}.worker.{index}.1" for index in workers)]
    kinds: list[tuple[str, dict[str, object]]] = [("submitted", {}), ("queued", {}), ("start_planned", {})]
    for kind in ("service_starting", "service_started", "service_ready"):
        kinds += [(kind, {"service_id": name}) for name in services]
    kinds += [("running", {}), ("service_ended", {"service_id": services[0]}), ("stopping", {"outcome": "succeeded"})]
    kinds += [("service_ended", {"service_id": name}) for name in services[1:]]
    kinds += [("ended", {})]
    return [
        Entry(first_id + number, execution_id, number + 1, kind, at_s + number, data)
        for number, (kind, data) in enumerate(kinds)
    ]


def sound() -> History:
    """Return a history of two executions without a fault."""
    entries = [*journal("a", 1, 100.0), *journal("b", 101, 101.0, 0, 1)]
    use = {"main": 0.1, "worker": 0.05}
    starts = {e.data["service_id"]: e.at_s for e in entries if e.kind == "service_started"}
    ends = {e.data["service_id"]: e.at_s for e in entries if e.kind == "service_ended"}
    return History(
        entries=entries,
        lines=[
            *(Line(str(name), "start", at_s) for name, at_s in starts.items()),
            Line("a.main.0.1", "end", ends["a.main.0.1"] - 0.1),
            Line("b.main.0.1", "end", ends["b.main.0.1"] - 0.1),
        ],
        acknowledged=frozenset("ab"),
        essential={"a": {"main": 1}, "b": {"main": 1, "worker": 2}},
        cores=use,
        streamed=[entry.id for entry in entries],
        core_s=sum((ends[name] - starts[name]) * use[str(name).split(".")[1]] for name in starts),
    )


def without(kind: str, number: int = 0) -> Bug:
    """Drop an entry, and close the gap in versions and streams as a bug would that never wrote it."""

    def bug(history: History) -> History:
        gone = [entry for entry in history.entries if entry.kind == kind][number]
        entries = [
            replace(entry, version=entry.version - (entry.execution_id == gone.execution_id and entry.id > gone.id))
            for entry in history.entries
            if entry is not gone
        ]
        return replace(history, entries=entries, streamed=[entry.id for entry in entries])

    return bug


def more(kind: str, **data: object) -> Bug:
    """Append an entry to the first execution."""

    def bug(history: History) -> History:
        last = [entry for entry in history.entries if entry.execution_id == "a"][-1]
        extra = Entry(1000, "a", last.version + 1, kind, last.at_s + 1, data)
        return replace(history, entries=[*history.entries, extra], streamed=[*history.streamed, 1000])

    return bug


def line(service_id: str, word: str, after_s: float) -> Bug:
    return lambda history: replace(history, lines=[*history.lines, Line(service_id, word, 100.0 + after_s)])


def late_start(history: History) -> History:
    entries = [replace(e, at_s=e.at_s + (100 if e.version > 2 else 0)) for e in history.entries]
    return replace(history, entries=entries, lines=[replace(line, at_s=line.at_s + 100) for line in history.lines])


def late_with_the_store(history: History) -> History:
    """Every execution needs the store, which is allowed to make it wait for longer, and not for ever."""
    entries = [replace(e, at_s=e.at_s + (200 if e.version > 2 else 0)) for e in history.entries]
    lines = [replace(line, at_s=line.at_s + 200) for line in history.lines or ()]
    needs = dict.fromkeys(history.by_execution(), frozenset({"submitted"}))
    return replace(history, entries=entries, lines=lines, awaited=needs)


def withdrawn(history: History) -> History:
    """Plant a grant and its withdrawal before the first start of an execution that requires one."""
    entries = []
    for e in history.entries:
        if e.kind == "service_starting" and e.execution_id == "a":
            entries += [replace(e, kind="storage_granted"), replace(e, kind="storage_withdrawn")]
        entries.append(e)
    return replace(history, entries=entries, awaited={"a": frozenset({"storage_granted"})})


def ahead(history: History) -> History:
    """By the clock of the master, an hour ahead, the program ended in time."""
    entries = [replace(e, at_s=e.at_s + 3600, stored_s=e.at_s) for e in history.entries]
    late = Line("b.worker.0.1", "end", 600.0)
    return replace(history, entries=entries, lines=[*history.lines, late])


def stands(history: History) -> History:
    """By the clock of the master, an execution starts at once."""
    entries = [replace(e, stored_s=e.at_s + (100 if e.version > 2 else 0)) for e in history.entries]
    return replace(history, entries=entries)


def gap(history: History) -> History:
    entries = [replace(e, version=e.version + (e.execution_id == "a" and e.version > 3)) for e in history.entries]
    return replace(history, entries=entries)


PLANTED: dict[str, tuple[str, Bug]] = {
    "an acknowledged submission is lost": (
        "nothing_is_lost",
        lambda history: replace(history, acknowledged=history.acknowledged | {"c"}),
    ),
    "an end is never written": ("nothing_is_lost", without("ended")),
    "an end is written twice": ("nothing_is_lost", more("ended")),
    "a submission is written twice": ("nothing_is_doubled", more("submitted")),
    "a service is handed over twice": ("nothing_is_doubled", more("service_starting", service_id="a.main.0.1")),
    "a version is skipped": ("versions_are_whole", gap),
    "a stream misses an event": (
        "streams_are_whole",
        lambda history: replace(history, streamed=[number for number in history.streamed if number != 3]),
    ),
    "a stream repeats an event": (
        "streams_are_whole",
        lambda history: replace(history, streamed=[1, *history.streamed]),
    ),
    "a program runs twice": ("programs_run_once", line("a.main.0.1", "start", 5)),
    "a program runs unknown to the journal": ("programs_run_once", line("a.main.0.2", "start", 5)),
    "a program outlives its execution": ("nothing_runs_after_its_end", line("b.worker.0.1", "end", 500)),
    "a success without an end": (
        "success_is_earned",
        lambda history: replace(history, lines=[line for line in history.lines if line.word == "start"]),
    ),
    "an execution runs without a worker": ("nothing_runs_with_less_than_its_core", without("service_ready", 2)),
    "a start without its guarantee": (
        "nothing_starts_without_what_it_awaits",
        lambda history: replace(history, awaited={"a": frozenset({"storage_granted"})}),
    ),
    "a start after its guarantee was withdrawn": ("nothing_starts_without_what_it_awaits", withdrawn),
    "a program outlives its execution while clocks are wrong": ("nothing_runs_after_its_end", ahead),
    "an execution waits while its clock stands": ("it_makes_progress", stands),
    "an answer is a defect": ("programs_are_sound", lambda history: replace(history, defects=["internal"])),
    "use is lost": ("use_adds_up", lambda history: replace(history, core_s=history.core_s * 0.9)),
    "an execution waits though it fits": ("it_makes_progress", late_start),
    "an execution that needs the store waits for ever": ("it_makes_progress", late_with_the_store),
    "a process is left": ("nothing_is_left", lambda history: replace(history, left=["process 7"])),
}


def test_a_sound_history_has_no_violation() -> None:
    assert violations(sound()) == []


@pytest.mark.parametrize("bug", PLANTED)
def test_a_planted_bug_is_found_by_its_rule(bug: str) -> None:
    rule, plant = PLANTED[bug]
    found = violations(plant(sound()))
    assert rule in {text.partition(":")[0] for text in found}, found
