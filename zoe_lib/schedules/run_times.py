"""Fill the time of a run into its document: `{scheduled}` and `{previous}`, their parts, and variables of its
components.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from zoe_client.words.times import zone_of
from zoe_lib.domain.values.frozen import value

SCHEDULED, PREVIOUS = "ZOE_SCHEDULED", "ZOE_PREVIOUS"
"""Variables with the two times in ISO 8601, unless the component sets them itself."""
PARTS: dict[str, Callable[[datetime], str]] = {
    "": datetime.isoformat,
    "utc": lambda at: at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
    "date": lambda at: at.date().isoformat(),
    "time": lambda at: at.strftime("%H:%M"),
    "year": lambda at: f"{at.year:04}",
    "month": lambda at: f"{at.month:02}",
    "day": lambda at: f"{at.day:02}",
    "hour": lambda at: f"{at.hour:02}",
    "minute": lambda at: f"{at.minute:02}",
    "week": lambda at: at.strftime("%G-W%V"),
    "epoch": lambda at: f"{at.timestamp():.0f}",
}
_UNFILLED = "files"
_UNFILLED_TOKEN = re.compile(r"(?<!\{)\{(?:scheduled|previous)\b[^{}]{0,40}\}?")
_TOKEN = re.compile(r"\{\{|\}\}|\{(scheduled|previous)(?::([a-z]*))?\}")


@value(frozen=True, slots=True)
class RunTimes:
    """The times of a run, in seconds since the epoch, formatted in a zone. previous_s: the preceding time of the
    schedule, whether it ran or not; None without a schedule.
    """

    scheduled_s: float
    previous_s: float | None
    zone: str


def with_times(document: Mapping[str, Any], times: RunTimes) -> dict[str, Any]:
    """Return a description or a workflow with the times in place of their templates, except in `files`.

    An unknown time or part is left unchanged, and the description is refused.
    """
    zone = zone_of(times.zone)
    at = {"scheduled": datetime.fromtimestamp(times.scheduled_s, zone)}
    if times.previous_s is not None:
        at["previous"] = datetime.fromtimestamp(times.previous_s, zone)
    variables = {SCHEDULED: at["scheduled"].isoformat()}
    if times.previous_s is not None:
        variables[PREVIOUS] = at["previous"].isoformat()

    def text_of(token: re.Match[str]) -> str:
        part = PARTS.get(token[2] or "")
        return token[0] if token[1] not in at or part is None else part(at[token[1]])

    def fill(one: Any, key: str = "") -> Any:
        if isinstance(one, dict):
            return {name: part if name == _UNFILLED else fill(part, name) for name, part in one.items()}
        if isinstance(one, list):
            filled = [fill(part) for part in one]
            return [_with_variables(part, variables) for part in filled] if key in ("components", "steps") else filled
        return _TOKEN.sub(text_of, one) if isinstance(one, str) else one

    return {name: part if name == _UNFILLED else fill(part, name) for name, part in document.items()}


def unfilled_time(values: Mapping[str, Any]) -> str | None:
    """Return the first unfilled time template in values of parameters, which no later check covers."""
    for given in values.values():
        if isinstance(given, str) and (found := _UNFILLED_TOKEN.search(given)):
            return found[0]
    return None


def _with_variables(component: Any, variables: Mapping[str, str]) -> Any:
    """Return a component, or a step with its own command, with these variables added."""
    if not isinstance(component, dict) or not isinstance(component.get("environment", {}), dict):
        return component  # the check refuses it
    if component.get("application") is not None:  # a step: the components in it have them
        return component
    return {**component, "environment": {**variables, **component.get("environment", {})}}
