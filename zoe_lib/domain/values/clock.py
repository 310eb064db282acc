"""Times in sentences. Pure: the calendar is computed, so that the scheduler imports no clock."""

from __future__ import annotations

_DAY_S = 86_400


def utc_text(at_s: float) -> str:
    """Return a time since the epoch as in `2026-11-23 02:28:36 UTC`, by the proleptic Gregorian calendar.

    Days are counted from 1 March of year 0, so that a leap day is the last of its year.
    """
    days, seconds = divmod(int(at_s), _DAY_S)
    era, day_of_era = divmod(days + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    month_from_march = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * month_from_march + 2) // 5 + 1
    month = month_from_march + 3 if month_from_march < 10 else month_from_march - 9
    year = era * 400 + year_of_era + (month <= 2)
    hours, rest = divmod(seconds, 3_600)
    return f"{year:04}-{month:02}-{day:02} {hours:02}:{rest // 60:02}:{rest % 60:02} UTC"
