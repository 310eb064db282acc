"""Scores that published work found good and cheap: the lowest is served first.

WFP3 and UNICEF: Tang, Lan, Desai, Buettner, "Fault-aware, utility-based job scheduling on Blue Gene/P systems", IEEE
CLUSTER 2009. F1 to F4: Carastan-Santos and de Camargo, "Obtaining dynamic scheduling policies with simulation and
machine learning", SC 2017, which compares with the other two. Their letters: w is the wait, r the expected run time, n
the processors, and s the arrival, counted from the start of a log.
"""

from __future__ import annotations

import math
from collections.abc import Callable

# Compute a score from r, n and s.
ByArrival = Callable[[float, float, float], float]

# An installation has no start of a log, so arrivals count from this long ago: about the length of a sequence from which
# such orders are learned, so that arrivals have the same weight. Executions that have waited longer come before all
# others.
WINDOW_S = 15 * 86_400.0
# Of `learned_ratio`: everything has waited this long already, and takes this much longer.
HEAD_START_S, SHORT_S = 14_400.0, 600.0


def wfp3(wait_s: float, run_s: float, cores: float) -> float:
    """Return -(w / r)^3 n."""
    return -((wait_s / run_s) ** 3) * cores


def unicef(wait_s: float, run_s: float, cores: float) -> tuple[float, float]:
    """Return -w / (log2(n) r). On one core that is infinite: these come first, by -w / r."""
    if cores <= 1:
        return (0.0, -wait_s / run_s)
    return (1.0, -wait_s / (math.log2(cores) * run_s))


def learned_ratio(wait_s: float, run_s: float) -> float:
    """Return -(w + 4 h) / (r + 10 min): the slowdown so far, as if everything had already waited for four hours.

    Newly submitted executions, however short, pass one only until it has waited for 24 r. Chosen on the first halves of
    whole logs (decision 54).
    """
    return -(wait_s + HEAD_START_S) / (run_s + SHORT_S)


def f1(run_s: float, cores: float, at_s: float) -> float:
    """Return log10(r) n + 870 log10(s)."""
    return math.log10(run_s) * cores + 8.70e2 * math.log10(at_s)


def f2(run_s: float, cores: float, at_s: float) -> float:
    """Return sqrt(r) n + 25,600 log10(s)."""
    return math.sqrt(run_s) * cores + 2.56e4 * math.log10(at_s)


def f3(run_s: float, cores: float, at_s: float) -> float:
    """Return r n + 6,860,000 log10(s)."""
    return run_s * cores + 6.86e6 * math.log10(at_s)


def f4(run_s: float, cores: float, at_s: float) -> float:
    """Return r sqrt(n) + 530,000 log10(s)."""
    return run_s * math.sqrt(cores) + 5.30e5 * math.log10(at_s)


def arrival_in_window(waited_s: float) -> float:
    """Return s of an execution that arrived this long ago, at least 1."""
    return max(WINDOW_S - waited_s, 1.0)
