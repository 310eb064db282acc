"""What executions moved, counted by all workers of a proxy, for good."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from storage_filters.counting import counter_table
from storage_filters.counting.request_counters import CountedRequest, RequestCounters, request_name
from storage_filters.counting.transfer_counters import (
    StoreWait,
    TransferCount,
    TransferCounters,
    counters_file,
    name_of,
)
from storage_filters.execution_auth.names import ExecutionUser

ONE, OTHER = "x1/7", "x2/8"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return counters_file(tmp_path / "rates")


@pytest.fixture
def counters(path: Path) -> TransferCounters:
    return TransferCounters(path)


def amounts(counters: TransferCounters, name: str) -> list[int]:
    return counters.counts()[name].numbers()[1:]


def test_the_longest_name_of_a_credential_has_a_counter(counters: TransferCounters) -> None:
    name = name_of(ExecutionUser("a" * 256, "x" * 64, 2**63 - 1))
    counters.count(name, "get", 5, 1.0, 1.5)
    assert amounts(counters, name) == [5, 0, 500_000, 500_000]


def test_bytes_and_times_are_added_up_apart_for_each_credential(counters: TransferCounters) -> None:
    counters.count(ONE, "get", 100, 10.0, 10.5)
    counters.count(ONE, "put", 30, 12.0, 12.25)
    counters.count(OTHER, "get", 7, 10.0, 11.0)
    assert amounts(counters, ONE) == [100, 30, 750_000, 750_000], "the time between the pieces is not the store's"
    assert amounts(counters, OTHER) == [7, 0, 1_000_000, 1_000_000]


def test_requests_that_wait_at_the_same_time_transfer_once_and_wait_each(counters: TransferCounters) -> None:
    for _ in range(3):
        counters.count(ONE, "get", 10, 10.0, 11.0)
    counters.count(ONE, "get", 10, 10.5, 12.0)
    assert amounts(counters, ONE) == [40, 0, 2_000_000, 4_500_000]


def test_a_counter_outlives_its_process_and_is_shared(counters: TransferCounters, path: Path) -> None:
    counters.count(ONE, "get", 100, 10.0, 10.5)
    born = counters.counts()[ONE].born

    def elsewhere() -> None:
        others = TransferCounters(path)
        for _ in range(1000):
            others._table._places.clear()  # so that each looks for it while others write
            others.count(ONE, "get", 1, 10.0, 10.5)

    workers = [multiprocessing.get_context("fork").Process(target=elsewhere) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
        assert worker.exitcode == 0
    counters.close()
    assert TransferCounters(path).counts() == {ONE: TransferCount(born, 3100, 0, 500_000, 1_500_500_000)}


def test_a_clock_that_began_again_takes_nothing_away(counters: TransferCounters) -> None:
    counters.count(ONE, "get", 1, 10_000.0, 10_001.0)
    counters.count(ONE, "get", 1, 5.0, 6.0)
    counters.count(ONE, "get", 1, 6.0, 7.0)
    assert amounts(counters, ONE)[0] == 3
    assert 2_000_000 <= amounts(counters, ONE)[2] <= 3_000_000


def test_without_a_place_the_counter_that_was_used_longest_ago_begins_anew(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counter_table, "SLOTS", 8)
    counters = TransferCounters(path)
    for number in range(7):
        counters.count(f"x/{number}", "get", 10 + number, 0.0, 1.0 + number)
    first = counters.counts()
    assert len(first) == 7
    counters.count("y/1", "get", 5, 0.0, 20.0)
    assert set(counters.counts()) == {*(f"x/{number}" for number in range(1, 7)), "y/1"}
    counters.count("x/0", "get", 3, 0.0, 21.0)
    again = counters.counts()["x/0"]
    assert (again.read_bytes, again.born > first["x/0"].born) == (3, True)
    assert {name: again_.read_bytes for name, again_ in counters.counts().items()} == {
        "x/0": 3, "y/1": 5, "x/2": 12, "x/3": 13, "x/4": 14, "x/5": 15, "x/6": 16,
    }  # fmt: skip


def test_a_client_that_takes_its_time_does_not_make_the_store_slow(
    counters: TransferCounters, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    now_s = [100.0]
    monkeypatch.setattr("storage_filters.counting.transfer_counters.time.monotonic", lambda: now_s[0])
    request = CountedRequest((RequestCounters(tmp_path / "requests"), request_name("GET", "AUTH_acme", "meters")))
    wait, nobody = StoreWait(counters, ONE, request), StoreWait(counters, "", request)
    now_s[0] += 0.5
    wait.count_piece("get", 64)
    nobody.count_piece("get", 64)
    now_s[0] += 30  # the client computes
    wait.begin_wait()
    now_s[0] += 0.25
    wait.count_piece("get", 36)
    assert amounts(counters, ONE) == [100, 0, 750_000, 750_000]
    assert list(counters.counts()) == [ONE]
