from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.scheduling import component, ledger, node, queued, request, started
from zoe_lib.domain.applications.path_use import PathUse
from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.values.storage import StorageDemand
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.ordering.snapshot import Snapshot
from zoe_master.scheduler.placement.free_resources import Ledger
from zoe_master.scheduler.placement.weighers.storage_headroom import storage_headroom

USES = StorageDemand()


def path(name: str, rate: str, **more: object) -> object:
    return node(name, labels={"storage_bytes_per_s": rate}, **more)


def test_the_score_is_what_one_more_user_of_the_store_would_get() -> None:
    user = started(queued("u", component(total_count=2, essential_count=2), storage=USES), "a", "a")
    book = ledger(path("a", "300"), path("b", "200"), node("c"), active=(user,))  # type: ignore[arg-type]
    asking = replace(request(component()), storage=USES)
    assert list(storage_headroom(asking, np.array([0, 1, 2]), book)) == pytest.approx([1 / 3, 2 / 3, 0.0])
    book.take(1, component().reservation)
    assert list(storage_headroom(asking, np.array([0, 1, 2]), book)) == pytest.approx([1 / 3, 1 / 3, 0.0])


def test_execution_without_the_store_does_not_count_and_is_not_moved() -> None:
    other = started(queued("o", component()), "a")
    book = ledger(path("a", "300"), path("b", "200"), active=(other,))  # type: ignore[arg-type]
    assert storage_headroom(replace(request(component()), storage=USES), np.array([0, 1]), book)[0] == 1.0
    assert not storage_headroom(request(component()), np.array([0, 1]), book).any()


@pytest.mark.parametrize("label", ["", "fast", "-3", "1.5e9"])
def test_a_label_that_is_no_number_tells_nothing(label: str) -> None:
    assert ledger(path("a", label)).paths is None  # type: ignore[arg-type]


def test_users_of_the_store_spread_over_its_paths_where_the_policy_says_so() -> None:
    nodes = (path("a", "100", memory_gib=64), path("b", "100"))
    user = started(queued("u", component(), storage=USES), "a")
    snapshot = Snapshot(10.0, nodes, (queued("e", component(), storage=USES),), (user,))  # type: ignore[arg-type]
    taken = {
        name: schedule(snapshot, Policy(weighers={name: 1.0})).starts["e"][0].node
        for name in ("free_memory", "storage_headroom")
    }
    assert taken == {"free_memory": "a", "storage_headroom": "b"}


def test_measured_use_decides_on_the_headroom() -> None:
    """One reads less than it could; foreign traffic counts, too."""
    idle = started(queued("i", component(), storage=USES), "a")
    paths = {"a": PathUse(0, 100), "b": PathUse(75, 100), "c": PathUse(100, 100)}
    book = Ledger((node("a"), node("b"), node("c"), node("d")), (idle,), paths=paths)
    asking = replace(request(component()), storage=USES)
    assert list(storage_headroom(asking, np.array([0, 1, 2, 3]), book)) == [1.0, 0.5, 0.5, 0.0]
    three = component(total_count=3, essential_count=3)
    users = [started(queued(f"u{n}", three, storage=USES), n, n, n) for n in ("b", "c")]
    book = Ledger((node("a"), node("b"), node("c"), node("d")), (idle, *users), paths=paths)
    assert list(storage_headroom(asking, np.array([0, 1, 2, 3]), book)) == [1.0, 0.25, 0.25, 0.0]
    book.take(0, component().reservation)
    assert storage_headroom(asking, np.array([0]), book)[0] == 0.5


def test_readers_go_where_others_do_not_read_now() -> None:
    nodes = (node("a", memory_gib=64), node("b"))
    snapshot = Snapshot(10.0, nodes, (queued("e", component(), storage=USES),))
    busy = replace(snapshot, paths={"a": PathUse(90, 100), "b": PathUse(10, 100)})
    policy = Policy(weighers={"free_memory": 1e-4, "storage_headroom": 1.0})
    assert [schedule(entry, policy).starts["e"][0].node for entry in (snapshot, busy)] == ["a", "b"]
