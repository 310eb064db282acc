"""Requests of the last hour by tenant, container and method, in spans of five minutes; bounded."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from storage_filters.rules.rules import Rule, TargetKind
from zoe_lib.clock import Clock

HOUR_S, SPAN_S = 3600.0, 300.0
SUBJECTS_MAX = 5_000
"""Most subjects of a span; further containers count for their tenant only."""
_Key = tuple[str, str, str]  # tenant, container, method


@dataclass(frozen=True, slots=True)
class HourOfRequests:
    """Upper bound of the requests to which rules would have applied. seconds: the covered time. narrowed: fewer in
    fact, as the rules are for some objects of a container only, or have WHEN or TO.
    """

    seconds: float
    puts: int
    put_bytes: int
    gets: int
    get_bytes: int
    narrowed: bool


class LastHour:
    """Not thread-safe."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._began_s = clock.monotonic_s()
        self._spans: deque[tuple[float, dict[_Key, tuple[int, int]]]] = deque()

    def add(self, tenant: str, container: str, method: str, requests: int, moved: int) -> None:
        """Count requests, and the bytes that they read or wrote."""
        now_s = self._clock.monotonic_s()
        if not self._spans or now_s - self._spans[-1][0] >= SPAN_S:
            self._spans.append((now_s, {}))
        while now_s - self._spans[0][0] >= HOUR_S:
            self._spans.popleft()
        span = self._spans[-1][1]
        key = tenant, container, method
        if key not in span and len(span) >= SUBJECTS_MAX:
            key = tenant, "", method
        count, bytes_ = span.get(key, (0, 0))
        span[key] = count + requests, bytes_ + moved

    def under(self, rules: Iterable[Rule], groups: Mapping[str, frozenset[str]], tenant: str) -> HourOfRequests:
        """Return the requests for a tenant's objects that any of these rules targets."""
        wanted, now_s = list(rules), self._clock.monotonic_s()
        # Before the loop over requests, so that many rules do not delay the counting threads.
        everything, containers = _subjects(wanted, groups, tenant)
        sums = {"PUT": [0, 0], "GET": [0, 0]}
        for at_s, span in self._spans:
            if now_s - at_s >= HOUR_S:
                continue
            for (owner, container, method), (count, moved) in span.items():
                if owner == tenant and method in sums and (everything or container in containers):
                    sums[method][0] += count
                    sums[method][1] += moved
        seconds = min(now_s - self._began_s, HOUR_S)
        (puts, put_bytes), (gets, get_bytes) = sums["PUT"], sums["GET"]
        return HourOfRequests(seconds, puts, put_bytes, gets, get_bytes, any(_is_narrowed(rule) for rule in wanted))


def _subjects(rules: Iterable[Rule], groups: Mapping[str, frozenset[str]], tenant: str) -> tuple[bool, set[str]]:
    """Return whether a rule is for all objects of a tenant, and the containers with objects that others target."""
    named: set[str] = set()
    for target in {rule.target for rule in rules}:
        if target.kind is TargetKind.GROUP:
            named |= groups.get(target.tenant, frozenset())
        else:
            named.add("/".join(part for part in (target.tenant, target.container) if part))
    own = f"{tenant}/"
    return tenant in named, {text.removeprefix(own) for text in named if text.startswith(own)}


def _is_narrowed(rule: Rule) -> bool:
    some = rule.condition is not None or any(action.only for action in rule.actions)
    return some or rule.target.kind is TargetKind.OBJECT
