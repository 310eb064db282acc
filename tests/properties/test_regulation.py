"""The whole loop in simulated time: a proxy that paces and reports, a controller that shares, each at its own moments.

Every tenant moves as much as it may. After two seconds SLOs hold in each window, and other tenants use the rest; no
tenant is without a limit at any time.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from storage_bridge.bandwidth.assignment import Capacity, ClaimKey, TransferKind
from storage_bridge.bandwidth.meter import Meter, TransferProgress
from storage_bridge.bandwidth.regulator import RateRegulator, RateSettings
from storage_filters.counting.rate_table import RateTable
from tests.support.checks import of_checks

SEEDS = of_checks(1 / 125, 8)
MB = 10**6
PIECE = 64 * 1024
REPORT_S = EPOCH_S = LOOK_S = 0.25
BURST_S = 0.5
CLOCK_S = 1e-6
"""A clock goes on between any two looks."""
PROXY = "proxy"
NOBODY = "nobody"


class Loop:
    """One proxy. Streams end when their tenant stops, and begin when it starts."""

    def __init__(self, path: Path, chance: random.Random, capacity: int) -> None:
        self.now_s = 0.0
        self.slos: dict[str, int] = {}
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        self._order = itertools.count()
        self._table = RateTable(path, BURST_S)
        self._meter = Meter(PROXY)
        self._regulator = RateRegulator(Capacity(capacity, {PROXY: capacity}), RateSettings())
        self._active: set[str] = set()
        self._told: dict[str, int] = {}
        self._moved: Counter[tuple[str, int]] = Counter()
        self._report_s = 0.0
        self._chance = chance
        self._after(chance.uniform(0, REPORT_S), self._report)
        self._after(chance.uniform(0, EPOCH_S), self._share)

    def start(self, tenant: str, streams: int) -> None:
        self._active.add(tenant)
        for _ in range(streams):
            self._after(self._chance.uniform(0, 0.01), lambda: self._take(tenant))

    def stop(self, tenant: str) -> None:
        self._active.discard(tenant)

    def run(self, seconds: float) -> None:
        end_s = self.now_s + seconds
        while self._events and self._events[0][0] <= end_s:
            self.now_s, _, act = heapq.heappop(self._events)
            act()
        self.now_s = end_s

    def moved(self, tenant: str, from_s: float, to_s: float) -> float:
        """Bytes per second."""
        times = range(round(from_s * 100), round(to_s * 100))
        return sum(self._moved[tenant, time] for time in times) / (to_s - from_s)

    def close(self) -> None:
        self._table.close()

    def _after(self, seconds: float, act: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self.now_s + seconds, next(self._order), act))

    def _take(self, tenant: str) -> None:
        if tenant in self._active:
            turn = self._table.turn(tenant, "get", PIECE, self.now_s)
            assert turn.rate > 0 or not self._told, f"{tenant} has no limit at {self.now_s}"
            self._wait(tenant, turn.place, turn.wait_s)

    def _wait(self, tenant: str, place: int, left_s: float) -> None:
        """As the filter does: in short sleeps, after each of which another rate counts."""
        if left_s <= 0:
            self._moved[tenant, int(self.now_s * 100)] += PIECE
            self._after(0.001, lambda: self._take(tenant))
            return

        def look() -> None:
            self._wait(tenant, place, self._table.left_s(tenant, "get", place, self.now_s))

        self._after(max(min(left_s, LOOK_S), CLOCK_S), look)

    def _report(self) -> None:
        uses = {account: use for (account, _), use in self._table.uses_by_account(self.now_s).items()}
        amounts: dict[ClaimKey, int] = {
            (name, TransferKind.READ): use.total - self._told.get(name, 0)
            for name, use in uses.items()
            if use.waits or use.total > self._told.get(name, 0)
        }
        self._told = {name: use.total for name, use in uses.items()} or {NOBODY: 0}
        moved = TransferProgress(self.now_s - self._report_s, amounts)
        self._heard, self._report_s = self._meter.add(moved, self.now_s), self.now_s
        self._after(REPORT_S, self._report)

    def _share(self) -> None:
        if self._told:
            slos = {(tenant, TransferKind.READ): rate for tenant, rate in self.slos.items()}
            self._regulator.epoch(self.now_s, [self._heard], slos)
            limits = {**self._regulator.limits, **self._regulator.standing}
            others = {"get": float(self._regulator.newcomers[PROXY])}
            rates = {(tenant, "get"): float(rate) for ((tenant, _), _), rate in limits.items()}
            self._table.set_rates(rates, self.now_s, others)  # type: ignore[arg-type]
        self._after(EPOCH_S, self._share)


@pytest.fixture
def chance(request: pytest.FixtureRequest) -> random.Random:
    return random.Random(request.param)


@pytest.mark.parametrize("chance", range(SEEDS), indirect=True)
def test_within_two_seconds_slos_hold_and_what_is_left_is_used(chance: random.Random, tmp_path: Path) -> None:
    capacity = chance.randrange(20, 80) * MB
    loop = Loop(tmp_path / "rates", chance, capacity)
    shares = {"gold": chance.uniform(0.3, 0.5), "silver": chance.uniform(0.1, 0.3), "bronze": 0.0}

    def check(tenants: list[str], windows: int) -> None:
        for _ in range(windows):
            at_s = loop.now_s
            loop.run(1.0)
            got = {tenant: loop.moved(tenant, at_s, at_s + 1.0) for tenant in tenants}
            assert all(got[t] >= loop.slos.get(t, 0) for t in tenants), (at_s, got, loop.slos)
            assert 0.95 * capacity <= sum(got.values()) <= 1.05 * capacity, (at_s, got)

    loop.run(1.0)
    loop.slos = {tenant: int(share * capacity) for tenant, share in shares.items() if share}
    for tenant in shares:
        loop.start(tenant, chance.randrange(2, 10))
    loop.run(2.0)
    check(list(shares), 4)
    loop.slos = {"gold": loop.slos["silver"], "silver": loop.slos["gold"]}
    loop.run(2.0)
    check(list(shares), 3)
    loop.run(chance.random())
    loop.stop("silver")
    loop.run(2.0)
    check(["gold", "bronze"], 3)
    loop.close()


@pytest.mark.parametrize("chance", range(SEEDS), indirect=True)
def test_new_tenant_is_limited_from_the_first_byte(chance: random.Random, tmp_path: Path) -> None:
    """Every new tenant, promised or not, is limited from the first byte on, including a burst."""
    capacity = 40 * MB
    loop = Loop(tmp_path / "rates", chance, capacity)
    loop.slos = {"gold": 10 * MB}
    loop.run(1.0)
    loop.start("bronze", 4)
    loop.run(chance.uniform(3.0, 4.0))
    for tenant, most in (("gold", 10 * MB + capacity // 2), ("unknown", capacity // 2)):
        loop.start(tenant, 8)
        began_s = round(loop.now_s, 2)
        loop.run(1.0)
        assert loop.moved(tenant, began_s, began_s + 1.0) <= (1 + BURST_S) * most
        loop.run(2.0)
    assert loop.moved("gold", began_s + 2.0, began_s + 3.0) >= loop.slos["gold"]
    loop.close()


@pytest.mark.parametrize("chance", range(SEEDS), indirect=True)
def test_starved_tenant_has_its_share_again_within_two_seconds(chance: random.Random, tmp_path: Path) -> None:
    """Promises beyond the capacity leave others a floor, at which a piece takes a second; then they are taken back."""
    capacity = chance.randrange(20, 300) * MB
    loop = Loop(tmp_path / "rates", chance, capacity)
    loop.run(1.0)
    loop.slos = {"gold": capacity // 4, "silver": capacity // 2}
    for tenant in ("gold", "silver", "bronze"):
        loop.start(tenant, 10)
    loop.run(chance.uniform(3.0, 4.0))
    loop.slos = {"gold": 8 * capacity // 10, "silver": 6 * capacity // 10}
    loop.run(chance.uniform(2.0, 6.0))
    assert loop.moved("bronze", loop.now_s - 1.0, loop.now_s) < capacity / 50
    loop.slos = {"gold": capacity // 4, "silver": capacity // 2}
    loop.run(2.0)
    at_s = loop.now_s
    loop.run(2.0)
    assert loop.moved("bronze", at_s, at_s + 2.0) == pytest.approx(capacity / 12, rel=0.05)
    loop.stop("silver")
    loop.run(2.0)
    for _ in range(3):
        at_s = loop.now_s
        loop.run(1.0)
        got = {tenant: loop.moved(tenant, at_s, at_s + 1.0) for tenant in ("gold", "bronze")}
        assert 0.95 * capacity <= sum(got.values()) <= 1.05 * capacity, (at_s, got)
        assert got["bronze"] == pytest.approx(capacity * 3 / 8, rel=0.05)
    loop.close()
