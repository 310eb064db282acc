"""Cells of the study on placement by places: the weight of the weigher, with the machines as the store's hosts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from lab.study.cells import AGEING_S, LOAD, Cell
from zoe_lib.domain.cluster.policy import DEFAULT_WEIGHERS, Policy
from zoe_simulator.elastic_run import ElasticRun
from zoe_simulator.stores.hosted_store import spread
from zoe_simulator.stores.shared_store import StoreSize
from zoe_simulator.stores.store_use import StoreUse
from zoe_simulator.workload import arrivals, machines, rigid, with_errors, with_reading

PLACES_PART = "places"
WEIGHTS = (0.0, 0.005, 0.05, 0.5)
FACTOR, REPLICAS = 4, 3
"""Twenty machines, each with disks of the store; three copies of each object."""
_PATH = 80_000_000
_SIGMA = 0.5


@dataclass(frozen=True, order=True)
class PlacesCell(Cell):
    """One run; everything else as in a cell of the default order and backfill."""

    weight: float

    @property
    def policy(self) -> Policy:
        """Return the default policy with this weight of the weigher."""
        return Policy(weighers={**DEFAULT_WEIGHERS, "locality": self.weight})


def places_cells(seeds: int) -> Iterator[PlacesCell]:
    """Yield rigid and flexible applications, seed by seed."""
    defaults = Policy()
    for seed, family, weight in product(range(seeds), ("rigid", "flexible"), WEIGHTS):
        yield PlacesCell(
            PLACES_PART, defaults.order, family, defaults.backfill, AGEING_S, _SIGMA, PLACES_PART, seed, weight
        )


def run_of(cell: PlacesCell, applications: int) -> ElasticRun:
    """Return a run that has not started; `applications` is per five machines."""
    drawn = with_reading(
        with_errors(arrivals(cell.seed, applications * FACTOR, LOAD, FACTOR), cell.seed, cell.sigma), cell.seed
    )
    workload, nodes = rigid(drawn) if cell.family == "rigid" else drawn, machines(FACTOR)
    inputs = spread(workload, nodes, cell.seed, REPLICAS)
    use = StoreUse(StoreSize(_PATH * len(nodes), _PATH, 0), described=True, inputs=inputs)
    return ElasticRun(workload, nodes, cell.policy, use)


def places_figures(run: ElasticRun) -> dict[str, float]:
    """Return the share of reads over the network."""
    return {"network_share": run.network_bytes / run.read_bytes if run.read_bytes else 0.0}
