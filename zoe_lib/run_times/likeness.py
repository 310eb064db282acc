"""Which runs of a program say something about another one, and how much an odd one counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from statistics import median

# Run times are alike up to this factor; those of less than a second always are.
_ALIKE, _SHORTEST_S = 2.0, 1.0
ODD = 1.9
"""One run alone, which no other confirms, moves an expectation by at most this factor: by less than two."""


def _numbers_matter(usual_s: Iterable[float]) -> bool:
    """Return whether numbers of a program change its run time, or may do so: `usual_s` has the usual run time for each
    set of numbers, in seconds.
    """
    seconds = [max(each_s, _SHORTEST_S) for each_s in usual_s]
    return len(seconds) < 2 or max(seconds) > _ALIKE * min(seconds)


def programs_that_tell(run_s: Mapping[str, Collection[float]], program: str) -> Collection[str]:
    """Return the programs, equal but for their numbers, whose runs tell the run time of one of them: its own, else all
    if numbers do not matter. `run_s`: the run times of each in seconds.
    """
    if run_s.get(program):
        return (program,)
    return () if _numbers_matter(median(seconds) for seconds in run_s.values() if seconds) else run_s.keys()
