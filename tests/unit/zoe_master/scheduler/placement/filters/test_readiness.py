from tests.support.scheduling import component, ledger, node, request
from zoe_master.scheduler.placement.filters.readiness import readiness


def test_a_ready_node_passes() -> None:
    one = node("n")
    assert readiness(request(component()), one, ledger(one)) is None


def test_a_node_that_is_not_ready_is_refused_without_what_only_operators_may_see() -> None:
    one = node("n", ready=False, message="cannot reach its engine: host='10.1.2.3'")
    assert readiness(request(component()), one, ledger(one)) == "the node is not ready"
