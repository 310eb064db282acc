"""Rates of readers with machines as hosts of the store: by local data, and the path for the rest."""

from __future__ import annotations

import pytest

from zoe_lib.domain.values.locality import InputObjects, Places
from zoe_lib.domain.values.resources import Resources
from zoe_simulator.progress import Progress
from zoe_simulator.stores.hosted_store import HostedStore, input_of, spread
from zoe_simulator.stores.shared_store import Reader
from zoe_simulator.workload import Arrival, arrivals, machines, with_reading

PATH = 60


def reader(number: int, demand: float, **components: int) -> Reader:
    """At full speed it reads so much."""
    arrival = Arrival(number, 0.0, 100.0, 100.0, 1, 4, Resources(1000), "t", 0.0)
    progress = Progress(arrival, read_bytes=demand * 100.0)
    progress.running = 4
    return Reader("t", progress, components)


def shares(*readers: tuple[Reader, dict[str, int]]) -> list[tuple[float, float]]:
    """Bandwidth and the part of it over the network, of inputs of 100 bytes with so many on each machine."""
    whole = InputObjects(1, 100)
    inputs = {
        input_of(reader.progress.arrival): Places(whole, whole, {n: InputObjects(1, b) for n, b in held.items()})
        for reader, held in readers
    }
    HostedStore(PATH, inputs).share([reader for reader, _ in readers])
    return [(reader.progress.bandwidth, reader.progress.remote_share) for reader, _ in readers]


def test_local_data_needs_no_path_and_the_rest_is_bounded_by_it() -> None:
    assert shares((reader(1, 80, a=4), {"a": 100})) == [(80, 0)]
    assert shares((reader(1, 80, a=4), {"b": 100})) == [(60, 1)]
    assert shares((reader(1, 100, a=4), {"a": 25})) == [(80, pytest.approx(0.75))]


def test_readers_of_one_machine_share_its_path_by_what_they_need_of_it() -> None:
    near, far = (reader(1, 80, a=4), {"a": 100}), (reader(2, 80, a=4), {"b": 100})
    assert shares(near, far) == [(80, 0), (60, 1)]
    assert shares((reader(1, 80, a=4), {}), (reader(2, 80, a=4), {"a": 50})) == [(30, 1), (60, pytest.approx(0.5))]


def test_components_on_two_machines_have_both_paths() -> None:
    assert shares((reader(1, 160, a=2, b=2), {"a": 100})) == [(140, pytest.approx(60 / 140))]


def test_every_object_is_on_as_many_machines_as_it_has_copies() -> None:
    workload, nodes = with_reading(arrivals(1, 50, 0.9), 1), machines(2)
    inputs = spread(workload, nodes, 1, 3)
    assert inputs == spread(workload, nodes, 1, 3)
    assert len(inputs) == sum(arrival.reading is not None for arrival in workload)
    for places in inputs.values():
        assert sum(held.objects for held in places.hosts.values()) == 3 * places.listed.objects
        assert max(held.objects for held in places.hosts.values()) <= places.listed.objects
    assert len({places.listed.objects for places in inputs.values()}) > 3
