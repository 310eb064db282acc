"""Begin times and deadlines of sbatch inside a job."""

from __future__ import annotations

from datetime import datetime

import pytest

from zoe_client.vocabulary import NotificationKind, ReasonCode
from zoe_client.words.times import read_time
from zoe_job.commands.records import _REASONS
from zoe_job.submission.start_times import at_s, begin_fields, deadline_fields
from zoe_job.submission.values import begin, mail

NOW = datetime(2026, 11, 28, 15, 30)  # noqa: DTZ001 - local, as sbatch reads times


@pytest.mark.parametrize("text", ["16:00", "08:30", "15:30", "2026-12-01", "2026-12-01T08:30"])
def test_times_are_those_of_zoe_sbatch(text: str) -> None:
    assert at_s(text, NOW) == read_time(text, NOW.timestamp()).at_s


@pytest.mark.parametrize("text", ["now+90", "now+5minutes", "now+2hours", "now+1day", "now+1week"])
def test_times_from_now_are_sent_as_such(text: str) -> None:
    wished = begin(text)
    assert wished is not None
    assert begin_fields(wished) == {"begin_in_s": read_time(wished, 0.0).after_s}
    assert deadline_fields(wished) == {"deadline": wished}


def test_missing_times_send_no_fields() -> None:
    assert (begin_fields(None), deadline_fields(None)) == ({}, {})
    with pytest.raises(ValueError, match="isoformat"):
        begin_fields("someday")


def test_kinds_of_mail_are_kinds_of_notifications() -> None:
    assert set(mail("ALL,INVALID_DEPEND")) <= {kind.value for kind in NotificationKind}


def test_reasons_are_those_of_the_api() -> None:
    assert {*_REASONS} <= {code.value for code in ReasonCode}
