import random
from datetime import UTC, datetime

import pytest

from zoe_lib.domain.values.clock import utc_text


def test_it_is_the_calendar_of_the_standard_library() -> None:
    chance = random.Random(28)
    last_s = int(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp())
    days = [
        datetime(year, *day, tzinfo=UTC).timestamp() for year in (1972, 2000, 2023, 2100) for day in ((2, 28), (3, 1))
    ]
    times = [0, last_s, *map(int, days), *(chance.randint(0, last_s) for _ in range(2000))]
    for at_s in (near for time_ in times for near in (time_, min(time_ + 86_399, last_s))):
        assert utc_text(at_s) == f"{datetime.fromtimestamp(at_s, UTC):%Y-%m-%d %H:%M:%S} UTC", at_s


@pytest.mark.parametrize("at_s", [1e15, 1e300])
def test_any_time_that_a_policy_may_hold_has_a_text(at_s: float) -> None:
    assert utc_text(at_s).endswith(" UTC")
