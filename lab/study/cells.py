"""Cells of the study: every cell is one run, identified by its parameters."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lab.study.cell import StudyCell
from zoe_lib.domain.cluster.policy import DEFAULT_WEIGHERS, Policy

PARTS = ("orders", "backfill", "ageing", "overload", "storage")
# Work that arrives, over the cores of the cluster. With the first, nearly all are in demand; with the second, the cores
# of flexible applications have to wait too.
LOAD, OVERLOAD = 0.9, 2.0
# All but the published ones, which are compared on logs.
STUDIED_ORDERS = ("edf", "fair-share", "fifo", "hrrn", "las", "psbs", "size", "sjf", "srpt")
FAMILIES = ("rigid", "malleable", "flexible")
SIGMAS = (0.0, 0.5, 1.0, 2.0)
BACKFILLS = ("none", "easy", "easy-sjbf", "conservative")
AGEING_S = 36_000.0
AGEINGS_S = (0.0, 600.0, 3600.0, AGEING_S)
# Use of the store by the scheduler: none; by weigher; with rows and columns pushed down; with preferred or required
# bandwidth for some; all of these except the requirement.
STORAGE = ("oblivious", "headroom", "pushdown", "preferred", "required", "all")
_HEADROOM = ("headroom", "all")
# Above the weight that spreads containers: it must be able to change a choice.
_HEADROOM_WEIGHT = 2.0
_AGED = ("sjf", "size")
_NO_SIZES = ("fifo", "las", "edf", "fair-share")


@dataclass(frozen=True, slots=True, order=True)
class Cell(StudyCell):
    """One run. `family`: rigid, all or nothing; malleable, elastic services stay; flexible, cores preempt them.

    `storage` is `none` if nothing is read from a store.
    """

    order: str
    family: str
    backfill: str
    ageing_s: float
    sigma: float
    storage: str
    seed: int

    @property
    def policy(self) -> Policy:
        """Return the policy of the run, with the scheduler's defaults for the constant parameters."""
        headroom = {"storage_headroom": _HEADROOM_WEIGHT} if self.storage in _HEADROOM else {}
        return Policy(
            order=self.order,
            backfill=self.backfill,
            ageing_s=self.ageing_s,
            preemption="none" if self.family == "malleable" else "elastic",
            weighers={**DEFAULT_WEIGHERS, **headroom},
        )


def cells(seeds: int) -> Iterator[Cell]:
    """Yield all cells of the study, seed by seed, so that the completed ones are always paired."""
    for seed in range(seeds):
        yield from _orders(seed)
        yield from _backfills(seed)
        yield from _ageings(seed)
        yield from _overloads(seed)
        yield from _storage(seed)


def _orders(seed: int) -> Iterator[Cell]:
    """Yield each order in each family under wrong estimates. Without backfill some orders use no size: one sigma."""
    for order in STUDIED_ORDERS:
        for family in FAMILIES:
            for sigma in SIGMAS[:1] if order in _NO_SIZES else SIGMAS:
                yield Cell("orders", order, family, "none", AGEING_S, sigma, "none", seed)


def _backfills(seed: int) -> Iterator[Cell]:
    """Yield each rule of backfill, with estimates wrong by a factor of e: rigid, where waits are long."""
    for order in ("fifo", "hrrn", "sjf", "size"):
        for backfill in BACKFILLS:
            yield Cell("backfill", order, "rigid", backfill, AGEING_S, 1.0, "none", seed)


def _ageings(seed: int) -> Iterator[Cell]:
    """Yield slow ageing, faster ageing, and none, with the same errors."""
    for order in _AGED:
        for ageing_s in AGEINGS_S:
            yield Cell("ageing", order, "rigid", "none", ageing_s, 1.0, "none", seed)


def _overloads(seed: int) -> Iterator[Cell]:
    """Yield the flexible family with more work than the cluster can do, with the same errors."""
    for order in STUDIED_ORDERS:
        for backfill in ("none", "easy"):
            yield Cell("overload", order, "flexible", backfill, AGEING_S, 1.0, "none", seed)
    for order in _AGED:
        for ageing_s in AGEINGS_S[:-1]:
            yield Cell("overload", order, "flexible", "none", ageing_s, 1.0, "none", seed)


def _storage(seed: int) -> Iterator[Cell]:
    """Yield storage-aware and storage-oblivious cells, with the same order and backfill on both sides."""
    for storage in STORAGE:
        yield Cell("storage", "fifo", "flexible", "easy", AGEING_S, 0.5, storage, seed)
