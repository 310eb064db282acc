"""Print the tables of docs/study/promises.md from the runs: `python -m benchmarks.promise_tables [RUNS.csv]`.

Shares of promises kept have Wilson's 95 % interval. Goodput is compared in each seed with the best of the other
strategies; the geometric mean of the ratios has its 95 % interval by Student's t.
"""

from __future__ import annotations

import csv
import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import fmean, median

from benchmarks.promises import BOTH, BOTTLENECK, CORES, NEITHER, OUT
from lab.promises.strategies import CALIBRATED, DEFAULT, EDF_EASY, OTHERS, RIVALS, RULES
from lab.promises.workload import StudyCase
from zoe_simulator.measures.intervals import ratio_interval

NAMES = {BOTTLENECK: "store", BOTH: "both", CORES: "cores", NEITHER: "neither"}
_LEAST = 0.01  # of goodput, so that a ratio exists even if nothing was in time
Row = Mapping[str, str]


def main() -> int:
    """Print all tables."""
    with (Path(sys.argv[1]) if len(sys.argv) > 1 else OUT).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    _calibration(rows)
    _use(rows)
    _by_factor(rows)
    return 0


def _calibration(rows: Sequence[Row]) -> None:
    print("### Kept\n")
    print(
        "| bottleneck | confidence | promised | refused | kept | announced of the broken | a fifth of its time ahead |"
    )
    print("|---|---|---|---|---|---|---|")
    for place, title in NAMES.items():
        for confidence, name in CALIBRATED.items():
            _print_kept(
                title, confidence, [mapping for mapping in _rows_at(rows, place) if mapping["strategy"] == name]
            )
    for confidence, name in CALIBRATED.items():
        _print_kept("all", confidence, [row for row in rows if row["strategy"] == name])


def _print_kept(what: str, confidence: str, found: Sequence[Row]) -> None:
    columns = ("kept", "made", "refused", "announced", "ahead")
    kept, made, refused, announced, ahead = (_sum(found, column) for column in columns)
    if made:
        share, low, high = wilson(kept, made)
        said = f"{share:.1%} ({low:.1%} to {high:.1%})"
        print(f"| {what} | {confidence} | {made} | {refused} | {said} | {announced} of {made - kept} | {ahead} |")


def _use(rows: Sequence[Row]) -> None:
    for place, title in NAMES.items():
        here = _rows_at(rows, place)
        seeds = _complete_seeds(here)
        if not seeds:
            continue
        loads = f"loads of cores {place[0]}, of the store {place[1]}"
        print(f"\n### Worth, bottleneck: {title} ({loads}; {len(seeds)} seeds)\n")
        print("| strategy | goodput | of the best other | wins | late | slowdown | of the default's | unused |")
        print("|---|---|---|---|---|---|---|---|")
        best = {
            seed: max(_goodput(here, seed, name) for name in OTHERS if _has_row(here, seed, name)) for seed in seeds
        }
        for name in (*RULES, *RIVALS):
            mine = [entry for entry in here if entry["strategy"] == name and entry["seed"] in seeds]
            if mine:
                _line(name, mine, here, best)


def _line(name: str, mine: Sequence[Row], here: Sequence[Row], best: Mapping[str, float]) -> None:
    pairs = [(max(float(entry["goodput"]), _LEAST), max(best[entry["seed"]], _LEAST)) for entry in mine]
    ratio = ratio_interval(pairs)
    wins = sum(first >= second for first, second in pairs)
    slower = median(float(entry["slowdown"]) / _figure(here, entry["seed"], DEFAULT, "slowdown") for entry in mine)
    mean = {
        column: fmean(float(entry[column]) for entry in mine) for column in ("goodput", "late", "slowdown", "unused")
    }
    print(
        f"| {name} | {mean['goodput']:.3f} | {ratio.middle:.3f} ({ratio.low:.3f} to {ratio.high:.3f}) "
        f"| {wins} of {len(pairs)} | {mean['late']:.3f} | {mean['slowdown']:.2f} | {slower:.2f} "
        f"| {mean['unused']:.2f} |"
    )


def _by_factor(rows: Sequence[Row]) -> None:
    factors: Mapping[str, Callable[[StudyCase], object]] = {
        "sigma": lambda case: case.sigma,
        "asking": lambda case: case.asking,
        "drift": lambda case: case.drifts,
        "nodes fail": lambda case: case.fails,
        "log": lambda case: case.log.partition("-")[0],
    }
    print("\n### By what a seed is drawn from, over all loads\n")
    print("| factor | kept of 50 % | kept of 90 % | goodput of promises 50 % | of EDF + EASY |")
    print("|---|---|---|---|---|")
    for title, value in factors.items():
        groups: dict[object, list[Row]] = {}
        for row in rows:
            groups.setdefault(value(StudyCase(int(row["seed"]), 1.0, 1.0)), []).append(row)
        for key, found in sorted(groups.items(), key=lambda item: str(item[0])):
            cells = [_share(found, CALIBRATED[confidence]) for confidence in ("50%", "90%")]
            cells += [f"{_mean(found, name):.3f}" for name in ("promises 50 %", EDF_EASY)]
            print(f"| {title} {key} | {' | '.join(cells)} |")


def _share(rows: Iterable[Row], name: str) -> str:
    found = [row for row in rows if row["strategy"] == name]
    share, low, high = wilson(_sum(found, "kept"), _sum(found, "made"))
    return f"{share:.1%} ({low:.1%} to {high:.1%})"


def _mean(rows: Iterable[Row], name: str) -> float:
    return fmean(float(row["goodput"]) for row in rows if row["strategy"] == name)


def _rows_at(rows: Iterable[Row], place: tuple[float, float]) -> list[Row]:
    return [row for row in rows if (float(row["cores_load"]), float(row["store_load"])) == place]


def _complete_seeds(here: Sequence[Row]) -> list[str]:
    """Return the seeds with runs of the default policy."""
    return sorted({entry["seed"] for entry in here if entry["strategy"] == DEFAULT}, key=int)


def _has_row(here: Sequence[Row], seed: str, name: str) -> bool:
    return any(entry["seed"] == seed and entry["strategy"] == name for entry in here)


def _goodput(here: Sequence[Row], seed: str, name: str) -> float:
    return _figure(here, seed, name, "goodput")


def _figure(here: Sequence[Row], seed: str, name: str, column: str) -> float:
    return next(float(entry[column]) for entry in here if entry["seed"] == seed and entry["strategy"] == name)


def _sum(rows: Iterable[Row], column: str) -> int:
    return sum(int(row[column]) for row in rows)


def wilson(good: int, of: int) -> tuple[float, float, float]:
    """Return a share with its 95 % interval."""
    if not of:
        return 0.0, 0.0, 1.0
    z, share = 1.96, good / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return share, middle - half, middle + half


if __name__ == "__main__":
    sys.exit(main())
