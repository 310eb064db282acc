"""Steady work with faults that kill no master and no API: `python -m tests.soak --minutes 30`.

With `--restores N` the database is lost and restored N times, at equal intervals. Then programs are judged between
restores, as they begin anew, and rows and disk over the whole run.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from tests.chaos.disk import enter_own_namespace
from tests.chaos.harness import Chaos
from tests.chaos.local_world import LocalWorld
from tests.chaos.storage_world import StorageWorld
from tests.soak.growth import OF_PROGRAMS, Series, Verdict, between, series_of, verdicts
from tests.soak.picture import draw
from tests.soak.sampling import Samples
from tests.support.postgres import PostgresServer, make_home, remove_leftovers

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "soak.svg"
_EVERY_S = 5.0
# What ends begins anew with fresh memory, and would hide a leak.
_SPARED = frozenset({"master killed", "API killed", "controller killed", "Swift proxy killed"})
_FAULT_EVERY_S = 6.0
# So short that tables reach their size within the first third.
_RETENTION_S = 180.0
# Clients submit at their own pace. On a busy machine the queue would grow with it, and hide what grows by a leak.
_UNENDED_MAX = 60


def main() -> int:
    """Print the medians of each series and draw them; return 1 if one grew or something was left."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4)), help="of the choices")
    parser.add_argument("--restores", type=int, default=0, help="of the database (without --storage)")
    parser.add_argument("--storage", action="store_true", help="with Swift and its controller (needs memcached)")
    parser.add_argument("--picture", type=Path, default=PICTURE, help="where to draw (default: %(default)s)")
    given = parser.parse_args()
    if given.restores and given.storage:
        parser.error("--restores needs a run without --storage: controllers would keep the database in use")
    tell = partial(print, flush=True)
    chosen = [f"--minutes={given.minutes}", f"--seed={given.seed}", f"--picture={given.picture}"]
    chosen += [f"--restores={given.restores}"]
    chosen += ["--storage"] if given.storage else []
    small_disk = enter_own_namespace([sys.executable, "-m", "tests.soak", *chosen])
    tell(f"seed {given.seed}")
    remove_leftovers()
    world = StorageWorld(small_disk) if given.storage else LocalWorld(small_disk)
    with ExitStack() as undo:
        home = make_home(large=True)
        undo.callback(shutil.rmtree, home)
        server = PostgresServer(home)
        server.start()
        undo.callback(server.stop)
        url = server.create_database()
        chaos = Chaos(
            server, url, given.seed, world, spared=_SPARED, unended_max=_UNENDED_MAX, retention_s=_RETENTION_S
        )
        undo.callback(chaos.close)
        samples = _work(chaos, url, 60 * given.minutes, given.restores)
        left = chaos.rest()
    for name, count in sorted(chaos.kills.items()):
        tell(f"{count:6} {name}")
    series = series_of(samples.points)
    draw(series, given.picture)
    found = list(_verdicts(series, samples.seconds_worked, given.restores))
    for verdict in found:
        tell(str(verdict))
    problems = [f"left: {what}" for what in left] + [f"defect: {what}" for what in chaos.defects]
    for problem in problems:
        tell(problem)
    grew = sum(verdict.grew for verdict in found)
    tell(f"minutes={given.minutes:g} submissions={chaos.submissions} grew={grew} problems={len(problems)}")
    return int(grew > 0 or bool(problems))


def _verdicts(series: Sequence[Series], seconds: float, restores: int) -> Iterator[Verdict]:
    part_s = seconds / (restores + 1)
    for number in range(restores + 1):
        of_programs = [entry for entry in series if entry.kind in OF_PROGRAMS]
        yield from verdicts(between(of_programs, number * part_s, (number + 1) * part_s), part_s)
    yield from verdicts([entry for entry in series if entry.kind not in OF_PROGRAMS], seconds)


def _work(chaos: Chaos, url: str, seconds: float, restores: int) -> Samples:
    samples = Samples(url)
    fault_s = sample_s = 0.0
    while (now_s := samples.seconds) < seconds:
        if now_s >= (chaos.restores + 1) * seconds / (restores + 1):
            chaos.restore()
        if now_s >= fault_s:
            chaos.strike()
            fault_s = now_s + _FAULT_EVERY_S
        if now_s >= sample_s:
            samples.take(chaos.programs(), chaos.installation.base)
            sample_s = now_s + _EVERY_S
        chaos.due()
        time.sleep(0.1)
    samples.seconds_worked = samples.seconds
    return samples


if __name__ == "__main__":
    sys.exit(main())
