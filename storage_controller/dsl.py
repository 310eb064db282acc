"""Static policies in Crystal's language: a target and what is set for it, one rule a line.

    FOR TENANT:4f0279 DO SET compression WITH level=3 ON OBJECT, SET cache
    FOR CONTAINER:4f0279/logs DO SET BANDWIDTH WITH MIN_BW=30MBps

Rules with conditions need their own measurements and actions: they are refused, not ignored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from storage_bridge.model import RATE_MAX

LINE_CHARACTERS_MAX = 4096
_RULE = re.compile(r"\s*FOR\s+(?P<target>.+?)\s+DO\s+(?P<actions>.+?)\s*", re.IGNORECASE)
_TARGET = re.compile(r"(?P<kind>TENANT|CONTAINER|OBJECT|G)\s*(?::|\s)\s*(?P<name>\S+)", re.IGNORECASE)
_ACTION = re.compile(
    r"(?P<verb>SET|DELETE)\s+(?P<filter>\w+)(?:\s+WITH\s+(?P<parameters>.+?))?(?:\s+ON\s+(?P<server>PROXY|OBJECT))?",
    re.IGNORECASE,
)
_PARAMETER = re.compile(r"(?P<name>\w+)\s*=\s*(?P<value>[^\s,=]+)")
_BETWEEN_ACTIONS = re.compile(r"\s*,\s*(?=(?:SET|DELETE)\s)", re.IGNORECASE)
BANDWIDTH = "BANDWIDTH"
"""The only filter that the controller enforces."""
_PATH = ("tenant", "container", "object")
_SLASHES = {"TENANT": 0, "CONTAINER": 1, "OBJECT": 2, "G": 0}
_BANDWIDTH = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>[KMG]?)B(?:ps|/s)", re.IGNORECASE)
_FACTOR = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


class RuleError(ValueError):
    """A rule cannot be parsed; the message says what is wrong."""


@dataclass(frozen=True, slots=True)
class Action:
    """One filter that is set or deleted, with its parameters; `server` is where it works."""

    verb: str
    filter: str
    parameters: dict[str, str]
    server: str | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """The target of a rule, kind and name (`<tenant>/<container>` for a container), and its actions."""

    kind: str
    name: str
    actions: tuple[Action, ...]
    text: str

    @property
    def target(self) -> str:
        """Return the target as it is stored."""
        return f"{self.kind}:{self.name}"


def parse_rules(text: str) -> Iterator[Rule]:
    """Yield the rules of a text, one a line, skipping empty lines. RuleError names the line."""
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                yield parse_rule(line)
            except RuleError as error:
                raise RuleError(f"line {number}: {error}") from None


def parse_rule(line: str) -> Rule:
    """Parse one rule; RuleError."""
    if len(line) > LINE_CHARACTERS_MAX:
        raise RuleError(f"longer than {LINE_CHARACTERS_MAX} characters")
    match = _RULE.fullmatch(line)
    if match is None:
        raise RuleError(
            "a rule must have the form FOR <target> DO SET <filter> [WITH name=value, ...] [ON PROXY|OBJECT]"
        )
    if re.search(r"\sWHEN\s", match["target"], re.IGNORECASE):
        raise RuleError("rules with a condition (WHEN) are not supported")
    target = _TARGET.fullmatch(match["target"])
    if target is None:
        raise RuleError(f"{match['target']!r} is not a target; use TENANT:, CONTAINER:, OBJECT: or G: with a name")
    kind = target["kind"].upper()
    parts = target["name"].split("/")
    if len(parts) <= _SLASHES[kind] or not all(parts[: _SLASHES[kind] + 1]):
        raise RuleError(f"a {kind.lower()} is named {'/'.join(_PATH[: _SLASHES[kind] + 1])}")
    actions = tuple(_action(text) for text in _BETWEEN_ACTIONS.split(match["actions"]))
    return Rule(kind, target["name"], actions, line.strip())


def bandwidth_of(action: Action) -> int | None:
    """Return the bytes per second that `SET BANDWIDTH WITH MIN_BW=30MBps` promises; None for other actions.
    RuleError.
    """
    if action.verb != "SET" or action.filter.upper() != BANDWIDTH:
        return None
    text = {name.upper(): value for name, value in action.parameters.items()}.get("MIN_BW", "")
    found = _BANDWIDTH.fullmatch(text)
    if found is None:
        raise RuleError("BANDWIDTH needs MIN_BW=<number><K, M or G>Bps")
    rate = float(found["number"]) * _FACTOR[found["unit"].upper()]
    if not 1 <= rate <= RATE_MAX:
        raise RuleError(f"BANDWIDTH is from 1 to {RATE_MAX} bytes per second")
    return int(rate)


def _action(text: str) -> Action:
    match = _ACTION.fullmatch(text.strip())
    if match is None:
        raise RuleError(f"{text!r} is not an action; use SET <filter> [WITH name=value, ...] [ON PROXY|OBJECT]")
    parameters: dict[str, str] = {}
    for part in (match["parameters"] or "").split(","):
        if not part.strip():
            continue
        pair = _PARAMETER.fullmatch(part.strip())
        if pair is None:
            raise RuleError(f"{part.strip()!r} is not a parameter; use name=value")
        parameters[pair["name"]] = pair["value"]
    server = match["server"].upper() if match["server"] else None
    action = Action(match["verb"].upper(), match["filter"], parameters, server)
    bandwidth_of(action)
    return action
