"""The thread that removes expired views: its log, and that it continues."""

from __future__ import annotations

import logging
import threading
from contextlib import closing

import pytest

from storage_controller.answers import RequestRefusedError
from storage_controller.database.lead import STANDBY
from storage_controller.swift.sweeper import ViewSweeper


def swept_twice(error: Exception) -> None:
    """Until a sweep has come after the one that failed."""
    sweeps: list[None] = []
    again = threading.Event()

    def sweep() -> None:
        sweeps.append(None)
        if len(sweeps) > 1:
            again.set()
        raise error

    with closing(ViewSweeper(sweep, interval_s=0.01)) as sweeper:
        sweeper.begin()
        assert again.wait(60)


def test_a_lost_lead_is_no_error(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO):
        swept_twice(RequestRefusedError(503, STANDBY))
    assert caplog.records == []


def test_an_unexpected_error_is_logged_and_ends_nothing(caplog: pytest.LogCaptureFixture) -> None:
    swept_twice(ValueError("no"))
    assert "cannot remove expired views now" in caplog.messages
