"""Repeat `make demo-deadline`: share of kept promises of a Spark job, and the effect of each lever.

`python -m benchmarks.deadline_demo [--rounds 5] [--levers N] [--minutes N] [--out FILE]`. Each round requests the three
deadlines of the demo: in its own surroundings, and with a noisy neighbour (an execution without a promise whose
services compute all the time, and two more readers of the store, one of them of the same tenant). Then, in the first N
rounds, the tight deadline's choice runs without a promise beside the same neighbour, without Zoe's levers: with the
same workers and bandwidth, but unpromised cores; without the bandwidth; with a single worker. The last two have no
promised cores either.

Errors compare the median run time (p50) with the measured one; coverage is the share of runs within p90, with its 95 %
interval (Wilson).
"""

from __future__ import annotations

import argparse
import csv
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import median

from rich.console import Console

from benchmarks.promise_tables import wilson
from benchmarks.support import machine
from zoe_client.vocabulary import Mark
from zoe_embedded.demos.deadline import DeadlineChoice, DeadlineStage, curve, learn, stage, three_of
from zoe_embedded.demos.deadline_job import ROWS
from zoe_embedded.demos.deadline_runs import LEARNING, RunOutcome, offers_of
from zoe_embedded.demos.deadline_world import held_cores, readers
from zoe_embedded.demos.preparing import prepare_home
from zoe_embedded.demos.storage import FAILURES
from zoe_embedded.runtimes.needs import MEMCACHED

QUIET, NOISY = "quiet", "noisy"
FURTHER = 1
_OTHERS = "readings-without"
"""Kind of runs without a promise beside a noisy neighbour, so that promises do not learn from them."""


@dataclass(frozen=True, slots=True)
class DemoRow:
    """One run; seconds. in_s: its deadline after its submission, 0 for none; took_s: from its placement."""

    number: int
    surroundings: str
    deadline: str
    in_s: float
    workers: int
    read_mb_per_s: float
    p50_s: float
    p90_s: float
    took_s: float
    ended_s: float
    met: bool
    right: bool
    at_risk: str = ""


def main() -> int:
    """Run the rounds, print and write the rows; return 1 if a run failed."""
    parser = argparse.ArgumentParser(prog="deadline_demo", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--levers", type=int, help="take the levers away in so many rounds, the first ones [all]")
    parser.add_argument("--minutes", type=float, default=600.0, help="begin no round after so many minutes [600]")
    parser.add_argument("--rows", type=int, default=ROWS, help=f"readings in the store [{ROWS}]")
    parser.add_argument("--out", type=Path, help="CSV file for all runs")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that everything is stopped then too
    console, rows = Console(soft_wrap=True), []
    print(machine())
    began_s = time.monotonic()
    try:
        home, settings = prepare_home(None, programs=[MEMCACHED])
        with stage(console, home, settings, arguments.rows, FURTHER) as running:
            levers = arguments.rounds if arguments.levers is None else arguments.levers
            for row in _all_rounds(console, running, arguments.rounds, levers, began_s + arguments.minutes * 60):
                rows.append(row)
                console.print(_text(row), markup=False)
                if arguments.out is not None:
                    write(rows, arguments.out)
    except FAILURES as error:
        console.print(str(error), style="red", markup=False)
        return 1
    finally:
        print(machine())
        _summary(rows)
    return 0


def _all_rounds(
    console: Console, running: DeadlineStage, rounds: int, levers: int, until_s: float
) -> Iterator[DemoRow]:
    with held_cores(running.client):
        for outcome in learn(console, running.runs, len(LEARNING)):
            if outcome.expected is not None:
                yield _row(0, "learning", "-", 0.0, outcome)
    for number in range(1, rounds + 1):
        if time.monotonic() > until_s:
            return
        with held_cores(running.client):
            choices = three_of(curve(running.runs))
            yield from _promised_runs(running, number, QUIET, choices)
        with _noise(running):
            yield from _promised_runs(running, number, NOISY, choices)
            if number <= levers:
                yield from _without_levers(running, number, choices)


@contextmanager
def _noise(running: DeadlineStage) -> Iterator[None]:
    with held_cores(running.client, busy=True), readers(running.site, running.further, ours=True):
        yield


def _promised_runs(
    running: DeadlineStage, number: int, surroundings: str, choices: dict[str, DeadlineChoice]
) -> Iterator[DemoRow]:
    for name, entry in choices.items():
        in_s = entry.in_s
        execution, result = running.runs.submit_with_deadline(in_s)
        if (offers := offers_of(execution)) is None:
            yield _row(number, surroundings, name, in_s, running.runs.follow_promised(execution, result))
        elif offers.offers:
            accepted = running.runs.accept(execution, 1)
            outcome = running.runs.follow_promised(accepted, result)
            promised_s = offers.offers[0].terms.finish_s - execution.submitted_at_s
            yield _row(number, surroundings, f"{name}, offer", promised_s, outcome)
        else:
            running.client.cancel(execution.id)


def _without_levers(running: DeadlineStage, number: int, choices: dict[str, DeadlineChoice]) -> Iterator[DemoRow]:
    if (tight := choices.get("tight")) is None:
        return
    workers, rate = tight.key[0] + 1, tight.key[1]
    for name, used, given in (
        ("no promised cores", workers, rate),
        ("no bandwidth", workers, None),
        ("one worker", 1, rate),
    ):
        yield _row(number, name, "tight", tight.in_s, running.runs.run_unpromised(used, given, _OTHERS))


def _row(number: int, surroundings: str, deadline: str, in_s: float, outcome: RunOutcome) -> DemoRow:
    execution, expected = outcome.execution, outcome.expected
    ended_s = execution.marks[Mark.ENDED] - execution.submitted_at_s
    notice = None if execution.promise is None else execution.promise.notice
    return DemoRow(
        number,
        surroundings,
        deadline,
        round(in_s, 1),
        outcome.workers,
        (outcome.read_bytes_per_s or 0) / 1e6,
        round(expected.p50_s, 1) if expected else 0.0,
        round(expected.p90_s, 1) if expected else 0.0,
        round(outcome.took_s, 1),
        round(ended_s, 1),
        in_s == 0 or ended_s <= in_s,
        outcome.right,
        "" if notice is None else notice.risk.value,
    )


def _text(row: DemoRow) -> str:
    met = "" if not row.in_s else ("met" if row.met else "MISSED")
    return (
        f"  {row.number} {row.surroundings:<18} {row.deadline:<14} in {row.in_s:5.0f} s: {row.workers} workers, "
        f"{row.read_mb_per_s:g} MB/s; p50 {row.p50_s:5.1f}, p90 {row.p90_s:5.1f}, took {row.took_s:5.1f}, "
        f"ended after {row.ended_s:5.1f} s {met}{'' if row.right else ' WRONG'} {row.at_risk}"
    )


def write(rows: Sequence[DemoRow], path: Path) -> None:
    """Write all rows as CSV."""
    with path.open("w", encoding="ascii", newline="") as file:
        table = csv.DictWriter(file, [field.name for field in fields(DemoRow)], lineterminator="\n")
        table.writeheader()
        table.writerows(asdict(row) for row in rows)


def _summary(rows: Sequence[DemoRow]) -> None:
    for surroundings in dict.fromkeys(row.surroundings for row in rows if row.in_s):
        for deadline in dict.fromkeys(row.deadline for row in rows if row.surroundings == surroundings):
            those = [row for row in rows if (row.surroundings, row.deadline) == (surroundings, deadline)]
            took = median(row.took_s for row in those)
            met = f"met {sum(row.met for row in those)} of {len(those)}"
            print(f"{surroundings:<18} {deadline:<14} {met}, took {took:.1f} s")
    for name, some in (
        ("all", rows),
        ("in the surroundings of learning", [row for row in rows if row.surroundings in ("learning", QUIET)]),
        ("promised", [row for row in rows if row.surroundings in (QUIET, NOISY)]),
    ):
        if some:
            print(f"{name}: {errors(some)}")


def errors(rows: Sequence[DemoRow]) -> str:
    """Return the median relative error of p50, and the coverage of p90."""
    wrong = [abs(row.p50_s - row.took_s) / row.took_s for row in rows]
    within = sum(row.took_s <= row.p90_s for row in rows)
    share, low, high = wilson(within, len(rows))
    return (
        f"median error of p50 {median(wrong):.1%} ({len(rows)} runs); within p90 {share:.1%} ({low:.1%} to {high:.1%})"
    )


if __name__ == "__main__":
    sys.exit(main())
