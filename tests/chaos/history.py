"""Rules for a history, whatever was killed or paused. This module knows the journal's kinds, and nothing of Zoe's code.

A history is the journal, the components' own records, the answers to clients, and the leftovers at the end.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

TERMINAL = ("ended", "refused")
OVER = ("service_ended", "service_lost")
# Of a cluster that has room for all, with a master that may have to be replaced a few times.
STARTS_WITHIN_S = 60.0
# For executions that need the object store: a master, a controller and a proxy have to be up at the same time.
STARTS_WITH_STORE_WITHIN_S = 180.0
# A component writes its line before its process ends, and the clock of a shell is as fine as this.
CLOCK_S = 0.5
USE_S = 0.01


@dataclass(frozen=True)
class Entry:
    """A row of the journal. `data` is its JSON, `at_s` the time by the clock of the program that wrote it.

    `stored_s`: when it was written, by the clock of the database, which is right; without it `at_s` is.
    """

    id: int
    execution_id: str
    version: int
    kind: str
    at_s: float
    data: Mapping[str, object] = field(default_factory=dict)
    stored_s: float | None = None

    @property
    def real_s(self) -> float:
        """Return when it happened, whatever the clock of the program says."""
        return self.at_s if self.stored_s is None else self.stored_s


@dataclass(frozen=True)
class Line:
    """What a component wrote about itself: `start` at its first command, `end` at its last."""

    service_id: str
    word: str
    at_s: float


@dataclass(frozen=True)
class History:
    """Everything that is known when all is at rest. `essential`: by component, how many must be ready to run.

    `awaited`: kinds of entries that must stand in each attempt before it starts anything. `defects`: answers of the API
    and ends of programs that no fault excuses.
    """

    entries: Sequence[Entry]
    lines: Sequence[Line] | None
    acknowledged: frozenset[str]
    essential: Mapping[str, Mapping[str, int]]
    cores: Mapping[str, float]
    streamed: Sequence[int]
    core_s: float
    left: Sequence[str] = ()
    awaited: Mapping[str, frozenset[str]] = field(default_factory=dict)
    defects: Sequence[str] = ()

    def by_execution(self) -> dict[str, list[Entry]]:
        """Return the entries of each execution, in the order of the journal."""
        found: dict[str, list[Entry]] = defaultdict(list)
        for entry in self.entries:
            found[entry.execution_id].append(entry)
        return found


def violations(history: History) -> list[str]:
    """Return every rule that is broken, with what breaks it; empty when all hold."""
    return [f"{rule.__name__}: {text}" for rule in RULES for text in rule(history)]


def nothing_is_lost(history: History) -> Iterator[str]:
    """Each acknowledged submission is in the journal, and ends exactly once, as its last entry."""
    journals = history.by_execution()
    for execution_id in sorted(history.acknowledged - journals.keys()):
        yield f"{execution_id} was acknowledged and is not in the journal"
    for execution_id, entries in journals.items():
        ends = [entry.kind for entry in entries if entry.kind in TERMINAL]
        if len(ends) != 1:
            yield f"{execution_id} ended {len(ends)} times"
        elif entries[-1].kind not in TERMINAL:
            yield f"{execution_id} went on after its end: {entries[-1].kind}"


def nothing_is_doubled(history: History) -> Iterator[str]:
    """Each execution was submitted once, and each service was started once and ended once."""
    for execution_id, entries in history.by_execution().items():
        if (submitted := sum(entry.kind == "submitted" for entry in entries)) != 1:
            yield f"{execution_id} was submitted {submitted} times"
        for kinds in (("service_starting",), ("service_started",), OVER):
            services = Counter(entry.data["service_id"] for entry in entries if entry.kind in kinds)
            yield from (f"{kinds[0]} of {name}: {count} times" for name, count in services.items() if count > 1)


def versions_are_whole(history: History) -> Iterator[str]:
    """The versions of an execution go up by one, in the order of ids."""
    for execution_id, entries in history.by_execution().items():
        versions = [entry.version for entry in entries]
        if versions != list(range(versions[0], versions[0] + len(versions))):
            yield f"{execution_id} has the versions {versions}"


def streams_are_whole(history: History) -> Iterator[str]:
    """A client that followed all events saw each once, in order."""
    ids = [entry.id for entry in history.entries]
    if list(history.streamed) != ids:
        missing, extra = set(ids) - set(history.streamed), Counter(history.streamed) - Counter(ids)
        yield f"missing {sorted(missing)[:5]}, doubled or unknown {sorted(extra)[:5]}, of {len(ids)}"


def programs_run_once(history: History) -> Iterator[str]:
    """No service's program starts twice, and none runs that the journal does not know as started."""
    starts = Counter(line.service_id for line in history.lines or () if line.word == "start")
    yield from (f"{name} ran {count} times" for name, count in starts.items() if count > 1)
    handed_over = {entry.data["service_id"] for entry in history.entries if entry.kind == "service_starting"}
    yield from (f"{name} ran and was never handed over" for name in sorted(starts.keys() - handed_over))


def nothing_runs_after_its_end(history: History) -> Iterator[str]:
    """No program writes after the end of its execution."""
    ended = {entry.execution_id: entry.real_s for entry in history.entries if entry.kind in TERMINAL}
    for line in history.lines or ():
        end_s = ended.get(execution_of(line.service_id))
        if end_s is not None and line.at_s > end_s + CLOCK_S:
            yield f"{line.service_id} wrote {line.word!r} {line.at_s - end_s:.1f} s after the end"


def success_is_earned(history: History) -> Iterator[str]:
    """What succeeded has a program that came to its end."""
    if history.lines is None:
        return
    done = {execution_of(line.service_id) for line in history.lines if line.word == "end"}
    for entry in history.entries:
        succeeded = entry.kind == "stopping" and entry.data.get("outcome") == "succeeded"
        if succeeded and entry.execution_id not in done:
            yield f"{entry.execution_id} succeeded and no program of it came to its end"


def nothing_runs_with_less_than_its_core(history: History) -> Iterator[str]:
    """At `running` all essential services are ready."""
    for execution_id, entries in history.by_execution().items():
        ready: set[str] = set()
        for entry in entries:
            if entry.kind == "service_ready":
                ready.add(str(entry.data["service_id"]))
            elif entry.kind in OVER:
                ready.discard(str(entry.data["service_id"]))
            elif entry.kind == "running":
                yield from _lacking(execution_id, history.essential.get(execution_id, {}), ready)


def _lacking(execution_id: str, essential: Mapping[str, int], ready: set[str]) -> Iterator[str]:
    for component, count in essential.items():
        there = {int(name.split(".")[2]) for name in ready if name.split(".")[1] == component}
        if missing := set(range(count)) - there:
            yield f"{execution_id} runs without {component} {sorted(missing)}"


def nothing_starts_without_what_it_awaits(history: History) -> Iterator[str]:
    """Before an attempt starts anything, its bandwidth is guaranteed, and it is decided how its inputs are read."""
    for execution_id, entries in history.by_execution().items():
        there: set[str] = set()
        for entry in entries:
            if entry.kind == "start_planned":
                there.clear()
            elif entry.kind == "storage_withdrawn":
                there.discard("storage_granted")
            elif entry.kind == "service_starting":
                missing = history.awaited.get(execution_id, frozenset()) - there
                if missing and "started" not in there:
                    yield f"{entry.data['service_id']} started without {', '.join(sorted(missing))}"
                there.add("started")  # running executions continue without a guarantee
            there.add(entry.kind)


def programs_are_sound(history: History) -> Iterator[str]:
    """The API is away at times, and never answers with a defect; no program ends unless it is killed."""
    yield from history.defects


def use_adds_up(history: History) -> Iterator[str]:
    """The reported use is that of the journal: each service from its start to its end."""
    started: dict[str, float] = {}
    core_s = 0.0
    for entry in history.entries:
        name = str(entry.data.get("service_id", ""))
        if entry.kind == "service_started":
            started[name] = entry.at_s
        elif entry.kind in OVER and name in started:
            core_s += max(entry.at_s - started[name], 0.0) * history.cores[name.split(".")[1]]
    if abs(core_s - history.core_s) > USE_S * max(core_s, 1.0):
        yield f"{history.core_s:.3f} core seconds are reported, {core_s:.3f} are in the journal"


def it_makes_progress(history: History) -> Iterator[str]:
    """Executions that fit are started, or ended, within a bound."""
    for execution_id, entries in history.by_execution().items():
        bound_s = STARTS_WITH_STORE_WITHIN_S if history.awaited.get(execution_id) else STARTS_WITHIN_S
        since_s = entries[0].real_s
        for entry in entries:
            if entry.kind == "requeued":
                pause_s = max(float(str(entry.data.get("not_before_s", 0))) - entry.at_s, 0.0)
                since_s = entry.real_s + pause_s
            elif entry.kind == "start_planned" and entry.real_s - since_s > bound_s:
                yield f"{execution_id} waited {entry.real_s - since_s:.1f} s for its start"


def nothing_is_left(history: History) -> Iterator[str]:
    """At rest there are no processes, directories or control groups of services."""
    yield from history.left


def execution_of(service_id: str) -> str:
    """Return the execution's id, with which a service's begins."""
    return service_id.split(".", 1)[0]


Rule = Callable[[History], Iterator[str]]
RULES: tuple[Rule, ...] = (
    nothing_is_lost,
    nothing_is_doubled,
    versions_are_whole,
    streams_are_whole,
    programs_run_once,
    nothing_runs_after_its_end,
    success_is_earned,
    nothing_runs_with_less_than_its_core,
    nothing_starts_without_what_it_awaits,
    programs_are_sound,
    use_adds_up,
    it_makes_progress,
    nothing_is_left,
)
