"""The time of a run in its document."""

from __future__ import annotations

from typing import Any

import pytest

from zoe_lib.schedules.run_times import RunTimes, with_times

# 2026-03-29 04:00 in Paris, of a schedule that runs each second hour: the one before was 03:00, when the clock was set.
TIMES = RunTimes(1774749600.0, 1774746000.0, "Europe/Paris")


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("{scheduled}", "2026-03-29T04:00:00+02:00"),
        ("{previous}", "2026-03-29T03:00:00+02:00"),
        ("{scheduled:utc}", "2026-03-29T02:00:00Z"),
        ("in/{scheduled:year}/{scheduled:month}/{scheduled:day}/{scheduled:hour}", "in/2026/03/29/04"),
        ("{scheduled:date} {previous:time} {scheduled:minute}", "2026-03-29 03:00 00"),
        ("{scheduled:week} {scheduled:epoch}", "2026-W13 1774749600"),
        ("{{scheduled}} {param:day} {host:self}", "{{scheduled}} {param:day} {host:self}"),
        ("{scheduled:nonsense}", "{scheduled:nonsense}"),  # the description is refused for it
    ],
)
def test_templates_become_times_of_the_zone(text: str, filled: str) -> None:
    made = with_times({"name": text, "components": [{"command": ["echo", text]}]}, TIMES)
    assert (made["name"], made["components"][0]["command"]) == (filled, ["echo", filled])


def test_files_stay_as_they_are() -> None:
    component: dict[str, Any] = {"files": {"{scheduled}": "{scheduled}"}}
    assert with_times({"components": [component]}, TIMES)["components"][0]["files"] == component["files"]


def test_each_component_has_the_times_as_variables() -> None:
    document = {
        "components": [{"environment": {"A": "{scheduled:date}", "ZOE_PREVIOUS": "mine"}}],
        "steps": [{"command": ["x"]}, {"application": {"components": [{}]}}],
        "params": {"environment": {"default": 1}},
    }
    made = with_times(document, TIMES)
    both = {"ZOE_SCHEDULED": "2026-03-29T04:00:00+02:00", "ZOE_PREVIOUS": "2026-03-29T03:00:00+02:00"}
    assert made["components"] == [{"environment": {**both, "A": "2026-03-29", "ZOE_PREVIOUS": "mine"}}]
    assert made["steps"] == [
        {"command": ["x"], "environment": both},
        {"application": {"components": [{"environment": both}]}},
    ]
    assert made["params"] == document["params"]


def test_without_a_schedule_there_is_no_time_before() -> None:
    made = with_times({"name": "{scheduled:date} {previous}", "components": [{}]}, RunTimes(0.0, None, "UTC"))
    assert made["name"] == "1970-01-01 {previous}"
    assert made["components"] == [{"environment": {"ZOE_SCHEDULED": "1970-01-01T00:00:00+00:00"}}]
