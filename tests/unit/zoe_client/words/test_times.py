"""Times in users' notation, also on the days when clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zoe_client.words.times import BadTime, in_full, read_date, read_deadline, read_time, span_s, zone_of

NOW_S = datetime(2026, 11, 25, 20, 0, tzinfo=UTC).timestamp()
# Zones whose clocks change by an hour, by half an hour, and in the other half of the year.
PARIS, LORD_HOWE, SANTIAGO = "Europe/Paris", "Australia/Lord_Howe", "America/Santiago"
ZONES = (PARIS, LORD_HOWE, SANTIAGO, "UTC", "Asia/Kathmandu")


def at(*parts: int) -> float:
    return datetime(*parts, tzinfo=UTC).timestamp()  # type: ignore[arg-type, misc]


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90m", 5400), ("+90m", 5400), ("+3h", 10_800), ("+1d2h", 93_600), ("600", 600), ("+1w1s", 604_801), ("+45s", 45)],
)
def test_durations_count_from_now(text: str, seconds: int) -> None:
    found = read_time(text, NOW_S)
    assert (found.at_s, found.after_s) == (NOW_S + seconds, seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "+",
        "soon",
        "25:00",
        "08:60",
        "+8x",
        "1h2d",
        "2h2h",
        "2026-13-01",
        "1969-12-31",
        "12000-01-01",
        "٣h",
        "08:00 Mars/Base",
        "08:00 ../etc/passwd",
        "+999999999w",
        "9" * 101,
        "2026-12-01T08:00+25:00",
        "08:00\nUTC x",
    ],
)
def test_invalid_time_is_refused(text: str) -> None:
    with pytest.raises(BadTime):
        read_time(text, NOW_S, UTC)


@pytest.mark.parametrize(
    ("text", "wanted_s"),
    [
        ("08:00 Europe/Paris", at(2026, 11, 26, 7)),
        ("21:30 Europe/Paris", at(2026, 11, 25, 20, 30)),
        ("21:00 Europe/Paris", at(2026, 11, 26, 20)),  # now is not to come
        ("20:00:01 UTC", NOW_S + 1),
        ("2026-12-01 08:00 America/Santiago", at(2026, 12, 1, 11)),
        ("2026-12-01T08:00+01:00", at(2026, 12, 1, 7)),
        ("2026-12-01T08:00:00Z", at(2026, 12, 1, 8)),
        ("20261201", at(2026, 12, 1)),
    ],
)
def test_times_of_day_are_the_next_and_dates_are_in_their_zone(text: str, wanted_s: float) -> None:
    found = read_time(text, NOW_S, UTC)
    assert (found.at_s, found.after_s, found.note) == (wanted_s, None, "")


def test_it_is_shown_back_in_full() -> None:
    found = read_deadline("08:00 Europe/Paris", NOW_S)
    assert found.in_full == "2026-11-26 08:00:00 CET (2026-11-26 07:00:00 UTC)"
    assert in_full(NOW_S, UTC) == "2026-11-25 20:00:00 UTC"


def test_a_deadline_that_has_passed_is_refused() -> None:
    with pytest.raises(BadTime, match=r"has passed: it was 2026-11-25 19:59:59 UTC"):
        read_deadline("2026-11-25T19:59:59Z", NOW_S, UTC)
    with pytest.raises(BadTime, match="has passed"):
        read_deadline("+0s", NOW_S, UTC)
    assert read_time("2026-11-25T19:59:59Z", NOW_S).at_s == NOW_S - 1


@pytest.mark.parametrize("text", ["08:00", "2026-12-01 08:00", "2026-12-01"])
def test_whose_zone_is_meant_has_to_be_known(text: str) -> None:
    with pytest.raises(BadTime, match="needs a time zone"):
        read_time(text, NOW_S, zone_needed=True)
    assert read_time(f"{text} Europe/Paris", NOW_S, zone_needed=True).at_s > NOW_S
    assert read_time("+3h", NOW_S, zone_needed=True).after_s == 10_800


@pytest.mark.parametrize(
    ("zone", "date", "clock", "then", "note"),
    [
        (PARIS, "2026-03-29", "02:30", at(2026, 3, 29, 1, 30), "does not exist"),
        (PARIS, "2026-10-25", "02:30", at(2026, 10, 25, 0, 30), "comes twice"),
        (LORD_HOWE, "2026-10-04", "02:15", at(2026, 10, 3, 15, 45), "does not exist"),
        (LORD_HOWE, "2026-04-05", "01:45", at(2026, 4, 4, 14, 45), "comes twice"),
        (SANTIAGO, "2026-09-06", "00:30", at(2026, 9, 6, 4, 30), "does not exist"),
        (SANTIAGO, "2026-04-04", "23:30", at(2026, 4, 5, 2, 30), "comes twice"),
    ],
)
def test_the_days_when_clocks_change(zone: str, date: str, clock: str, then: float, note: str) -> None:
    found = read_time(f"{date} {clock} {zone}", then - 86_400)
    assert found.at_s == then
    assert note in found.note
    assert date in found.note
    next_one = read_time(f"{clock} {zone}", then - 3600)
    assert (next_one.at_s, next_one.note) == (then, found.note), "the same as a time of day"
    if note == "comes twice":
        again = read_time(f"{clock} {zone}", then)
        assert then < again.at_s <= then + 3600, "between the two, the second is the next one"
        assert "the second" in again.note
    after = read_time(f"{clock} {zone}", then + 7200)
    assert then + 80_000 < after.at_s < then + 100_000
    assert after.note == ""


@given(at_s=st.integers(0, int(at(2060, 1, 1))), zone=st.sampled_from(ZONES))
def test_shown_time_is_read_back(at_s: int, zone: str) -> None:
    clocks = zone_of(zone)
    local = datetime.fromtimestamp(at_s, clocks)
    found = read_time(f"{local:%Y-%m-%d %H:%M:%S} {zone}", float(at_s))
    if local.fold:
        assert 0 < at_s - found.at_s <= 3600
        assert "comes twice" in found.note
    else:
        assert found.at_s == at_s
    assert read_time(local.isoformat(), 0.0).at_s == at_s == read_date(local.isoformat())
    universal = in_full(at_s, clocks).rpartition("(")[2].removesuffix(")")
    assert read_time(universal, 0.0).at_s == at_s


@given(now_s=st.integers(86_400, int(at(2060, 1, 1))), minute=st.integers(0, 1439), zone=st.sampled_from(ZONES))
def test_the_next_time_of_day_is_the_next(now_s: int, minute: int, zone: str) -> None:
    text = f"{minute // 60:02}:{minute % 60:02}"
    found = read_deadline(f"{text} {zone}", float(now_s))
    assert now_s < found.at_s <= now_s + 25 * 3600 + 3600
    shown = datetime.fromtimestamp(found.at_s, zone_of(zone))
    assert f"{shown:%H:%M}" == text or "does not exist" in found.note
    for step_s in range(60, int(found.at_s) - now_s, 60):  # no earlier minute shows it
        other = datetime.fromtimestamp(found.at_s - step_s, zone_of(zone))
        assert f"{other:%H:%M}" != text


@given(span=st.timedeltas(timedelta(seconds=1), timedelta(days=30)))
def test_spans_round_trip(span: timedelta) -> None:
    seconds = int(span.total_seconds())
    days, hours, minutes = seconds // 86_400, seconds // 3600 % 24, seconds // 60 % 60
    assert span_s(f"{days}d{hours}h{minutes}m{seconds % 60}s") == seconds
