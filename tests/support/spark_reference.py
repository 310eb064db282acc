"""Spark's results for plain bytes, and for the output of a view's filter: many cases at once."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from storage_filters.csv.selection import CsvFormat, Selection
from storage_filters.csv.stream import first_byte, select_records
from storage_filters.wsgi.delivery import gzip_blocks
from tests.support.csv_cases import NAMES, random_predicate, random_text, random_types
from zoe_lib.domain.values.storage import CsvInput, InputRead, Pushdown, StorageObject
from zoe_lib.pushdown.predicate import columns, parse
from zoe_master.storage.input_document import input_entry

PROGRAM = """
from collections import Counter
import zoe_spark
spark.sparkContext.setLogLevel("ERROR")
def rows(told):
    frame = zoe_spark.read(spark, told)
    texts = frame.select(*[frame[f"`{name}`"].cast("string") for name in frame.columns])
    return [tuple(row) for row in texts.collect()]
found = []
for plain, view in json.load(open(paths[0])):
    expected, shown = Counter(rows(plain)), Counter(rows(view))
    missing, surplus = list((expected - shown).elements()), list((shown - expected).elements())
    found.append({"rows": expected.total(), "missing": missing[:9], "surplus": surplus[:9]})
print(json.dumps(found))
"""
PROPERTIES = {
    "spark_sql_session_timeZone": "Europe/Paris",
    "spark_sql_shuffle_partitions": "1",
    "spark_sql_files_openCostInBytes": "0",
    "spark_driver_memory": "1g",
}


@dataclass
class Group:
    """Files read in the same way; each of them is a case."""

    asked: Pushdown
    csv: CsvInput
    files: list[bytes] = field(default_factory=list)


def group_of(seed: int, files: int) -> Group:
    """Return a random group, with predicates on any column."""
    chance = random.Random(seed)
    types = random_types(chance)
    wanted = chance.choice([("b",), ("c", "a"), ("a",), ("a", "b", "c"), ("a", "b", "c"), ()])
    # Only columns that are wanted have types in a description.
    types = {name: types[name] for name in wanted if name in types}
    where = random_predicate(chance, types) if chance.random() < 0.9 else None
    csv = CsvInput(
        delimiter=chance.choice(",,,;\t"),
        escape=chance.choice('\\\\"'),
        header=chance.random() < 0.7,
        names=NAMES,
        null_text=chance.choice(["", "", "", "x", "5"]),
    )
    if csv.header and chance.random() < 0.5:
        csv = CsvInput(csv.delimiter, csv.quote, csv.escape, csv.header, (), csv.null_text)
    found = Group(Pushdown(wanted, where, tuple(types.items())), csv)
    for _ in range(files):
        text = random_text(chance, csv.escape, 40).replace(",", csv.delimiter)
        body = (csv.delimiter.join(NAMES) + "\n" + text if csv.header else text).encode()
        if chance.random() < 0.1:
            body = body.replace("é".encode(), b"\xe9")
        found.files.append(body or b"\n")
    return found


def compared(groups: Sequence[Group], directory: Path) -> list[list[dict[str, Any]]]:
    """Write all files; return the entries for PROGRAM: how to read the plain objects and the views of each group."""
    return [list(_entries(group, directory / f"{number:04d}")) for number, group in enumerate(groups)]


def _entries(group: Group, directory: Path) -> Iterator[dict[str, Any]]:
    plain, view = directory / "plain", directory / "view"
    plain.mkdir(parents=True)
    view.mkdir()
    delivered = delivered_columns(group)
    chance = random.Random(len(group.files))
    for number, body in enumerate(group.files):
        (plain / f"{number:03d}.csv").write_bytes(body)
        # The header, if there is one, is in the first part: ranges are of 64 KiB at least.
        border = chance.randint(min(len(body) - len(body.lstrip()) + 1, len(body)), len(body))
        for start, end in ((0, border), (border, None)):
            part = selection(group, delivered, start, end)
            text = b"".join(gzip_blocks(select_records([body[first_byte(part) :]], part)))
            (view / f"{number:03d}.{start}.csv.gz").write_bytes(text)
    source = StorageObject("meters", str(plain), group.asked, group.csv)
    yield input_entry(source, InputRead("meters", str(plain)))
    yield input_entry(source, InputRead("meters", str(view), "v", delivered or NAMES))


def delivered_rows(group: Group) -> int:
    """Return how many records a view delivers of its files."""
    part = selection(group, delivered_columns(group), 0, None)
    return sum(b"".join(select_records([body], part)).count(b"\n") for body in group.files)


def delivered_columns(group: Group) -> tuple[str, ...]:
    """Return those of the view, in order; none is all."""
    looked_at = sorted(columns(parse(group.asked.where))) if group.asked.where else []
    return tuple(dict.fromkeys((*group.asked.columns, *looked_at))) if group.asked.columns else ()


def selection(group: Group, delivered: tuple[str, ...], start: int, end: int | None) -> Selection:
    csv = CsvFormat(group.csv.delimiter, group.csv.quote, group.csv.escape, group.csv.header, group.csv.null_text)
    return Selection(NAMES, delivered, group.asked.where or "", start, end, csv, dict(group.asked.types))


def differences(answers: str, groups: Sequence[Group]) -> list[tuple[Group, dict[str, Any]]]:
    """Return the groups with different rows through the view."""
    found = json.loads(answers)
    assert len(found) == len(groups)
    return [(group, entry) for group, entry in zip(groups, found, strict=True) if entry["missing"] or entry["surplus"]]
