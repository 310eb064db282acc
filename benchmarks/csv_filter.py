"""Cost of pushdown for the store: megabytes of CSV per second of one core, without and with types of columns.

    .venv/bin/python -m benchmarks.csv_filter [KIND ...]

Seconds are CPU seconds of the process, so that other work on the machine hardly counts; the median of five runs.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator

from benchmarks.support import machine
from storage_filters.csv.selection import CsvFormat, Selection
from storage_filters.csv.stream import select_records
from storage_filters.wsgi.delivery import gzip_blocks

ROWS = 300_000
RUNS = 5
CHUNK_BYTES = 64 * 1024
NAMES = ("id", "city", "pick", "kwh", *(f"c{number}" for number in range(8)))
CASES = {
    "text equal, 1 % of rows": (("id", "kwh"), "city = 'city7'"),
    "number compared, 1 % of rows": (("id", "kwh"), "kwh > 99"),
    "both, and one of a list": (("id", "kwh"), "kwh > 90 and city in ('city1', 'city2', 'city3') or pick = 5"),
    "not null": (("id", "kwh"), "city is not null and pick >= 99"),
    "2 of 12 columns, all rows": (("pick", "kwh"), ""),
    "everything": ((), ""),
}

TYPES = {"city": "string", "pick": "int", "kwh": "double"}

# Notations of the first of eight unused fields.
KINDS: dict[str, Callable[[str], str]] = {
    "plain": lambda text: text,
    "quoted": lambda text: f'"{text}, too"',
    "doubled": lambda text: f'"{text}, ""too"""',
    "escaped": lambda text: f'"{text}, \\"too\\""',
    "inches": lambda text: f'{text} 19"',
    "mixed": lambda text: f'{text} 19"',
}


def content(kind: str) -> bytes:
    """Return readings of 100 cities, with one field of each in a notation of `KINDS`.

    `ragged`: a field is missing or surplus. `mixed`: another one is quoted, so that lines are read one by one.
    """
    numbers = random.Random(1)
    filler = [os.urandom(4).hex() for _ in range(1000)]
    lines = [",".join(NAMES)]
    for row in range(ROWS):
        rest = numbers.choices(filler, k=8)
        if kind == "ragged":
            rest = rest[:7] if row % 2 else [*rest, "more"]
        else:
            rest[0] = KINDS[kind](rest[0])
        if kind == "mixed":
            rest[1] = f'"{rest[1]}"'
        lines.append(f"{row},city{row % 100},{numbers.randrange(100)},{numbers.random() * 100:.3f},{','.join(rest)}")
    return "\n".join(lines).encode() + b"\n"


def chunks(data: bytes) -> Iterator[bytes]:
    """Yield pieces of the object server's size."""
    return (data[start : start + CHUNK_BYTES] for start in range(0, len(data), CHUNK_BYTES))


def seconds(data: bytes, selection: Selection) -> float:
    """Return the CPU seconds of the process, compression included."""
    times = []
    for _ in range(RUNS):
        began_s = time.process_time()
        for _ in gzip_blocks(select_records(chunks(data), selection)):
            pass
        times.append(time.process_time() - began_s)
    return statistics.median(times)


def main() -> None:
    """Print a line for each case."""
    print(machine())
    for kind in sys.argv[1:] or (*KINDS, "ragged"):
        data = content(kind)
        for name, (columns, where) in CASES.items():
            rates = [
                len(data)
                / seconds(data, Selection(NAMES, columns, where, csv=CsvFormat(header=True), types=types))
                / 1e6
                for types in ({}, TYPES)
            ]
            print(f"{kind:<8}{name:<32}{rates[0]:6.0f} MB/s, with types {rates[1]:6.0f} MB/s", flush=True)


if __name__ == "__main__":
    main()
