from tests.support.scheduling import component, ledger, node, request
from zoe_master.scheduler.placement.filters.labels import labels

WANTS_SSD = component(labels=(("disk", "ssd"),))


def test_a_node_with_the_label_passes() -> None:
    one = node("n", labels={"disk": "ssd", "rack": "7"})
    assert labels(request(WANTS_SSD), one, ledger(one)) is None


def test_a_node_with_another_value_is_refused_by_name() -> None:
    one = node("n", labels={"disk": "hdd"})
    assert labels(request(WANTS_SSD), one, ledger(one)) == "label disk=ssd is missing"
