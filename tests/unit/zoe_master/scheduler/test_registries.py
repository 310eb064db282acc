"""A policy may name every registered plugin, and every filter and weigher has its mirrored test."""

from pathlib import Path

from zoe_lib.domain.cluster import policy
from zoe_lib.domain.cluster.policy import Policy, problems
from zoe_master.scheduler.ordering.orders import ORDERS
from zoe_master.scheduler.placement.filters import FILTERS, STATIC_FILTERS
from zoe_master.scheduler.placement.weighers import WEIGHERS

HERE = Path(__file__).parent / "placement"


def test_the_domain_knows_the_names_of_all_orders_filters_and_weighers() -> None:
    assert set(ORDERS) == policy.ORDERS
    assert set(FILTERS) == policy.FILTERS
    assert set(WEIGHERS) == policy.WEIGHERS
    assert set(FILTERS) >= STATIC_FILTERS


def test_every_filter_and_weigher_has_a_test_of_its_own() -> None:
    assert all((HERE / "filters" / f"test_{name}.py").exists() for name in FILTERS)
    assert all((HERE / "weighers" / f"test_{name}.py").exists() for name in WEIGHERS)


def test_the_default_policy_is_sound_and_others_are_told_what_is_wrong() -> None:
    assert problems(Policy()) == []
    wrong = problems(Policy(order="lifo", filters=("resources", "taste"), weighers={"mood": 1.0}))
    assert len(wrong) == 6
