"""What the master's own metrics say of its health."""

from __future__ import annotations

import pytest
from prometheus_client import generate_latest

from zoe_master.background import metrics
from zoe_master.healthcheck import problem_in


def told(lag_s: float) -> str:
    metrics.RECONCILE_LAG.set_function(lambda: lag_s)
    return generate_latest().decode()


@pytest.mark.parametrize("lag_s", [0.0, 0.00001, 29.9])
def test_a_loop_that_goes_on_is_healthy(lag_s: float) -> None:
    assert problem_in(told(lag_s), timer_s=5.0) is None


def test_a_loop_that_hangs_is_not() -> None:
    assert "no tick for 31 s" in (problem_in(told(31.0), timer_s=5.0) or "")


def test_a_master_that_waits_for_the_lead_is_healthy() -> None:
    metrics.stop_leading()
    assert problem_in(generate_latest().decode(), timer_s=5.0) is None


def test_a_stranger_on_the_port_is_not_the_master() -> None:
    assert problem_in("<html>", timer_s=5.0) is not None
