"""Decisions of the scheduler, as digests that refactorings must not change.

A change of behaviour records them anew, and its commit says why: `python -m tests.support.same_as_before`, with
ZOE_TEST_DATA set.
"""

from __future__ import annotations

import hashlib
import json
import logging
import random
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import structlog

from lab.study.cells import cells
from lab.study.one_run import run_cell
from lab.study.sharing_cells import sharing_cells
from tests.simulation.test_faults import POLICIES, a_run
from tests.support.snapshots import random_snapshot, varied
from zoe_lib.domain.executions.events import Placement
from zoe_lib.store.values import JournalEntry
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Plan
from zoe_master.state.state_cache import CHANGES_PER_SET
from zoe_simulator.jobs import Run

FILE = Path(__file__).resolve().parent.parent / "simulation" / "same_as_before.json"
SNAPSHOTS = 500
APPLICATIONS = 60
# Of the cells of one seed, every so manieth; they are of all parts.
STUDY_STEP = 11
JOURNAL_MAX = 100_000
# Texts for people may improve.
_WORDS = frozenset({"sentence", "hint", "message"})
_NOTHING: tuple[Any, ...] = (None, False, "", [], (), {})
Digests = dict[str, str]


def plans() -> Digests:
    """Return the plans of 500 random snapshots, each with a random policy."""
    found = {}
    for seed in range(SNAPSHOTS):
        chance = random.Random(seed)
        found[f"snapshot {seed}"] = digest(_plan(schedule(*varied(*random_snapshot(chance), chance))))
    return found


def journals() -> Digests:
    """Return the journals of a run with faults for several policies, with changes in sets like a master's."""
    return {f"run {seed}": _journal(seed) for seed in range(len(POLICIES))}


def _journal(seed: int) -> str:
    run = a_run(seed)
    run.changes_per_set = CHANGES_PER_SET
    run.run()
    entries = run.store.another().journal(0, JOURNAL_MAX)
    # A policy may get a new field.
    return digest([_entry(entry) for entry in entries if entry.kind != "policy_set"])


def study() -> Digests:
    """Return rows of the scheduling study."""
    some = [*cells(1), *sharing_cells(1)][::STUDY_STEP]
    rows = (_without_seconds(run_cell(cell, APPLICATIONS)) for cell in some)
    return {f"{number} ({cell.part})": digest(row) for number, (cell, row) in enumerate(zip(some, rows, strict=True))}


def starts(runs: Iterable[Run]) -> str:
    """Return when the jobs of a log began and ended."""
    return digest(sorted((run.job.id, round(run.start_s, 3), round(run.end_s, 3)) for run in runs))


RECORDED: Mapping[str, Callable[[], Digests]] = {
    "plans": plans,
    "journals": journals,
    "study": study,
}


def recorded(kind: str) -> Digests:
    """Return the recorded values of this kind."""
    kept: Digests = json.loads(FILE.read_text())[kind]
    return kept


def digest(value: Any) -> str:
    """Return a short text, equal for equal JSON."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:12]


def _plan(plan: Plan) -> Any:
    return {
        "starts": _places(plan.starts),
        "elastic": _places(plan.elastic),
        "reserved": _places(plan.reserved),
        "preempt": {execution: sorted(services) for execution, services in plan.preempt.items()},
        "reasons": {execution: [reason.code, dict(reason.counts)] for execution, reason in plan.reasons.items()},
    }


def _places(of: Mapping[str, Iterable[Placement]]) -> Any:
    return {execution: sorted((place.service_id, place.node) for place in places) for execution, places in of.items()}


def _entry(entry: JournalEntry) -> Any:
    return [entry.kind, round(entry.at_s, 3), entry.execution_id, entry.tenant, entry.version, _wordless(entry.data)]


def _wordless(value: Any) -> Any:
    """Remove texts for people, and empty or false values, such as a new field without effect."""
    if isinstance(value, Mapping):
        return {key: _wordless(item) for key, item in value.items() if key not in _WORDS and item not in _NOTHING}
    return [_wordless(item) for item in value] if isinstance(value, list | tuple) else value


def _without_seconds(figures: Mapping[str, Any]) -> Any:
    return {name: figure for name, figure in figures.items() if name != "cpu_s"}


if __name__ == "__main__":
    from tests.traces.test_default_policy import starts_of_logs  # it compares them with the values stored here

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    made = {kind: make() for kind, make in {**RECORDED, "starts": starts_of_logs}.items()}
    FILE.write_text(json.dumps(made, indent=1) + "\n")
