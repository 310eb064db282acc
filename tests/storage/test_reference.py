"""Spark itself is the reference: from plain bytes and from what a view delivers of them it reads the same rows.

One session of Spark reads all cases, plain and filtered, through the module that applications get.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from tests.support.csv_cases import BIG, NAMES
from tests.support.long import of_storage
from tests.support.object_store import Person, definition
from tests.support.spark import local_driver, spark_driver
from tests.support.spark_reference import (
    PROGRAM,
    PROPERTIES,
    Group,
    compared,
    delivered_columns,
    delivered_rows,
    differences,
    group_of,
)
from zoe_embedded.runtimes.runtime import Runtime
from zoe_embedded.swift.store import ObjectStore
from zoe_lib.domain.values.storage import CsvInput, InputRead, Pushdown, StorageObject
from zoe_master.storage.input_document import input_entry

FILES, GROUPS, GROUPS_OF_LONG = 10, 12, 400
WITH_NAMES = CsvInput(header=False, names=("a", "b", "c"))


def asked(where: str | None, *wanted: str, **types: str) -> Pushdown:
    return Pushdown(wanted, where, tuple((name, kind.replace("_", ",")) for name, kind in types.items()))


def group(pushdown: Pushdown, *lines: str | bytes, csv: CsvInput = WITH_NAMES) -> Group:
    """Each line is a separate object: a lost row in one does not hide behind others."""
    return Group(pushdown, csv, [line.encode() if isinstance(line, str) else line for line in lines])


IDS = [f"{BIG + i},x,y" for i in range(-3, 4)]
NUMBERS = [
    "5.0",
    " 5.0",
    "5.0 ",
    "7d",
    "7f",
    "0x10p0",
    "NaN",
    "Infinity",
    "-Infinity",
    "Inf",
    "-Inf",
    "1e400",
    "n/a",
    "",
]
OF_NUMBERS = [f"1,{number},z" for number in NUMBERS]
OUT_OF_RANGE = [
    f"{number},x,y" for number in ("127", "128", "-128", "-129", "2147483648", "9223372036854775808", "99e9")
]
DAYS = ["2015-01-31", "2015-1-31", "2015-02-29", "2015-02-01", " 2015-01-31", "2015-01-31 12:00:00", "2015", "x", ""]
OF_DAYS = [f"1,{day},z" for day in DAYS]
TIMES = [
    *DAYS,
    "2015-03-29 02:30:00",
    "2015-03-29 03:30:00",
    "2015-03-29T01:59:59",
    "2015-03-28 23:00:00Z",
    "2014-01-01",
]
WORDS = [f"1,{word}," for word in ("true", "TRUE", "t", "1", "falſe")]
OF_TIMES = [f"1,{time},z" for time in TIMES]
NAMED: dict[str, Group] = {
    "64 bits, greater": group(asked(f"a > {BIG}", "a", a="long"), *IDS),
    "64 bits, equal": group(asked(f"a = {BIG}", "a", a="long"), *IDS),
    "64 bits, other": group(asked(f"a != {BIG}", "a", a="long"), *IDS),
    "64 bits, no type": group(asked(f"a > {BIG}", "a"), *IDS),
    "64 bits as decimals": group(asked(f"a >= {BIG}.5", "a", a="decimal(30_2)"), *IDS),
    "blanks around numbers": group(asked("b >= 5", "a", "b", b="double"), *OF_NUMBERS),
    "not a number is the greatest": group(asked("b > 1e300", "b", b="double"), *OF_NUMBERS),
    "the opposite of an uncertain value": group(asked("not (b < 6)", "b", b="double"), *OF_NUMBERS),
    "numbers that are null": group(asked("b is null", "a", "b", b="double"), *OF_NUMBERS),
    "single precision": group(asked("b <= 16777216", "b", b="float"), "1,16777217,", "1,16777218,", *OF_NUMBERS),
    "no type, and a number": group(asked("b > 4", "b"), *OF_NUMBERS),
    "bytes out of range": group(asked("a < 0 or a >= 0", "a", a="byte"), *OUT_OF_RANGE),
    "integers out of range": group(asked("a is null", "a", "b", a="int"), *OUT_OF_RANGE),
    "longs out of range": group(asked("not (a = 127)", "a", a="long"), *OUT_OF_RANGE),
    "days": group(asked("b >= '2015-01-31'", "b", b="date"), *OF_DAYS),
    "days before": group(asked("not (b > '2015-01-31')", "b", b="date"), *OF_DAYS),
    "times at a change of the clock": group(asked("b < '2015-03-29 03:00:00'", "b", b="timestamp"), *OF_TIMES),
    "a time that is none": group(asked("b = '2015-03-29 02:30:00'", "b", b="timestamp"), *OF_TIMES),
    "truth": group(asked("b = 'true'", "a", "b", b="boolean"), *WORDS),
    "a quoted empty field": group(asked("b is null", "a", "b"), '1,"",x', "2,,x", '3," ",x', '4,"x",x', '5,""'),
    "a quoted empty field, and not null": group(asked("b is not null", "b"), '1,"",x', "2,,x", '3," ",x', '4,"x",x'),
    "an empty text": group(asked("b = ''", "b"), '1,"",x', "2,,x", '3," ",x'),
    "a single blank column": group(
        asked(None, "b"), "1, ,x", "2,,x", '3," ",x', '4,"",x', "5,\t,x", "6", "7,x,y", "8,\0,y"
    ),
    "lines of blanks": group(asked(None), "1,a,x\n   \n2,b,y\n \t \n,,\n", "\n\n\n", " "),
    "lines of blanks between tabs": group(
        asked(None, "b", "c"), "1\t\t\n\t\t\n\t\t x\n2\t \t\n", csv=CsvInput("\t", header=False, names=("a", "b", "c"))
    ),
    "a bare carriage return": group(
        asked("b = 'b'", "a"), "1,b,x\r2,b,y\r\n3,b,z\r\r\n4,c,x\r", '5,"b\rb",x\n6,b,', "7,b\r"
    ),
    "a carriage return behind the header": group(asked("b = 'b'", "a"), "a,b,c\r1,b,x\r2,c,y", csv=CsvInput()),
    "blank lines before the header": group(asked("b = 'b'", "a"), "\n  \na,b,c\n1,b,x\n2,c,y", csv=CsvInput()),
    "doubled quotes": group(asked('b = \'"a""b"\'', "b", "a"), '1,"a""b",x', '2,"a\\"b",x', '3,"ab",x'),
    "quotes without sense": group(
        asked("b != 'q'", "b", "c"), '1,"a"b,x', '2,"a" ,x', '3,"a,x', '4,a"b,x', '5,"a"",b",x'
    ),
    "the same, escaped by quotes": group(
        asked("b != 'q'", "b", "c"),
        '1,"a"b,x',
        '2,"a""b",x',
        '3,"a""",x',
        '4,"""a",x',
        '5,"a"",b",x',
        csv=CsvInput(escape='"', header=False, names=("a", "b", "c")),
    ),
    "other text than UTF-8": group(
        asked("b >= 'Nice\ufffd'", "b"), b"1,Nice\xe9,x", "2,Nicé,x", b"3,\xff,\xe9", "4,Nicd,x"
    ),
    "a mark before UTF-8": group(
        asked("a = '1'", "a", "b"), b"\xef\xbb\xbf1,b,x\n1,\xef\xbb\xbfb,y\n", b"1,b,x\n\xef\xbb\xbf1,b,y"
    ),
    "a value that begins with the mark": group(asked(None, "b"), "1,\ufeffb,x\n2,c,y", '1,"\ufeffb",x'),
    "null texts": group(
        asked("b is not null and a > 1", "b", a="int"),
        "2,NA,x",
        '3,"NA",x',
        "4,,x",
        '5,"",x',
        "6,NAN,x",
        "NA,x,x",
        csv=CsvInput(header=False, names=("a", "b", "c"), null_text="NA"),
    ),
    "a single column of null texts": group(
        asked(None, "b"),
        "2,NA,x\n4,,x\n",
        '5,"",x',
        "7,x,",
        csv=CsvInput(header=False, names=("a", "b", "c"), null_text="NA"),
    ),
    "missing and surplus fields": group(asked("c is null", "a", "c"), "1", "2,b", "3,b,c", "4,b,c,d", ",", "5,b,,d"),
    "a header in one object, another in the next": group(
        asked("a > 1", "b", a="int"), "a,b,c\n2,x,\n", "c,b,a\n3,y,\n", csv=CsvInput()
    ),
}


def exhaustive(csv: CsvInput, length: int) -> Group:
    """Every line of so many signs at most."""
    signs = sorted({"a", " ", csv.delimiter, csv.quote, csv.escape})
    lines = ("".join(line) for n in range(1, length + 1) for line in product(signs, repeat=n))
    return Group(Pushdown(("c", "a", "b")), csv, ["\n".join(lines).encode()])


EXHAUSTIVE = [
    exhaustive(WITH_NAMES, 6),
    exhaustive(CsvInput(escape='"', header=False, names=("a", "b", "c")), 6),
    exhaustive(CsvInput(";", "'", "^", header=False, names=("a", "b", "c")), 5),
    exhaustive(CsvInput("\t", header=False, names=("a", "b", "c")), 5),
]


def check(groups: Sequence[Group], spark: Runtime, directory: Path) -> None:
    cases = directory / "cases.json"
    cases.write_text(json.dumps(compared(groups, directory)))
    done = local_driver(spark, directory).run(PROGRAM, str(cases), **PROPERTIES)
    wrong = differences(done.stdout.splitlines()[-1], groups)
    assert not wrong, "\n".join(f"{group.asked} {group.csv}: {told}" for group, told in wrong)


def test_spark_reads_the_same_rows_from_plain_bytes_and_from_a_view(spark: Runtime, tmp_path: Path) -> None:
    groups = [*NAMED.values(), *EXHAUSTIVE, *(group_of(seed, FILES) for seed in range(GROUPS))]
    assert sum(len(group.files) for group in groups) > 250
    check(groups, spark, tmp_path)


@of_storage
def test_spark_reads_the_same_rows_in_thousands_of_cases(spark: Runtime, tmp_path: Path) -> None:
    for first in range(GROUPS, GROUPS + GROUPS_OF_LONG, 100):
        (tmp_path / str(first)).mkdir()
        check([group_of(seed, FILES) for seed in range(first, first + 100)], spark, tmp_path / str(first))


def in_swift(groups: Sequence[Group], ann: Person, admin: Person) -> list[list[dict[str, Any]]]:
    """As `compared`, of objects in Swift and of views that its proxy makes of them."""
    found = []
    for number, group in enumerate(groups):
        container, csv = f"reference-{number}", group.csv
        ann.put(container)
        for place, body in enumerate(group.files):
            ann.put(f"{container}/data/{place:03d}.csv", body)
        columns = delivered_columns(group)
        view = f"zoe-view-reference-{number}"
        signs = {"delimiter": csv.delimiter, "quote": csv.quote, "escape": csv.escape, "header": csv.header}
        more = {"names": list(csv.names)} if csv.names else {}
        wanted = {"columns": list(columns), "where": group.asked.where or "", "types": dict(group.asked.types), **more}
        admin.put(view, **definition(container, prefix="data", csv=signs | {"null_text": csv.null_text}, **wanted))
        source = StorageObject("meters", f"swift2d://{container}.zoe/data", group.asked, csv)
        plain = input_entry(source, InputRead("meters", source.uri))
        read = InputRead("meters", f"swift2d://{view}.zoe/data", "v", columns or NAMES)
        found.append([plain, input_entry(source, read)])
    return found


@of_storage
def test_spark_reads_the_same_rows_from_plain_objects_and_views_of_a_real_swift(
    swift: ObjectStore, ann: Person, admin: Person, spark: Runtime, tmp_path: Path
) -> None:
    groups = list(NAMED.values())
    cases = tmp_path / "cases.json"
    cases.write_text(json.dumps(in_swift(groups, ann, admin)))
    done = spark_driver(spark, swift, "acme:ann", tmp_path).run(PROGRAM, str(cases), **PROPERTIES)
    wrong = differences(done.stdout.splitlines()[-1], groups)
    assert not wrong, "\n".join(f"{group.asked} {group.csv}: {told}" for group, told in wrong)


@pytest.mark.parametrize(
    ("name", "rows"),
    [("64 bits, greater", 3), ("64 bits, equal", 1), ("days before", 7), ("bytes out of range", 2), ("null texts", 2)],
)
def test_a_view_leaves_out_what_cannot_be_wanted(name: str, rows: int) -> None:
    """Else a filter that keeps everything would do."""
    assert delivered_rows(NAMED[name]) == rows
