"""`make demo-deadline`: one Spark job with three deadlines, each met by a promise with different workers and bandwidth,
and a fourth deadline that gets a counter-offer, which is accepted and met.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from rich.console import Console
from rich.table import Table

from storage_bridge.model import BandwidthSlo
from zoe_client import Client
from zoe_client.vocabulary import Mark
from zoe_client.wire import CredentialRequest, FinishTermsView
from zoe_embedded.demos.deadline_job import CONTAINER, MB, RATE, ROWS, dataset
from zoe_embedded.demos.deadline_runs import (
    CONFIDENCE,
    EXTREMES,
    LEARNING,
    DeadlineRuns,
    RunOutcome,
    choice_text,
    most_workers_used,
    offers_of,
)
from zoe_embedded.demos.deadline_world import held_cores, node, other_users, readers, set_prices, weigh
from zoe_embedded.demos.demo import prepare
from zoe_embedded.demos.given_settings import add_option
from zoe_embedded.demos.preparing import prepare_home
from zoe_embedded.demos.storage import FAILURES, upload
from zoe_embedded.home import Home
from zoe_embedded.processes.keeping import PATIENCE_S, PartsKeeper
from zoe_embedded.processes.signals import end_by_keyboard_interrupt
from zoe_embedded.runtimes.needs import MEMCACHED
from zoe_embedded.swift.configuration import StoreUser
from zoe_embedded.swift.site import SERVICE, Site, storage_site

DEADLINES = ("late", "middle", "tight")
_STEP = 1.05
_LATEST = 3.0
_SHORTEST_S = 5.0
_ROOMY = 1.2
"""Latest deadline, as a multiple of the earliest one of its choice."""
_TRIES = 3
_NEEDED = {"late": 1, "middle": 2, "tight": 1}
_CHOICES_LEAST = 2
_IMPOSSIBLE = 0.8
"""Impossible deadline, as a share of the shortest time in which the services of a run were ready, before any of them
computed.
"""


@dataclass(frozen=True, slots=True)
class DeadlineChoice:
    """The promise for deadlines from `first_s` to `last_s`, in seconds after the submission."""

    first_s: float
    last_s: float
    terms: FinishTermsView

    @property
    def key(self) -> tuple[int, int | None]:
        """Return the workers and the bandwidth of this choice."""
        return self.terms.elastic, self.terms.read_bytes_per_s

    @property
    def in_s(self) -> float:
        """Return a deadline of this choice, away from its edge, since the request comes a moment later."""
        return min(math.sqrt(self.first_s * self.last_s), self.first_s * _ROOMY)


@dataclass(frozen=True, slots=True)
class DeadlineStage:
    """Running parts: everything of Zoe, the store with its other readers, and the runs of the job; further: users of
    the store without readers so far.
    """

    site: Site
    client: Client
    runs: DeadlineRuns
    further: Sequence[StoreUser]


def main() -> int:
    """Run the demo; return 0 only if all promises were kept, by different choices, with the right answers."""
    parser = argparse.ArgumentParser(prog="demo-deadline", description=__doc__)
    parser.add_argument("--rows", type=int, default=ROWS, help=f"readings in the store [{ROWS}]")
    parser.add_argument("--short", action="store_true", help="learn from one run, and ask for one deadline of three")
    add_option(parser)
    arguments = parser.parse_args()
    console = Console(soft_wrap=True)
    end_by_keyboard_interrupt()
    began_s = time.monotonic()
    try:
        home, settings = prepare_home(arguments.settings, programs=[MEMCACHED])
        console.print("[bold]1[/bold] Start OpenStack Swift, PostgreSQL, master, API and storage controller")
        with stage(console, home, settings, arguments.rows) as running, held_cores(running.client):
            console.print(f"  ready after {time.monotonic() - began_s:.1f} s; other executions hold the free cores")
            learn(console, running.runs, 1 if arguments.short else len(LEARNING))
            kept = _promises(console, running.runs, DEADLINES[:1] if arguments.short else DEADLINES)
    except FAILURES as error:
        console.print(str(error), style="red", markup=False)
        return 1
    except KeyboardInterrupt:
        console.print("Interrupted; everything was stopped.")
        return 130
    console.print(f"Took {time.monotonic() - began_s:.1f} s in all.")
    return 0 if kept else 1


@contextmanager
def stage(
    console: Console, home: Home, settings: dict[str, object], rows: int, further: int = 0
) -> Iterator[DeadlineStage]:
    """Start everything, put the readings into the store, and let other users read from it; `further`: users who do
    not.
    """
    users = other_users(home.create(), 1 + further)
    with storage_site(home, BandwidthSlo(RATE, RATE), {**settings, "local_nodes": [node()]}, users) as site:
        console.print(f"  a store that delivers {RATE / MB:g} MB/s to all who read; data in {home.path}")
        weigh(home)
        data = dataset(site.stack, rows)
        prepare(console, data)
        upload(console, site, data.readings, CONTAINER)
        with (
            PartsKeeper(console, site.revive_all),
            readers(site, users[:1], ours=True),
            Client(site.stack.url, site.stack.token, patience_s=PATIENCE_S) as client,
        ):
            client.set_storage_credential(SERVICE, CredentialRequest(user=site.user.login, key=site.user.key))
            set_prices(client)
            runs = DeadlineRuns(client, data)
            runs.clear()
            yield DeadlineStage(site, client, runs, users[1:])


def learn(console: Console, runs: DeadlineRuns, most: int) -> list[RunOutcome]:
    """Run the job without a promise until Zoe has learned from so many runs."""
    known = min(runs.learned_runs(), most)
    console.print(f"[bold]2[/bold] Learn how long it takes: {most - known} runs ({known} are known)")
    found = [_learn_from_run(console, runs, workers, rate) for workers, rate in LEARNING[known:most]]
    runs.wait_until_learned(most)
    return found


def _learn_from_run(console: Console, runs: DeadlineRuns, workers: int, rate: int | None) -> RunOutcome:
    outcome = runs.run_unpromised(workers, rate)
    told = f", expected {outcome.expected.p50_s:.0f} s" if outcome.expected else ""
    console.print(f"  {choice_text(workers - 1, rate):<40} {outcome.took_s:5.1f} s{told}{_wrong(outcome)}")
    return outcome


def curve(runs: DeadlineRuns) -> list[DeadlineChoice]:
    """Return the possible promises for earlier and earlier deadlines, the latest first."""
    longest = runs.expected_run(0, None)
    in_s = _LATEST * (longest.p90_s if longest else 0.0)
    found: dict[tuple[int, int | None], DeadlineChoice] = {}
    before: DeadlineChoice | None = None
    while in_s > _SHORTEST_S and (terms := runs.promise_for(in_s)) is not None:
        one = DeadlineChoice(in_s, in_s, terms)
        before = replace(one, last_s=before.last_s) if before is not None and before.key == one.key else one
        found[one.key] = before
        in_s /= _STEP
    return sorted(found.values(), key=lambda choice: -choice.first_s)


def choice_for(name: str, choices: Sequence[DeadlineChoice], used: Collection[object]) -> DeadlineChoice | None:
    """Return an unused choice for the deadline of this name, or None. A middle choice leaves one for the tight
    deadline.
    """
    new = [choice for choice in choices if choice.key not in used]
    if len(new) < _NEEDED[name]:
        return None
    return new[{"late": 0, "middle": (len(new) - 1) // 2, "tight": len(new) - 1}[name]]


def three_of(choices: Sequence[DeadlineChoice]) -> dict[str, DeadlineChoice]:
    """Return a late, a middle and a tight one, by name; fewer if there are fewer choices."""
    found: dict[str, DeadlineChoice] = {}
    for name in DEADLINES:
        if (one := choice_for(name, choices, {earlier.key for earlier in found.values()})) is not None:
            found[name] = one
    return found


def _promises(console: Console, runs: DeadlineRuns, names: Sequence[str]) -> bool:
    console.print(f"[bold]3[/bold] What could be promised with {CONFIDENCE:.0%} confidence, by when it is needed")
    choices = curve(runs)
    if len(choices) < len(names):
        console.print(f"  choices: {len(choices)}; two more runs, since it may have changed what makes a difference")
        for workers, rate in EXTREMES:
            _learn_from_run(console, runs, workers, rate)
        runs.wait_until_learned(1)
        choices = curve(runs)
    for choice in reversed(choices):
        what = choice_text(*choice.key)
        console.print(f"  in {choice.first_s:4.0f} s or more: {what:<40} {choice.terms.price} {choice.terms.currency}")
    console.print("[bold]4[/bold] The same job with different deadlines, and one that is impossible")
    outcomes: dict[str, RunOutcome] = {}
    for name in names:
        used = {(outcome.workers - 1, outcome.read_bytes_per_s) for outcome in outcomes.values()}
        found = run_promised(console, runs, name, used)
        if found is not None:
            in_s, outcomes[name] = found
            tell(console, name, in_s, outcomes[name])
            runs.wait_until_learned(1)
    if len(outcomes) < min(_CHOICES_LEAST, len(names)):
        console.print("[red]There are too few choices.[/red]")
        return False
    ready_s = min(
        outcome.execution.marks[Mark.READY] - outcome.execution.marks[Mark.PLACED] for outcome in outcomes.values()
    )
    countered = counter(console, runs, ready_s * _IMPOSSIBLE)
    if countered is None:
        return False
    apart, asked = len({(outcome.workers, outcome.read_bytes_per_s) for outcome in outcomes.values()}), len(outcomes)
    outcomes["countered"] = countered
    return _verdict(console, outcomes, apart, asked)


def run_promised(
    console: Console, runs: DeadlineRuns, name: str, used: Collection[object]
) -> tuple[float, RunOutcome] | None:
    """Request a promise for a deadline with an unused choice, by the present offers, and follow the run; return its
    deadline in seconds and the run, None without one. Each run teaches the model, so the answer may differ from the
    printed one: then request again.
    """
    for _ in range(_TRIES):
        choices = curve(runs)
        one = choice_for(name, choices, used)
        if one is None:
            told = "; ".join(choice_text(*choice.key) for choice in choices)
            console.print(
                f"  [bold]{name}[/bold]: left out, since more workers or bandwidth make no difference on this machine "
                f"as loaded as it is: {told or 'nothing can be promised'}"
            )
            return None
        execution, result = runs.submit_with_deadline(one.in_s)
        terms = execution.promise.terms if execution.promise else None
        if terms is not None and (terms.elastic, terms.read_bytes_per_s) not in used:
            return one.in_s, runs.follow_promised(execution, result)
        offers = execution.offers
        answer = choice_text(terms.elastic, terms.read_bytes_per_s) if terms else offers.why if offers else "none"
        console.print(f"  {name}, in {one.in_s:.0f} s: asked again; the answer was: {answer}", markup=False)
        runs.withdraw(execution)
    return None


def counter(console: Console, runs: DeadlineRuns, in_s: float) -> RunOutcome | None:
    """Request an impossible deadline, accept the first offer, and follow it; None without an offer."""
    execution, result = runs.submit_with_deadline(in_s)
    offers = offers_of(execution)
    if offers is None or not offers.offers:
        console.print(f"[red]  impossible, in {in_s:.0f} s: it was not countered with offers.[/red]")
        runs.withdraw(execution)
        return None
    console.print(f"  impossible, in {in_s:.0f} s: {offers.why}.")
    for offer in offers.offers:
        what = choice_text(offer.terms.elastic, offer.terms.read_bytes_per_s)
        sure = f"{offer.terms.confidence:.0%} sure, {offer.terms.price} {offer.terms.currency}"
        ends_in_s = offer.terms.finish_s - time.time()
        console.print(f"    offer {offer.number} ({offer.kind.value}): in {ends_in_s:.0f} s, {what}, {sure}")
    accepted = runs.accept(execution, offers.offers[0].number)
    outcome = runs.follow_promised(accepted, result)
    tell(
        console,
        "accepted",
        outcome.promise.terms.finish_s - execution.submitted_at_s if outcome.promise else 0.0,
        outcome,
    )
    return outcome


def tell(console: Console, name: str, in_s: float, outcome: RunOutcome) -> None:
    """Print the requested deadline, the choice and the outcome."""
    assert outcome.promise is not None
    terms, lent = outcome.promise.terms, most_workers_used(outcome) - outcome.workers
    console.print(f"  [bold]{name}[/bold], in {in_s:.0f} s: {choice_text(terms.elastic, terms.read_bytes_per_s)}")
    expected = outcome.expected
    told = f"p50 {expected.p50_s:.0f} s, p90 {expected.p90_s:.0f} s by {expected.runs} runs" if expected else "unknown"
    also = f", with {lent} more workers lent" if lent > 0 else ""
    met = f"{-outcome.late_s:.0f} s early" if outcome.late_s <= 0 else f"[red]{outcome.late_s:.0f} s late[/red]"
    console.print(
        f"    {told}; it took {outcome.took_s:.1f} s{also}; {met}; {terms.price} {terms.currency}{_wrong(outcome)}"
    )
    if outcome.promise.notice is not None:
        console.print(f"    it was said to be at risk: {outcome.promise.notice.risk.value}")


def _wrong(outcome: RunOutcome) -> str:
    return "" if outcome.right else " [red](wrong answer)[/red]"


def _verdict(console: Console, outcomes: dict[str, RunOutcome], choices: int, deadlines: int) -> bool:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("  deadline", "workers", "bandwidth", "p50", "p90", "took", "price", "met"):
        table.add_column(column)
    for name, outcome in outcomes.items():
        expected, promise = outcome.expected, outcome.promise
        told = (f"{expected.p50_s:.0f} s", f"{expected.p90_s:.0f} s") if expected else ("-", "-")
        rate = f"{outcome.read_bytes_per_s / MB:g} MB/s" if outcome.read_bytes_per_s else "-"
        price = str(promise.terms.price) if promise else "-"
        kept = "yes" if outcome.late_s <= 0 else "no"
        table.add_row(f"  {name}", str(outcome.workers), rate, *told, f"{outcome.took_s:.1f} s", price, kept)
    console.print(table)
    met = all(outcome.late_s <= 0 for outcome in outcomes.values())
    right = all(outcome.right for outcome in outcomes.values())
    for holds, good, bad in (
        (met, f"All {len(outcomes)} promises were kept.", "A promise was broken."),
        (right, "The answers equal those computed without Spark.", "An answer differs from the one without Spark."),
        (choices == deadlines, f"Deadlines: {deadlines}, choices: {choices}.", "Two deadlines ended in one choice."),
    ):
        console.print(f"[green]{good}[/green]" if holds else f"[red]{bad}[/red]")
    return met and right and choices == deadlines


if __name__ == "__main__":
    sys.exit(main())
