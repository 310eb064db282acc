from tests.support.scheduling import component, ledger, node, request
from zoe_master.scheduler.filters.readiness import readiness


def test_a_ready_node_passes() -> None:
    one = node("n")
    assert readiness(request(component()), one, ledger(one)) is None


def test_a_node_that_is_not_ready_says_why() -> None:
    one = node("n", ready=False, message="drained by an admin")
    assert readiness(request(component()), one, ledger(one)) == "drained by an admin"
