"""Times of cron expressions, also on the days when clocks change."""

from __future__ import annotations

from datetime import datetime
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
    assert found == [f"28 {one}" for one in wanted]


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
def test_what_cannot_be_understood_is_said(expression: str, zone: str, why: str) -> None:
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
        assert cron.newest(from_s, to_s, 1000) == [one for one in forward if one <= to_s], minutes
    assert cron.newest(from_s, from_s + 3 * 86400, 2) == forward[-2:]
