"""Smart-meter readings for `energy-report.json`: made by a seed, and the report's answer computed without Spark.

How `make demo` uses it, with W the tenant's workspace directory:

    data = W / "energy-report" / "readings"
    if not is_complete(data, rows, seed):
        generate(data, rows=rows, seed=seed, progress=bar)   # bar(rows_done, rows_total)
    copy energy_report.py to W / "energy-report"; submit energy-report.json; wait
    right = json.loads((W / "energy-report/result/result.json").read_text()) == expected_report(data)

or, without Python glue: `python energy_data.py generate DIRECTORY` and `python energy_data.py expected DIRECTORY`.
The files must be readable, and W/energy-report writable, by the user that components run as.
"""

from __future__ import annotations

import argparse
import csv
import json
import shutil
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

HEADER = ("vid", "date", "index", "sumHC", "sumHP", "type", "size", "temp", "city", "region", "lat", "lng")
CITIES = (
    ("Nice", "Provence-Alpes-Cote d'Azur", "43.7034", "7.2663", 16),
    ("Marseille", "Provence-Alpes-Cote d'Azur", "43.2965", "5.3698", 15),
    ("Paris", "Ile-de-France", "48.8566", "2.3522", 12),
    ("Versailles", "Ile-de-France", "48.8014", "2.1301", 11),
    ("Lille", "Hauts-de-France", "50.6292", "3.0573", 10),
    ("Rennes", "Bretagne", "48.1173", "-1.6778", 12),
    ("Brest", "Bretagne", "48.3904", "-4.4861", 11),
    ("Lyon", "Auvergne-Rhone-Alpes", "45.7640", "4.8357", 12),
    ("Grenoble", "Auvergne-Rhone-Alpes", "45.1885", "5.7245", 11),
    ("Bordeaux", "Nouvelle-Aquitaine", "44.8378", "-0.5792", 13),
)
TYPES = ("apartment", "house", "office", "shop")
ROWS_PER_METER = 1000
PARTS = 8
MARKER = "_dataset.json"
"""File that records the arguments, written last; Spark skips files whose names start with an underscore."""

Progress = Callable[[int, int], None]


def generate(
    directory: Path,
    rows: int = 2_000_000,
    seed: int = 20_150_101,
    progress: Progress | None = None,
    parts: int = PARTS,
) -> None:
    """Write `rows` hourly readings into at most `parts` CSV files, replacing the contents of the directory.

    The same rows and seed give the same bytes. Each meter has 1,000 readings; the last meter has the rest.
    """
    partial = directory.with_name(directory.name + ".part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    meters = -(-rows // ROWS_PER_METER)
    parts = min(parts, max(1, meters))
    start = datetime(2015, 1, 1, tzinfo=UTC)
    hours = (start + timedelta(hours=hour) for hour in range(min(rows, ROWS_PER_METER)))
    dates = [hour.strftime("%Y-%m-%d %H:%M:%S") for hour in hours]
    done = 0
    for part in range(parts):
        with (partial / f"part-{part:02}.csv").open("w", encoding="ascii", newline="") as file:
            file.write(",".join(HEADER) + "\n")
            for meter in range(part, meters, parts):
                count = min(ROWS_PER_METER, rows - meter * ROWS_PER_METER)
                file.writelines(_readings(meter, seed, dates[:count]))
                done += count
                if progress:
                    progress(done, rows)
    (partial / MARKER).write_text(json.dumps({"rows": rows, "seed": seed}), "ascii")
    shutil.rmtree(directory, ignore_errors=True)
    partial.rename(directory)


def is_complete(directory: Path, rows: int = 2_000_000, seed: int = 20_150_101) -> bool:
    """True when the directory holds exactly what `generate` would write."""
    try:
        marker: object = json.loads((directory / MARKER).read_text("ascii"))
    except (OSError, ValueError):
        return False
    return marker == {"rows": rows, "seed": seed}


def _readings(meter: int, seed: int, dates: list[str]) -> Iterator[str]:
    """One meter's lines: two counters in watt-hours that only grow (off-peak at night) and a temperature."""
    random = np.random.default_rng((seed, meter))
    city, region, lat, lng, mean = CITIES[int(random.integers(len(CITIES)))]
    kind, size = TYPES[int(random.integers(len(TYPES)))], int(random.integers(20, 200))
    hours = np.arange(len(dates))
    off_peak = hours % 24 < 8
    load = random.integers(size, 12 * size, len(dates))
    low = (np.cumsum(np.where(off_peak, load, 0)) + int(random.integers(1_000_000))).tolist()
    high = (np.cumsum(np.where(off_peak, 0, load)) + int(random.integers(1_000_000))).tolist()
    swing = 60 * np.sin((hours % 24 - 9) * np.pi / 12) + random.integers(-40, 40, len(dates))
    tenths = (10 * mean + swing).astype(int).tolist()
    head, tail = f"METER{meter:06}", f"{city},{region},{lat},{lng}\n"
    for date, hc, hp, tenth in zip(dates, low, high, tenths, strict=True):
        yield f"{head},{date},{hc + hp},{hc},{hp},{kind},{size},{tenth / 10},{tail}"


def expected_report(directory: Path) -> list[dict[str, object]]:
    """Return the rows that `energy_report.py` must compute, by one pass over the files without Spark."""
    meters: dict[tuple[str, str, str], list[float]] = {}
    for path in sorted(directory.glob("part-*.csv")):
        with path.open(encoding="ascii", newline="") as file:
            lines = csv.reader(file)
            next(lines)
            for line in lines:
                _add(meters, (line[0], line[9], line[5]), int(line[3]), int(line[4]), float(line[7]))
    groups: dict[tuple[str, str], list[list[float]]] = {}
    for (_, region, kind), seen in meters.items():
        groups.setdefault((region, kind), []).append(seen)
    return [_row(region, kind, groups[region, kind]) for region, kind in sorted(groups)]


def _add(
    meters: dict[tuple[str, str, str], list[float]], key: tuple[str, str, str], hc: int, hp: int, temp: float
) -> None:
    seen = meters.get(key)
    if seen is None:
        meters[key] = [1, hc, hc, hp, hp, temp, temp]
        return
    seen[0] += 1
    # Independent of the order of lines: minimum and maximum of both counters and of the temperature.
    seen[1] = min(seen[1], hc)
    seen[2] = max(seen[2], hc)
    seen[3] = min(seen[3], hp)
    seen[4] = max(seen[4], hp)
    seen[5] = min(seen[5], temp)
    seen[6] = max(seen[6], temp)


def _row(region: str, kind: str, meters: list[list[float]]) -> dict[str, object]:
    off_peak = sum(meter[2] - meter[1] for meter in meters)
    peak = sum(meter[4] - meter[3] for meter in meters)
    return {
        "region": region,
        "type": kind,
        "meters": len(meters),
        "readings": sum(meter[0] for meter in meters),
        "off_peak_wh": off_peak,
        "peak_wh": peak,
        "consumption_wh": off_peak + peak,
        "temp_min": min(meter[5] for meter in meters),
        "temp_max": max(meter[6] for meter in meters),
    }


def main() -> None:
    """Generate a data set, or print the expected report of one."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("action", choices=("generate", "expected"))
    parser.add_argument("directory", type=Path)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--seed", type=int, default=20_150_101)
    arguments = parser.parse_args()
    if arguments.action == "generate":
        generate(arguments.directory, arguments.rows, arguments.seed)
    else:
        print(json.dumps(expected_report(arguments.directory), indent=1))


if __name__ == "__main__":
    main()
