from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.support.scheduling import component, ledger, node, queued, request, started
from zoe_lib.domain.policy import Policy
from zoe_lib.domain.storage import StorageDemand
from zoe_master.scheduler.cycle import schedule
from zoe_master.scheduler.snapshot import Snapshot
from zoe_master.scheduler.weighers.storage_headroom import storage_headroom

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


def test_who_does_not_use_the_store_counts_for_nothing_and_is_not_moved() -> None:
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
