"""Executions as rows and lines."""

from __future__ import annotations

from typing import cast

from zoe_cli.commands.views import left_words, steps
from zoe_client.plain import Execution


def test_steps_of_the_execution_and_its_services_stand_in_their_order() -> None:
    service = {"name": "main-0", "attempt": 1, "started_at_s": 103.0, "ready_at_s": None, "ended_at_s": 109.25}
    again = {**service, "attempt": 2, "started_at_s": None, "ended_at_s": None}
    marks = {"queued": 100.5, "started": 104.0, "ended": 110.0}
    found = steps(cast(Execution, {"submitted_at_s": 100.0, "marks": marks, "services": [service, again]}))
    assert list(found.rows) == [
        ("0.00", "", "submitted"),
        ("0.50", "+0.50", "queued"),
        ("3.00", "+2.50", "main-0 started"),
        ("4.00", "+1.00", "started"),
        ("9.25", "+5.25", "main-0 ended"),
        ("10.00", "+0.75", "ended"),
    ]


def test_requeues_are_steps() -> None:
    execution = {"submitted_at_s": 100.0, "marks": {"queued": 100.5}, "services": []}
    found = steps(cast(Execution, execution), [104.0, 108.0])
    assert [row[2] for row in found.rows] == ["submitted", "queued", "requeued for attempt 2", "requeued for attempt 3"]


def test_what_services_left_behind_is_named_by_service_and_servers_of_before_name_nothing() -> None:
    services = [
        {"name": "main-0", "left_files": "model.bin (3 KiB)"},
        {"name": "worker-0", "left_files": ""},
        {"name": "old-0"},
    ]
    [told] = left_words(cast(Execution, {"services": services}))
    assert told == "scratch directory of main-0 with model.bin (3 KiB); keep files in the workspace"
