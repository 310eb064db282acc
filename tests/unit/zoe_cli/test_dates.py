"""Dates and durations as people write them."""

from __future__ import annotations

import pytest
import typer

from zoe_cli.commands.words import dates
from zoe_cli.commands.words.dates import duration, requested_deadline, seconds, since
from zoe_client.words.times import read_deadline


def test_durations() -> None:
    assert [duration(text) for text in ("90m", "12h", "3d", "2w", "45")] == [5400, 43_200, 259_200, 1_209_600, 45]
    assert since("9" * 18 + "w") == 0.0


def test_options_take_durations_and_seconds() -> None:
    assert [seconds(text) for text in ("90m", "0.5", "45", "0")] == [5400, 0.5, 45, 0]
    for text in ("-1", "nan", "5q"):
        with pytest.raises(typer.BadParameter, match="is not a duration"):
            seconds(text)


@pytest.mark.parametrize("text", ["1000000d", "9" * 18 + "s", "9" * 40])
def test_one_that_is_too_long_is_called_so(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="longer than 36500 days"):
        duration(text)


@pytest.mark.parametrize("text", ["", "1y", "-1m", "1.5h", "\u0661m", "soon"])
def test_invalid_duration_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="is not a duration"):
        duration(text)


def test_a_question_names_the_moment_that_was_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The server gets the request a moment later, which may be the next second."""
    monkeypatch.setattr(dates, "now_s", lambda: 1_795_652_112.999)
    sent, moment = requested_deadline("+1h30m15s")
    assert sent == "+1h30m15s", "so that a request that is repeated is the same"
    assert f"deadline: {read_deadline(moment, 1_795_652_113.1).in_full}" in capsys.readouterr().err


def test_a_duration_of_which_less_is_allowed_says_how_much() -> None:
    assert duration("7d", 7 * 86_400) == 7 * 86_400
    with pytest.raises(typer.BadParameter, match="is longer than 7 days"):
        duration("400d", 7 * 86_400)
