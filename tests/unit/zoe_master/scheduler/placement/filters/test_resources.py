from tests.support.scheduling import component, ledger, node, queued, request, started
from zoe_lib.domain.values.resources import Resources
from zoe_master.scheduler.placement.filters.resources import resources


def test_an_exact_fit_is_a_fit() -> None:
    one = node("n", cores=2, memory_gib=4)
    assert resources(request(component(cores=2, memory_gib=4)), one, ledger(one)) is None


def test_reserved_resources_are_not_free() -> None:
    one = node("n", cores=4)
    running = started(queued("a", component(cores=3)), "n")
    found = resources(request(component(cores=2)), one, ledger(one, active=(running,)))
    assert found == "cores: 2 needed, 1 free"


def test_resources_of_foreign_programs_are_not_free() -> None:
    one = node("n", memory_gib=8, foreign=Resources(0, 6 * 2**30))
    found = resources(request(component(memory_gib=4)), one, ledger(one))
    assert found == "memory: 4 GiB needed, 2 GiB free; other programs use 6 GiB"
    one = node("n", cores=8, foreign=Resources(5_000))
    found = resources(request(component(cores=4)), one, ledger(one))
    assert found == "cores: 4 needed, 3 free; other programs use 5"
