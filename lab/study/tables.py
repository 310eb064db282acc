"""The tables of the study, in Markdown: means over seeds, and paired ratios with their 95 % confidence intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace

from lab.study.cells import Cell
from lab.study.one_run import MEASURES, PLACES, SHARED, WISHES
from lab.study.results import Row
from zoe_simulator.measures.intervals import Interval, mean_interval, ratio_interval

# The figures of a group of runs that a table shows, in its columns.
_COLUMNS = {
    "mean_turnaround_s": "mean turnaround, s",
    "p95_turnaround_s": "p95 turnaround, s",
    "mean_bounded_slowdown": "mean bounded slowdown",
    "max_bounded_slowdown": "max. bounded slowdown",
    "mean_wait_s": "mean wait, s",
    "allocation": "allocation",
    "network_share": "share of reads over the network",
    "wishing_bounded_slowdown": "bounded slowdown of applications with a wish",
    "wish_granted": "share of their time with the preferred bandwidth",
    "interactive_wait_s": "mean wait of interactive ones, s",
    "others_bounded_slowdown": "bounded slowdown of all tenants but the largest",
}
_RATIOS = ("mean_turnaround_s", "p95_turnaround_s", "mean_bounded_slowdown", "max_bounded_slowdown")
# Rounding of sums of seconds.
_NOTHING = 1e-6
# The key of figures by seed, for all cells that differ only in the seed.
Group = dict[int, dict[str, float]]


def tables(rows: Mapping[str, Sequence[tuple[Cell, Row]]]) -> str:
    """Return all tables. Ratios are between runs on the same workload; below one is better than the other."""
    text = "# Tables of the scheduling study\n\n"
    text += "Written by `python -m lab study` from the CSV files beside it; do not edit.\n"
    for part, its_rows in rows.items():
        groups = _groups(its_rows)
        if groups:
            text += f"\n## {part.capitalize()}\n{_seeds(groups.values())}\n\n" + _part(groups)
    return text


def _seeds(groups: Collection[Group]) -> str:
    least, most = min(map(len, groups)), max(map(len, groups))
    if least == most:
        return f"{most} seeds."
    return f"{least} to {most} seeds: the study is not complete. Ratios are of pairs of the same seed."


def _groups(rows: Iterable[tuple[Cell, Row]]) -> dict[Cell, Group]:
    """Return figures by cell without its seed."""
    groups: dict[Cell, Group] = defaultdict(dict)
    for cell, row in rows:
        groups[replace(cell, seed=0)][cell.seed] = {
            name: float(row[name]) for name in (*MEASURES, *PLACES, *WISHES, *SHARED) if name in row
        }
    return dict(groups)


def _part(groups: Mapping[Cell, Group]) -> str:
    names = (name for name in next(iter(groups)).names() if name not in ("part", "seed"))
    differing = [name for name in names if len({getattr(cell, name) for cell in groups}) > 1]
    there = next(iter(next(iter(groups.values())).values()))
    measures = [measure for measure in _COLUMNS if measure in there]
    means = [[*_parameter_texts(cell, differing), *_mean_texts(group, measures)] for cell, group in groups.items()]
    text = table([*differing, *(_COLUMNS[measure] for measure in measures)], means)
    for name in differing:
        text += _ratios(groups, differing, name)
    return text


def _ratios(groups: Mapping[Cell, Group], differing: Sequence[str], name: str) -> str:
    """Return the change of each group if only `name` had its first value: pairs of the same seed."""
    base = next(iter(groups))
    reference = "fifo" if name == "order" else getattr(base, name)
    lines = []
    for cell, group in groups.items():
        other = groups.get(_with_value(cell, name, reference)) or _any_sigma(groups, _with_value(cell, name, reference))
        if getattr(cell, name) != reference and other is not None:
            lines.append([*_parameter_texts(cell, differing), *(_ratio(group, other, measure) for measure in _RATIOS)])
    if not lines:
        return ""
    head = [*differing, *(_COLUMNS[measure] for measure in _RATIOS)]
    return f"\nRatio to {name} `{reference}`, all else the same:\n\n" + table(head, lines)


def _with_value(cell: Cell, name: str, value: Hashable) -> Cell:
    return replace(cell, **{name: value})  # type: ignore[arg-type]


def _any_sigma(groups: Mapping[Cell, Group], cell: Cell) -> Group | None:
    """Return the group without errors of sizes: orders that use no sizes ran only so, and it stands for all sigmas."""
    return groups.get(replace(cell, sigma=0.0))


def _ratio(group: Group, other: Group, measure: str) -> str:
    pairs = [(group[seed][measure], other[seed][measure]) for seed in group.keys() & other.keys()]
    return _text(ratio_interval(pairs), lambda value: f"{value:.2f}")


def _mean_texts(group: Group, measures: Sequence[str]) -> list[str]:
    return [_text(mean_interval([entry[measure] for entry in group.values()]), _digits) for measure in measures]


def _text(interval: Interval, digits: Callable[[float], str]) -> str:
    if interval.low == interval.high:
        return digits(interval.middle)
    return f"{digits(interval.middle)} ({digits(interval.low)} to {digits(interval.high)})"


def _digits(value: float) -> str:
    if abs(value) < _NOTHING:
        return "0"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _parameter_texts(cell: Cell, differing: Sequence[str]) -> list[str]:
    return [
        f"{getattr(cell, name):g}" if isinstance(getattr(cell, name), float) else str(getattr(cell, name))
        for name in differing
    ]


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    rule = ["---"] * len(head)
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, rule, *lines))
