"""The tables of the part on logs, in Markdown: every policy against FCFS with EASY, window by window."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

from lab.study.log_cells import CONDITIONS, POLICIES, LogCell
from lab.study.results import Row
from lab.study.tables import table
from zoe_simulator.measures.intervals import Interval, holm, ratio_interval, sign_flip_p

# Two measures decide. Ten seconds, the bound of the slowdown, are added to the wait, so that no ratio divides by zero.
_MEASURES = {"mean_wait_s": ("mean wait", 10.0), "mean_bounded_slowdown": ("mean bounded slowdown", 0.0)}
_INTRODUCTION = """\
# Tables of the scheduling study on published logs

Written by `python -m lab study` from `logs.csv`; do not edit. Ratios are to `fifo` with `easy` on the same window of
the same log; below one is better. They are geometric means over windows with intervals of 95 %.
"""
Policy = tuple[str, str]
# A window of a log, which takes the role of a seed.
Window = tuple[str, int]
# Per window: logarithm of the ratio, averaged over the conditions.
Logs = dict[Window, float]
Figures = Mapping[tuple[Policy, tuple[str, float], Window], Mapping[str, float]]


def log_tables(rows: Sequence[tuple[LogCell, Row]]) -> str:
    """Return all tables."""
    figures = _figures(rows)
    text = _INTRODUCTION + "\n## All conditions\n\n" + _overall(figures)
    for condition in CONDITIONS:
        population, load = condition
        name = "as logged" if load == 0 else f"{load:g}"
        text += f"\n## Population {population}, load {name}\n\n" + _of_condition(figures, condition)
    return text


def best(rows: Sequence[tuple[LogCell, Row]]) -> Policy:
    """Return the policy that wins: the least product of both ratios over all conditions."""
    figures = _figures(rows)
    return min(POLICIES, key=lambda policy: _score(figures, policy))


def _figures(rows: Sequence[tuple[LogCell, Row]]) -> Figures:
    return {
        ((cell.order, cell.backfill), (cell.population, cell.load), (cell.log, cell.window)): {
            name: float(row[name]) for name in _MEASURES
        }
        for cell, row in rows
    }


def _score(figures: Figures, policy: Policy) -> float:
    return sum(fmean(_ratios(figures, policy, measure, CONDITIONS).values() or [0.0]) for measure in _MEASURES)


def _ratios(figures: Figures, policy: Policy, measure: str, conditions: Iterable[tuple[str, float]]) -> Logs:
    """Return logarithms of ratios to the first policy, by window, where both were run."""
    plus = _MEASURES[measure][1]
    found: dict[Window, list[float]] = defaultdict(list)
    for condition in conditions:
        for (item, where, window), figure in figures.items():
            base = figures.get((POLICIES[0], condition, window))
            if item == policy and where == condition and base is not None:
                found[window].append(math.log((figure[measure] + plus) / (base[measure] + plus)))
    return {window: fmean(values) for window, values in found.items()}


def _overall(figures: Figures) -> str:
    """Return a table with one pair for each window, since conditions of a window are not independent observations."""
    compared = [policy for policy in POLICIES[1:] if _ratios(figures, policy, "mean_wait_s", CONDITIONS)]
    tested = {
        (policy, measure): sign_flip_p(list(_ratios(figures, policy, measure, CONDITIONS).values()))
        for policy in compared
        for measure in _MEASURES
    }
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    lines = []
    for policy in sorted(compared, key=lambda item: _score(figures, item)):
        line = list(policy)
        for measure in _MEASURES:
            line += [_interval(_ratios(figures, policy, measure, CONDITIONS)), f"{adjusted[policy, measure]:.3f}"]
        lines.append(line)
    head = ["order", "backfill"]
    for name, _ in _MEASURES.values():
        head += [name, "p"]
    note = (
        "The best first, by the product of both ratios. p: exact two-sided sign-flip test over windows, adjusted by "
        f"Holm for all {len(tested)} comparisons.\n\n"
    )
    return note + table(head, lines)


def _of_condition(figures: Figures, condition: tuple[str, float]) -> str:
    lines = []
    for policy in POLICIES:
        of_policy = [found for (item, where, _), found in figures.items() if (item, where) == (policy, condition)]
        if of_policy:
            means = [f"{fmean(mapping['mean_wait_s'] for mapping in of_policy):,.0f}"]
            means.append(f"{fmean(mapping['mean_bounded_slowdown'] for mapping in of_policy):,.1f}")
            ratios = [_interval(_ratios(figures, policy, measure, [condition])) for measure in _MEASURES]
            lines.append([*policy, *means, *ratios])
    names = [name for name, _ in _MEASURES.values()]
    return table(["order", "backfill", "mean wait, s", names[1], *(f"ratio of {name}" for name in names)], lines)


def _interval(ratios: Logs) -> str:
    found: Interval = ratio_interval([(math.exp(value), 1.0) for value in ratios.values()])
    if found.low == found.high:
        return f"{found.middle:.2f}"
    return f"{found.middle:.2f} ({found.low:.2f} to {found.high:.2f})"
