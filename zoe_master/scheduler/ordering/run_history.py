"""Predict the next run time from ended runs of the same kind. Pure; the master and replays of logs both use it.

Tsafrir, Etsion and Feitelson, "Backfilling using system-generated predictions rather than user runtime estimates", IEEE
TPDS 18(6), 2007: the mean of the last two runs predicts as well as longer histories do, and follows changes at once."""

from __future__ import annotations

from collections import OrderedDict

from zoe_master.scheduler.ordering.estimate import RunKey

_RUNS_AVERAGED = 2
_KINDS_MAX = 20_000


class RecentRunTimes:
    """The mean run time of the last two ended runs of each kind."""

    def __init__(self) -> None:
        self._runs: OrderedDict[RunKey, tuple[float, ...]] = OrderedDict()

    def learn(self, kind: RunKey, ran_s: float) -> None:
        """Add a run that has ended. Beyond 20,000 kinds, the least recently ended one is forgotten."""
        earlier = self._runs.pop(kind, ())
        self._runs[kind] = (*earlier, max(ran_s, 0.0))[-_RUNS_AVERAGED:]
        if len(self._runs) > _KINDS_MAX:
            self._runs.popitem(last=False)

    def expected_s(self, kind: RunKey, least: int = 1) -> float | None:
        """Return the expected run time in seconds; None before `least` runs of the kind have ended."""
        runs = self._runs.get(kind, ())
        return None if len(runs) < max(least, 1) else sum(runs) / len(runs)
