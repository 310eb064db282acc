from __future__ import annotations

import pytest

from storage_bridge.bandwidth.assignment import TransferKind
from storage_bridge.bandwidth.meter import Meter, TransferProgress
from storage_bridge.bandwidth.regulator import Transfers

X, Y = ("x", TransferKind.READ), ("y", TransferKind.WRITE)


def rates(
    meter: Meter, *told: dict[tuple[str, TransferKind], int]
) -> list[dict[tuple[str, TransferKind], float | None]]:
    reports = [meter.add(TransferProgress(0.25, amounts), number * 0.25) for number, amounts in enumerate(told)]
    return [{(transfer.tenant, transfer.traffic): transfer.rate for transfer in report.transfers} for report in reports]


def test_rates_are_means_of_a_second_counted_from_the_first_bytes() -> None:
    told = rates(Meter("n"), {X: 100}, {X: 50, Y: 25}, {X: 100}, {X: 100}, {X: 100}, {X: 100})
    assert [found[X] for found in told] == pytest.approx([400, 300, 1000 / 3, 350, 350, 400])
    assert told[1][Y] == pytest.approx(100)


def test_claimant_idle_for_three_quarters_of_a_second_has_ended() -> None:
    told = rates(Meter("n"), {X: 100}, {X: 100}, {}, {}, {}, {})
    assert [X in found for found in told] == [True, True, True, True, False, False]


def test_claimant_that_waits_for_its_turn_has_not_ended() -> None:
    told = rates(Meter("n"), {X: 100}, {X: 0}, {X: 0}, {X: 0}, {X: 0}, {}, {}, {})
    assert [found.get(X) for found in told] == [400, 200, pytest.approx(400 / 3), 100, 0, 0, 0, None]


def test_a_node_that_told_late_is_taken_by_its_own_seconds() -> None:
    report = Meter("n").add(TransferProgress(2.0, {X: 100}), 7.0)
    assert (report.at_s, report.transfers) == (7.0, (Transfers("x", "n", 50.0),))
