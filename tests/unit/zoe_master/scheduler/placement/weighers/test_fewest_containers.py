import numpy as np

from tests.support.scheduling import component, ledger, node, queued, request, started
from zoe_master.scheduler.placement.weighers.fewest_containers import fewest_containers


def test_a_node_with_fewer_services_scores_higher() -> None:
    book = ledger(node("a"), node("b"), active=(started(queued("x", component()), "a"),))
    scores = fewest_containers(request(component()), np.array([0, 1]), book)
    assert scores[1] > scores[0]
    assert 0 <= scores.min() <= scores.max() <= 1
