"""Operations per second on the objects of rules with metrics, from the frequent reports of proxies."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Mapping

from storage_filters.rules.documents import RuleBook
from storage_filters.rules.metrics import WINDOW_S, Values, values_of, values_to_send
from storage_filters.rules.rules import Rule, metrics_of

Counts = Mapping[int, Mapping[str, int]]
"""Operations by rule and direction (`get`, `put`)."""


class OperationMeter:
    """Averages over the last seconds. Times are of the monotonic clock."""

    def __init__(self) -> None:
        self._reports: deque[tuple[float, Counts]] = deque()
        self._told: dict[int, Values] = {}

    @property
    def sent_values(self) -> Mapping[int, Values]:
        """Return the last values sent to the proxies, by rule."""
        return self._told

    def add(self, counts: Counts, at_s: float) -> None:
        """Record the counts of a proxy since its last report."""
        if counts:
            self._reports.append((at_s, counts))

    def metrics(
        self, book: RuleBook, now_s: float, added: Callable[[Rule], Values] = lambda _: {}
    ) -> Mapping[int, Values]:
        """Return the values for the proxies, for each rule with metrics; they change when a comparison does. added: the
        values of metrics that proxies do not count.
        """
        while self._reports and self._reports[0][0] <= now_s - WINDOW_S:
            self._reports.popleft()
        sums: dict[tuple[int, str], int] = defaultdict(int)
        for _, counts in self._reports:
            for rule, directions in counts.items():
                for direction, count in directions.items():
                    sums[rule, direction] += count
        self._told = {
            rule.id: values_to_send(
                rule,
                self._told.get(rule.id),
                {**values_of(sums[rule.id, "get"] / WINDOW_S, sums[rule.id, "put"] / WINDOW_S), **added(rule)},
            )
            for rule in book.rules
            if metrics_of(rule)
        }
        return self._told
