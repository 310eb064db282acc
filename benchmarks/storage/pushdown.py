"""A warm Spark query through Stocator, plain and through a view: rows selected by the tenant's bandwidth, and by size.

Part of the time is the same for any size: listings, Spark's planning and scheduling. So the larger the data, the more a
view gains; one cell is also measured with more data. Object servers have a process for each core, which is Swift's
default.

The goal applies to the result for users: the storage bridge decides by a sample, as before a job, and if it refuses the
view, they read plainly. The view is measured in any case, and printed beside.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import time
from dataclasses import dataclass

from benchmarks.storage.spark_session import SparkSession, spark_session
from benchmarks.storage.table import Line
from storage_bridge.model import View, ViewVerdict
from storage_bridge.pushdown import verdict
from storage_controller.swift.views import SwiftAdmin, SwiftViews
from tests.support.access_log import bytes_out
from tests.support.object_store import Person, definition, logged_in
from tests.support.pusher import Pusher, pushed_store
from zoe_embedded.swift.store import ObjectStore

LOGIN, ACCOUNT, CONTAINER = "acme:ann", "AUTH_acme", "readings"
OBJECT_BYTES = 25 * 10**6
COLUMNS = ("id", "city", "pick", "kwh", *(f"c{number}" for number in range(8)))
SHARES = {1: "pick < 1", 10: "pick < 10", 100: ""}
AGGREGATES = ["count(*)", "round(sum(cast(kwh as double)), 3)"]
MORE_CAP, MORE_SHARE = 20.0, 1
"""The cell that is also measured with more data: MB/s and percent of rows."""
BOUND = 1.1
STUDENT_95 = {2: 6.314, 3: 2.920, 4: 2.353, 5: 2.132, 6: 2.015, 7: 1.943, 8: 1.895, 9: 1.860, 10: 1.833}
"""One-sided 95 % quantiles of Student's t with n - 1 degrees of freedom."""
SETTLE_S = 1.0


@dataclass(frozen=True)
class Run:
    """Seconds and bytes of one query."""

    took_s: float
    moved: int


def measure(options: argparse.Namespace) -> list[Line]:
    """Measure each cell: pairs of alternating runs; both ways give the same result."""
    with (
        pushed_store(object_workers=options.object_workers) as (store, pusher),
        logged_in(store, LOGIN) as person,
        spark_session(store, LOGIN) as spark,
    ):
        cells = _Cells(store, pusher, spark, options.runs, _dataset_directory(store, person, options.megabytes))
        lines = [line for cap in options.caps for share in SHARES for line in cells.measure(cap, share)]
        if options.more_megabytes:
            cells = _Cells(
                store, pusher, spark, options.runs, _dataset_directory(store, person, options.more_megabytes)
            )
            lines += cells.measure(MORE_CAP, MORE_SHARE)
        return lines


def _dataset_directory(store: ObjectStore, person: Person, megabytes: int) -> str:
    """Return the directory of this much data, with its views."""
    directory = f"data{megabytes}"
    _make_data(person, directory, megabytes * 10**6)
    with logged_in(store, "controller:controller", person.account_url) as admin:
        for share, where in SHARES.items():
            its = definition(CONTAINER, prefix=f"{directory}/", columns=["pick", "kwh"], where=where)
            admin.put(f"zoe-view-{directory}-{share}", **its)
    return directory


class _Cells:
    def __init__(self, store: ObjectStore, pusher: Pusher, spark: SparkSession, runs: int, directory: str) -> None:
        self._store = store
        self._pusher = pusher
        self._spark = spark
        self._runs = runs
        self._directory = directory
        self._warm: set[int] = set()
        admin = store.user("controller:controller")
        self._views = SwiftViews(SwiftAdmin(store.auth_url, admin.login, admin.key))

    def measure(self, cap: float, share: int) -> list[Line]:
        """Measure bytes, and times with the bound of their ratio; then the result for users."""
        if share not in self._warm:
            self._pair(share)
            self._warm.add(share)
        self._pusher.push(**({ACCOUNT: {"get": cap * 1e6}} if cap else {}))
        time.sleep(SETTLE_S)
        began_s = time.perf_counter()
        decided = self._decide(share)
        deciding_s = time.perf_counter() - began_s
        pairs = [self._pair(share) for _ in range(self._runs)]
        self._pusher.push()
        plain, view = (statistics.median(pair[side].took_s for pair in pairs) for side in (0, 1))
        moved = [pairs[0][side].moved / 1e6 for side in (0, 1)]
        bound = _upper_bound([pair[1].took_s / pair[0].took_s for pair in pairs])
        figure = (
            f"{moved[0]:.1f} -> {moved[1]:.2f} MB ({moved[0] / moved[1]:.0f} times fewer); "
            f"{plain:.2f} -> {view:.2f} s ({plain / view:.1f} times faster, ratio at most {bound:.2f})"
        )
        what = f"{f'{cap:g} MB/s' if cap else 'no cap'}, {share} % of rows of {moved[0]:.0f} MB"
        got = f"ratio at most {bound:.2f}" if decided.used else "ratio 1: it is the plain read"
        told = f"{decided.why} (decided in {deciding_s:.1f} s, before the job); {got}"
        return [
            Line(f"{what}, view", figure),
            Line(f"{what}, as users get it", told, f"ratio <= {BOUND}", not decided.used or bound <= BOUND),
        ]

    def _decide(self, share: int) -> ViewVerdict:
        """Decide as the bridge does."""
        source = f"swift2d://{CONTAINER}.zoe/{self._directory}"
        tenant, name = ACCOUNT.removeprefix("AUTH_"), f"{self._directory}-{share}"
        with logged_in(self._store, LOGIN) as person:
            view = View(name, tenant, source, ("pick", "kwh"), SHARES[share] or None, token=person.token)
        return verdict(self._views.sample(view, None))

    def _pair(self, share: int) -> tuple[Run, Run]:
        schema = ", ".join(f"{name} string" for name in COLUMNS)
        plain_where = SHARES[share].replace("pick", "cast(pick as int)")
        source, shown = f"{CONTAINER}.zoe/{self._directory}", f"zoe-view-{self._directory}-{share}"
        plain = self._run(f"swift2d://{source}", f"/{CONTAINER}/{self._directory}", schema, True, plain_where)
        view = self._run(f"swift2d://{shown}.zoe/data", f"/{shown}/", "pick string, kwh string")
        assert plain[0] == view[0], (plain[0], view[0])
        return plain[1], view[1]

    def _run(
        self, path: str, logged: str, schema: str, header: bool = False, where: str = ""
    ) -> tuple[list[object], Run]:
        before = len(self._store.log_of("proxy"))
        row, took_s = self._spark.ask(path, schema, header, where, AGGREGATES)
        return row, Run(took_s, bytes_out(self._store.log_of("proxy")[before:], logged))


def _upper_bound(ratios: list[float]) -> float:
    """Return the one-sided 95 % bound of the mean ratio, by logarithms."""
    if len(ratios) < 2:
        return ratios[0]
    logs = [math.log(ratio) for ratio in ratios]
    student = STUDENT_95.get(len(logs), 1.8)
    return math.exp(statistics.mean(logs) + student * statistics.stdev(logs) / math.sqrt(len(logs)))


def _make_data(person: Person, directory: str, total: int) -> None:
    person.put(CONTAINER)
    numbers = random.Random(1)
    filler = [os.urandom(4).hex() for _ in range(1000)]
    row = 0
    for number in range(max(total // OBJECT_BYTES, 1)):
        lines, size = [",".join(COLUMNS)], 0
        while size < OBJECT_BYTES:
            rest = ",".join(numbers.choices(filler, k=8))
            lines.append(f"{row},city{row % 50},{numbers.randrange(100)},{numbers.random() * 100:.3f},{rest}")
            size += len(lines[-1]) + 1
            row += 1
        person.put(f"{CONTAINER}/{directory}/{number}.csv", "\n".join(lines).encode() + b"\n")
