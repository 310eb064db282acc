"""What a price list changes in the one that it replaces."""

from __future__ import annotations

from typing import Any

import pytest

from zoe_cli.commands.admin.prices import _with_same_begin, changed_prices
from zoe_client.wire import PriceListView

CORES, MEMORY = {"meter": "core_hours", "rate": "0.05"}, {"meter": "memory_gib_hours", "rate": "0.005"}
LIST: dict[str, Any] = {"currency": "EUR", "from": "2027-01-01", "zone": "Europe/Paris", "rates": [CORES, MEMORY]}


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({}, []),
        ({"from": "2027-01-01T00:00"}, []),
        ({"currency": "USD"}, ['currency: "EUR" -> "USD"']),
        ({"until": "2028-01-01"}, ['until: null -> "2028-01-01"']),
        ({"rates": [MEMORY, CORES]}, ["rates: the same rows in another order"]),
        (
            {"rates": [{**CORES, "rate": "0.06"}, MEMORY]},
            [
                '- rates: {"meter": "core_hours", "rate": "0.05"}',
                '+ rates: {"meter": "core_hours", "rate": "0.06"}',
            ],
        ),
    ],
)
def test_a_replacement_says_what_it_charges_otherwise(changes: dict[str, Any], lines: list[str]) -> None:
    assert list(changed_prices(LIST, {**LIST, **changes})) == lines


@pytest.mark.parametrize(
    ("begin", "found"),
    [("2027-01-01", True), ("2027-01-01T00:00", True), ("2026-12-31T23:00+00:00", True), ("2027-01-02", False)],
)
def test_a_list_is_replaced_by_one_of_the_same_moment(begin: str, found: bool) -> None:
    there = PriceListView(
        id=1, from_s=1798758000.0, holds=False, set_at_s=1.0, set_by="ada", replaced_at_s=None, document=LIST
    )
    assert (_with_same_begin([there], {**LIST, "from": begin}) is there) == found
