"""Values as sbatch writes them."""

from __future__ import annotations

import signal

import pytest

from zoe_job.submission import values
from zoe_job.submission.values import BadValueError


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("30", 1800),
        ("1:30", 120),
        ("01:00:05", 3660),
        ("0:02", 60),
        ("2-0", 172_800),
        ("1-2:30", 95_400),
        ("1-02:03:04", 93_840),
        ("UNLIMITED", None),
        ("0", None),
    ],
)
def test_times(text: str, expected: float | None) -> None:
    assert values.time_s(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"), [("4G", 4096), ("500", 500), ("1T", 1 << 20), ("1K", 1), ("16gb", 16_384)]
)
def test_sizes(text: str, expected: int) -> None:
    assert values.size_mib(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("now", None), ("now+60", "+60s"), ("now+1hour", "+1h"), ("16:00", "16:00"), ("16:00:30", "16:00:30"),
     ("teatime", "16:00"), ("today", None), ("tomorrow", "00:00"), ("2026-12-01T08:30", "2026-12-01T08:30"),
     ("12/01/26", "2026-12-01"), ("12/01/26-08:30", "2026-12-01T08:30")],
)  # fmt: skip
def test_begin_times(text: str, expected: str | None) -> None:
    assert values.begin(text) == expected


def test_a_deadline_is_a_time_to_come() -> None:
    assert values.deadline("now+1hour") == "+1h"
    assert values.deadline("12/01/26") == "2026-12-01"
    for passed in ("now", "now+0", "today"):
        with pytest.raises(values.BadValueError, match="has passed"):
            values.deadline(passed)
    with pytest.raises(values.BadValueError, match="use now"):
        values.deadline("now-1hour")


def test_dependencies() -> None:
    assert values.dependencies("afterok:x1:x2,afterany:x3") == ("ok:x1", "ok:x2", "any:x3")
    assert values.dependencies("afternotok:x1,aftercorr:a1") == ("fail:x1", "corr:a1")


@pytest.mark.parametrize(("text", "expected"), [("gpu:2", 2), ("gpu:a100:4", 4), ("gpu", 1), ("none", 0), ("gpu=3", 3)])
def test_gpus(text: str, expected: int) -> None:
    assert values.generic(text) == expected


def test_kinds_of_mail() -> None:
    assert values.mail("BEGIN,FAIL") == ("started", "failed")
    assert values.mail("ALL") == ("started", "succeeded", "failed", "cancelled", "requeued")
    assert values.mail("NONE") == ()


def test_signals_before_the_end() -> None:
    assert values.warning("B:USR1@90") == (signal.SIGUSR1, 90.0, True)
    assert values.warning("SIGUSR1@6") == (signal.SIGUSR1, 6.0, False)
    assert values.warning("SIGTERM") == (signal.SIGTERM, 60.0, False)


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        (values.time_s, "hrs:min:00"),
        (values.time_s, "1:2:3:4"),
        (values.size_mib, "4 XB"),
        (values.size_mib, "-1G"),
        (values.count, "0"),
        (values.count, "9" * 50),
        (values.begin, "tomorrow-ish"),
        (values.dependencies, "singleton"),
        (values.dependencies, "afterok:x1?afterok:x2"),
        (values.dependencies, "afterok:"),
        (values.dependencies, ""),
        (values.generic, "shard:1"),
        (values.gpus, "a:b:c:d"),
        (values.mail, "TIME_LIMIT_80"),
        (values.warning, "NOSIG@1"),
    ],
)
def test_invalid_value_is_refused(reader: object, text: str) -> None:
    assert callable(reader)
    with pytest.raises(BadValueError):
        reader(text)
