from tests.support.scheduling import component, ledger, node, request
from zoe_master.scheduler.placement.filters.devices import devices

WANTS_TWO = component(devices={"gpu": 2})


def test_enough_free_devices_pass_and_an_exact_fit_is_a_fit() -> None:
    one = node("n", devices={"gpu": 2})
    assert devices(request(WANTS_TWO), one, ledger(one)) is None


def test_devices_that_are_taken_are_not_free() -> None:
    one = node("n", devices={"gpu": 3})
    book = ledger(one)
    book.take(0, WANTS_TWO.reservation)
    assert devices(request(WANTS_TWO), one, book) == "gpu: 2 needed, 1 free"
