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
            _kept(title, confidence, [one for one in _at(rows, place) if one["strategy"] == name])
    for confidence, name in CALIBRATED.items():
        _kept("all", confidence, [one for one in rows if one["strategy"] == name])


def _kept(what: str, confidence: str, found: Sequence[Row]) -> None:
    columns = ("kept", "made", "refused", "announced", "ahead")
    kept, made, refused, announced, ahead = (_sum(found, column) for column in columns)
    if made:
        share, low, high = wilson(kept, made)
        said = f"{share:.1%} ({low:.1%} to {high:.1%})"
        print(f"| {what} | {confidence} | {made} | {refused} | {said} | {announced} of {made - kept} | {ahead} |")


def _use(rows: Sequence[Row]) -> None:
    for place, title in NAMES.items():
        here = _at(rows, place)
        seeds = _whole(here)
        if not seeds:
            continue
        loads = f"loads of cores {place[0]}, of the store {place[1]}"
        print(f"\n### Worth, bottleneck: {title} ({loads}; {len(seeds)} seeds)\n")
        print("| strategy | goodput | of the best other | wins | late | slowdown | of the default's | unused |")
        print("|---|---|---|---|---|---|---|---|")
        best = {seed: max(_goodput(here, seed, name) for name in OTHERS if _has(here, seed, name)) for seed in seeds}
        for name in (*RULES, *RIVALS):
            mine = [one for one in here if one["strategy"] == name and one["seed"] in seeds]
            if mine:
                _line(name, mine, here, best)


def _line(name: str, mine: Sequence[Row], here: Sequence[Row], best: Mapping[str, float]) -> None:
    pairs = [(max(float(one["goodput"]), _LEAST), max(best[one["seed"]], _LEAST)) for one in mine]
    ratio = ratio_interval(pairs)
    wins = sum(first >= second for first, second in pairs)
    slower = median(float(one["slowdown"]) / _figure(here, one["seed"], DEFAULT, "slowdown") for one in mine)
    mean = {column: fmean(float(one[column]) for one in mine) for column in ("goodput", "late", "slowdown", "unused")}
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
        for one in rows:
            groups.setdefault(value(StudyCase(int(one["seed"]), 1.0, 1.0)), []).append(one)
        for key, found in sorted(groups.items(), key=lambda item: str(item[0])):
            cells = [_share(found, CALIBRATED[confidence]) for confidence in ("50%", "90%")]
            cells += [f"{_mean(found, name):.3f}" for name in ("promises 50 %", EDF_EASY)]
            print(f"| {title} {key} | {' | '.join(cells)} |")


def _share(rows: Iterable[Row], name: str) -> str:
    found = [one for one in rows if one["strategy"] == name]
    share, low, high = wilson(_sum(found, "kept"), _sum(found, "made"))
    return f"{share:.1%} ({low:.1%} to {high:.1%})"


def _mean(rows: Iterable[Row], name: str) -> float:
    return fmean(float(one["goodput"]) for one in rows if one["strategy"] == name)


def _at(rows: Iterable[Row], place: tuple[float, float]) -> list[Row]:
    return [one for one in rows if (float(one["cores_load"]), float(one["store_load"])) == place]


def _whole(here: Sequence[Row]) -> list[str]:
    """Return the seeds with runs of the default policy."""
    return sorted({one["seed"] for one in here if one["strategy"] == DEFAULT}, key=int)


def _has(here: Sequence[Row], seed: str, name: str) -> bool:
    return any(one["seed"] == seed and one["strategy"] == name for one in here)


def _goodput(here: Sequence[Row], seed: str, name: str) -> float:
    return _figure(here, seed, name, "goodput")


def _figure(here: Sequence[Row], seed: str, name: str, column: str) -> float:
    return next(float(one[column]) for one in here if one["seed"] == seed and one["strategy"] == name)


def _sum(rows: Iterable[Row], column: str) -> int:
    return sum(int(one[column]) for one in rows)


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
