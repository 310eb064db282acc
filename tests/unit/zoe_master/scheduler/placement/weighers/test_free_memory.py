import numpy as np

from tests.support.scheduling import component, ledger, node, request
from zoe_master.scheduler.placement.weighers.free_memory import free_memory


def test_more_free_memory_scores_higher() -> None:
    book = ledger(node("a", memory_gib=8), node("b", memory_gib=16))
    scores = free_memory(request(component()), np.array([0, 1]), book)
    assert list(scores) == [0.5, 1.0]


def test_a_cluster_without_memory_does_not_divide_by_zero() -> None:
    book = ledger(node("a", memory_gib=0))
    assert list(free_memory(request(component()), np.array([0]), book)) == [0.0]
