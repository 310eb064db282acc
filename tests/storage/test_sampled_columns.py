"""Types that Spark infers from a sample are shown, to be written into a description, and fit it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from storage_bridge.zoe_spark import SAMPLE_LINES
from tests.support.documents import job
from tests.support.long import of_storage
from tests.support.object_store import Person
from tests.support.spark import spark_driver
from zoe_embedded.runtimes.runtime import Runtime
from zoe_embedded.swift.store import ObjectStore
from zoe_lib.descriptions import parse
from zoe_lib.domain.values.storage import CsvInput, InputRead, StorageObject
from zoe_master.storage.input_document import input_entry

PROGRAM = """
import zoe_spark
found = []
for told in json.load(open(paths[0])):
    try:
        found.append(json.loads(zoe_spark.columns_of(spark, told)))
    except ValueError as error:
        found.append(str(error))
columns = found[0]
types = {column["name"]: column["type"] for column in columns}
first = json.load(open(paths[0]))[0] | {"types": types, "select": list(types), "needed": list(types)}
frame = zoe_spark.read(spark, first)
last = frame.where("id = 20000").selectExpr("cast(number as string)", "cast(day as string)", "cast(kwh as string)")
print(json.dumps([found, [list(row) for row in last.collect()]]))
"""
NAMES = ("id", "number", "large", "kwh", "day", "at", "open", "note", "never")
TYPES = ("long", "long", "decimal(38,0)", "double", "date", "timestamp", "boolean", "string", "string")
UNNAMED = CsvInput(";", header=False, names=("a", "b"))


def line(number: int, whole: int) -> str:
    return f"{number},{whole},{10**20 + number},{number / 8},2015-01-31,2015-01-31 10:00:00,true,a {number},\n"


@of_storage
def test_types_of_a_sample_are_shown_and_what_comes_behind_it_is_read_with_them(
    swift: ObjectStore, ann: Person, spark: Runtime, tmp_path: Path
) -> None:
    ann.put("sampled")
    rows = [line(number, number) for number in range(1, SAMPLE_LINES + 1)]
    # Behind the sample there is a number that is too large for an int.
    text = ",".join(NAMES) + "\n" + "".join(rows) + line(20_000, 2**40)
    ann.put("sampled/named/a.csv", text.encode())
    ann.put("sampled/unnamed/a.csv", b"1;x\n2;y\n")
    ann.put("sampled/empty/a.csv", b"  \n\n")
    asked = [("named", CsvInput()), ("unnamed", UNNAMED), ("empty", UNNAMED)]
    told = [error_text_of(StorageObject("in", f"swift2d://sampled.zoe/{name}", None, csv)) for name, csv in asked]
    (tmp_path / "told.json").write_text(json.dumps(told))
    done = spark_driver(spark, swift, "acme:ann", tmp_path).run(PROGRAM, str(tmp_path / "told.json"))
    [named, unnamed, empty], last = json.loads(done.stdout.splitlines()[-1])
    assert named == [{"name": name, "type": type_} for name, type_ in zip(NAMES, TYPES, strict=True)]
    assert unnamed == [{"name": "a", "type": "long"}, {"name": "b", "type": "string"}]
    assert "nothing to read in swift2d://sampled.zoe/empty" in empty
    assert last == [[str(2**40), "2015-01-31", "2500.0"]]
    inputs = [{"name": "in", "uri": "swift2d://sampled.zoe/named", "pushdown": {"columns": named}}]
    kept = parse(job(storage={"inputs": inputs})).storage
    assert kept is not None
    assert kept.inputs[0].pushdown is not None
    assert dict(kept.inputs[0].pushdown.types) == dict(zip(NAMES, TYPES, strict=True))


def error_text_of(one: StorageObject) -> dict[str, Any]:
    return input_entry(one, InputRead(one.name, one.uri))
