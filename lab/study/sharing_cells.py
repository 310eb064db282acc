"""Cells of the study on sharing: turns of tenants, and precedence of interactive executions, under overload."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from statistics import fmean

from lab.study.cells import AGEING_S, Cell
from zoe_lib.domain.cluster.policy import Policy
from zoe_simulator.elastic_run import FinishedApplication
from zoe_simulator.workload import Arrival

SHARING_PART = "sharing"
TENANCIES = ("none", "drf")
INTERACTIVE_SHARES = (0.0, 0.5)
# One tenant has half of all applications; a fifth of all are interactive.
_HEAVY, _HEAVY_SHARE, _INTERACTIVE_SHARE = "heavy", 0.5, 0.2


@dataclass(frozen=True, order=True)
class SharingCell(Cell):
    """One run where tenants share; everything else as in a cell without sharing."""

    tenants: str
    interactive_share: float

    @property
    def policy(self) -> Policy:
        """Return the policy of the cell, with its rules of sharing."""
        return replace(super().policy, tenants=self.tenants, interactive_share=self.interactive_share)


def sharing_cells(seeds: int) -> Iterator[SharingCell]:
    """Yield rigid and flexible applications under overload, so that the cores of both wait; seed by seed."""
    chosen = product(range(seeds), ("fifo", "size"), ("rigid", "flexible"), TENANCIES, INTERACTIVE_SHARES)
    for seed, order, family, tenants, share in chosen:
        yield SharingCell(SHARING_PART, order, family, "easy-sjbf", AGEING_S, 1.0, "none", seed, tenants, share)


def with_sharing(workload: Sequence[Arrival], seed: int) -> tuple[Arrival, ...]:
    """Return the same applications, half of them of one tenant and a fifth of them interactive."""
    chance = random.Random(f"sharing {seed}")
    result = []
    for arrival in workload:
        heavy, interactive = chance.random() < _HEAVY_SHARE, chance.random() < _INTERACTIVE_SHARE
        result.append(replace(arrival, tenant=_HEAVY if heavy else arrival.tenant, interactive=interactive))
    return tuple(result)


def sharing_figures(finished: Sequence[FinishedApplication]) -> dict[str, float]:
    """Return the figures of interactive applications, and of those of the other tenants."""
    interactive = [application for application in finished if application.arrival.interactive]
    others = [application for application in finished if application.arrival.tenant != _HEAVY]
    return {
        "interactive_wait_s": fmean(finished.wait_s for finished in interactive) if interactive else 0.0,
        "others_bounded_slowdown": fmean(other.bounded_slowdown for other in others) if others else 1.0,
    }
