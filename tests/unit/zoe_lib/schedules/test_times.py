"""Times of cron expressions, also on the days when clocks change."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from zoe_lib.schedules.times import BadTimes, CronTimes

PARIS = "Europe/Paris"


def at(text: str, zone: str = PARIS, fold: int = 0) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone), fold=fold).timestamp()


def times(expression: str, start: str, number: int, zone: str = PARIS) -> list[str]:
    """The next times in words of the zone, with the offset."""
    cron, found, after = CronTimes(expression, zone), [], at(start, zone)
    for _ in range(number):
        after = cron.next_after(after) or 0.0
        found.append(datetime.fromtimestamp(after, ZoneInfo(zone)).strftime("%d %H:%M%z"))
    return found


def test_half_past_two_on_the_day_without_it() -> None:
    assert times("30 2 * * *", "2027-03-27 00:00", 3) == ["27 02:30+0100", "28 03:00+0200", "29 02:30+0200"]


def test_half_past_two_on_the_day_with_two_of_them() -> None:
    assert times("30 2 * * *", "2027-10-30 00:00", 3) == ["30 02:30+0200", "31 02:30+0200", "01 02:30+0100"]
    # After the first one, also within the hour that comes again, the next is that of the next day.
    cron = CronTimes("30 2 * * *", PARIS)
    assert cron.next_after(at("2027-10-31 02:15", fold=1)) == at("2027-11-01 02:30")


def test_each_half_hour_goes_on_through_both_days() -> None:
    assert times("*/30 * * * *", "2027-10-31 02:15", 3) == ["31 02:30+0200", "31 02:00+0100", "31 02:30+0100"]
    assert times("*/30 * * * *", "2027-03-28 01:15", 2) == ["28 01:30+0100", "28 03:00+0200"]


@pytest.mark.parametrize(
    ("expression", "times_of_day"),
    [
        ("0 */2 * * *", "00:00+0100 03:00+0200 04:00+0200"),
        ("*/30 2 * * *", "03:00+0200"),
        ("0,30 1-3 * * *", "01:00+0100 01:30+0100 03:00+0200 03:30+0200"),
        ("30 * * * *", "00:30+0100 01:30+0100 03:30+0200 04:30+0200"),  # each hour that there is has its run
        ("*/20 * * * *", "00:00+0100 00:20+0100 00:40+0100 01:00+0100 01:20+0100 01:40+0100 03:00+0200"),
    ],
)
def test_no_run_is_lost_to_the_hour_that_is_missing(expression: str, times_of_day: str) -> None:
    wanted = times_of_day.split()
    found = times(expression, "2027-03-27 23:59", len(wanted))
    assert found == [f"28 {text}" for text in wanted]


def test_steps_of_hours_run_in_both_of_two_hours() -> None:
    wanted = ["31 00:00+0200", "31 02:00+0200", "31 02:00+0100", "31 04:00+0100"]
    assert times("0 */2 * * *", "2027-10-30 23:59", 4) == wanted


def test_a_change_that_is_not_of_an_hour() -> None:
    zone = "Australia/Lord_Howe"  # by half an hour, at 02:00
    assert times("15 2 * * *", "2027-10-02 12:00", 2, zone) == ["03 02:30+1100", "04 02:15+1100"]
    assert times("*/15 1 * * *", "2027-04-04 00:00", 7, zone)[3:6] == [
        "04 01:45+1100",
        "04 01:30+1030",
        "04 01:45+1030",
    ]


# croniter 7 gives, for each minute of the day and for skipped ones, whether the wall-clock time matches; with the rules
# of docs/use/schedules.md, these times follow: how many on the day, and those before 05:00.
CHECKED = [
    ("0 */2 * * *", "Europe/Paris", "2026-03-29", 12, "00:00+0100 03:00+0200 04:00+0200"),
    ("0 */2 * * *", "Europe/Paris", "2026-10-25", 13, "00:00+0200 02:00+0200 02:00+0100 04:00+0100"),
    ("0 */2 * * *", "America/New_York", "2026-03-08", 12, "00:00-0500 03:00-0400 04:00-0400"),
    ("0 */2 * * *", "America/New_York", "2026-11-01", 12, "00:00-0400 02:00-0500 04:00-0500"),
    ("0 */2 * * *", "Australia/Lord_Howe", "2026-10-04", 12, "00:00+1030 02:30+1100 04:00+1100"),
    ("0 */2 * * *", "Australia/Lord_Howe", "2026-04-05", 12, "00:00+1100 02:00+1030 04:00+1030"),
    ("30 2 * * *", "Europe/Paris", "2026-03-29", 1, "03:00+0200"),
    ("30 2 * * *", "Europe/Paris", "2026-10-25", 1, "02:30+0200"),
    ("30 2 * * *", "America/New_York", "2026-03-08", 1, "03:00-0400"),
    ("30 2 * * *", "America/New_York", "2026-11-01", 1, "02:30-0500"),
    ("30 2 * * *", "Australia/Lord_Howe", "2026-10-04", 1, "02:30+1100"),
    ("30 2 * * *", "Australia/Lord_Howe", "2026-04-05", 1, "02:30+1030"),
    ("*/30 * * * *", "Europe/Paris", "2026-03-29", 46, ""),
    ("*/30 * * * *", "Europe/Paris", "2026-10-25", 50, ""),
    ("*/30 * * * *", "America/New_York", "2026-03-08", 46, ""),
    ("*/30 * * * *", "America/New_York", "2026-11-01", 50, ""),
    ("*/30 * * * *", "Australia/Lord_Howe", "2026-10-04", 47, ""),
    ("*/30 * * * *", "Australia/Lord_Howe", "2026-04-05", 49, ""),
    ("0 0-6/3 * * *", "Europe/Paris", "2026-03-29", 3, "00:00+0100 03:00+0200"),
    ("0 0-6/3 * * *", "Europe/Paris", "2026-10-25", 3, "00:00+0200 03:00+0100"),
    ("0 0-6/3 * * *", "America/New_York", "2026-03-08", 3, "00:00-0500 03:00-0400"),
    ("0 0-6/3 * * *", "America/New_York", "2026-11-01", 3, "00:00-0400 03:00-0500"),
    ("0 0-6/3 * * *", "Australia/Lord_Howe", "2026-10-04", 3, "00:00+1030 03:00+1100"),
    ("0 0-6/3 * * *", "Australia/Lord_Howe", "2026-04-05", 3, "00:00+1100 03:00+1030"),
    ("15 1,2,3 * * *", "Europe/Paris", "2026-03-29", 3, "01:15+0100 03:00+0200 03:15+0200"),
    ("15 1,2,3 * * *", "Europe/Paris", "2026-10-25", 3, "01:15+0200 02:15+0200 03:15+0100"),
    ("15 1,2,3 * * *", "America/New_York", "2026-03-08", 3, "01:15-0500 03:00-0400 03:15-0400"),
    ("15 1,2,3 * * *", "America/New_York", "2026-11-01", 3, "01:15-0400 02:15-0500 03:15-0500"),
    ("15 1,2,3 * * *", "Australia/Lord_Howe", "2026-10-04", 3, "01:15+1030 02:30+1100 03:15+1100"),
    ("15 1,2,3 * * *", "Australia/Lord_Howe", "2026-04-05", 3, "01:15+1100 02:15+1030 03:15+1030"),
    ("30 * * * *", "Europe/Paris", "2026-03-29", 23, "00:30+0100 01:30+0100 03:30+0200 04:30+0200"),
    ("30 * * * *", "Europe/Paris", "2026-10-25", 25, ""),
    ("30 * * * *", "America/New_York", "2026-03-08", 23, "00:30-0500 01:30-0500 03:30-0400 04:30-0400"),
    ("30 * * * *", "America/New_York", "2026-11-01", 25, ""),
    ("30 * * * *", "Australia/Lord_Howe", "2026-10-04", 24, "00:30+1030 01:30+1030 02:30+1100 03:30+1100 04:30+1100"),
    ("30 * * * *", "Australia/Lord_Howe", "2026-04-05", 25, ""),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "zone", "day", "count", "early"), CHECKED)
def test_days_of_changes_are_as_another_library_matches_them(
    expression: str, zone: str, day: str, count: int, early: str
) -> None:
    begin_s = at(f"{day} 00:00", zone)
    next_day = (datetime.fromisoformat(day) + timedelta(days=1)).date().isoformat()
    found = CronTimes(expression, zone).newest(begin_s, at(f"{next_day} 00:00", zone) - 1, 100)
    assert len(found) == count
    words = [datetime.fromtimestamp(value, ZoneInfo(zone)).strftime("%H:%M%z") for value in found]
    assert not early or [word for word in words if word < "05"] == early.split()
    after, forward = begin_s - 1, list[float]()
    for _ in found:
        after = CronTimes(expression, zone).next_after(after) or 0.0
        forward.append(after)
    assert forward == found


def test_names_and_zones() -> None:
    assert times("@daily", "2027-01-01 12:00", 1, "Asia/Kolkata") == ["02 00:00+0530"]
    assert times("0 9 * * MON-FRI", "2027-01-01 12:00", 1, "UTC") == ["04 09:00+0000"]


@pytest.mark.parametrize(
    ("expression", "zone", "why"),
    [
        ("30 2 * *", PARIS, "five fields"),
        ("* * * * * *", PARIS, "five fields"),
        ("61 * * * *", PARIS, "minute"),
        ("0 0 30 2 *", PARIS, "day"),
        ("0 0 * * 1L/2,1", PARIS, "L/2"),
        ("0 0 * * *", "Mars/Phobos", "time zone"),
        ("0 0 * * *", "../../etc/passwd", "time zone"),
        ("1," * 300 + "1 * * * *", PARIS, "characters"),
        ("\x00 * * * *", PARIS, "minute"),
        ("", PARIS, "five fields"),
    ],
)
def test_invalid_expression_is_refused_with_the_reason(expression: str, zone: str, why: str) -> None:
    with pytest.raises(BadTimes, match=why):
        CronTimes(expression, zone)


def test_a_time_that_never_comes_ends_the_search() -> None:
    assert CronTimes("* * */20 * 1L", "UTC").next_after(at("2027-01-01", "UTC")) is None


@pytest.mark.parametrize(
    "expression",
    ["30 2 * * *", "15,45 2,3 * * *", "*/20 * * * *", "10 */2 * * *", "0 3 * * 0", "*/30 2 * * *", "5 1-3 * * *"],
)
@pytest.mark.parametrize("day", ["2027-03-27", "2027-10-30"])
def test_looking_back_finds_what_looking_forward_finds(expression: str, day: str) -> None:
    cron, from_s = CronTimes(expression, PARIS), at(f"{day} 00:00")
    forward, after = [], from_s - 1
    while (after := cron.next_after(after) or 0.0) <= from_s + 3 * 86400:
        forward.append(after)
    # From many moments, those of the hour that comes twice too.
    for minutes in range(0, 3 * 24 * 60, 45):
        to_s = from_s + minutes * 60
        assert cron.newest(from_s, to_s, 1000) == [value for value in forward if value <= to_s], minutes
    assert cron.newest(from_s, from_s + 3 * 86400, 2) == forward[-2:]
