"""Sources with odd names and directories: with and without a view, real Spark finds the same on a real Swift.

A view that Swift refuses is a source that is read plainly, by the same module: then it has to be readable.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.support.long import of_storage
from tests.support.object_store import Person, definition
from tests.support.spark import spark_driver
from zoe_embedded.runtimes.runtime import Runtime
from zoe_embedded.swift.store import ObjectStore
from zoe_lib.domain.values.storage import CsvInput, InputRead, Pushdown, StorageObject
from zoe_master.storage.input_document import input_entry

PROGRAM = """
import zoe_spark
spark.sparkContext.setLogLevel("OFF")
def found(told):
    try:
        return sorted(map(list, zoe_spark.read(spark, told).collect()))
    except Exception as error:
        return type(error).__name__
print(json.dumps([[found(told) for told in case] for case in json.load(open(paths[0]))]))
"""
NICE, PARIS = b"id,city\n1,Nice\n2,Lyon\n", b"id,city\n3,Nice\n4,Nice\n"
ALL = [["1", "Nice"], ["3", "Nice"], ["4", "Nice"]]
ASKED = Pushdown(("id", "city"), "city = 'Nice'")


@dataclass(frozen=True)
class Source:
    """Objects by name; whether a view of them is used, and what Spark finds: rows, or an error's name."""

    objects: dict[str, bytes]
    view: bool
    finds: Any
    csv: CsvInput = field(default_factory=CsvInput)


NAMED = CsvInput(header=False, names=("id", "city"))
SOURCES = {
    "usual names": Source({"a.csv": NICE, "b.csv": PARIS}, True, ALL),
    "hidden objects": Source(
        {"a.csv": NICE, "b.csv": PARIS, "_x.csv": NICE, ".c.csv": NICE, "_SUCCESS": b"", "d._COPYING_": NICE}, True, ALL
    ),
    "a hidden directory": Source({"a.csv": NICE, "b.csv": PARIS, "_tmp/0/c.csv": NICE}, True, ALL),
    "an underscore and a value": Source({"a.csv": NICE, "_b=1.csv": PARIS}, True, ALL),
    "directories beside objects": Source({"0/z.csv": b"x,y\n8,Nice\n", "a.csv": NICE, "b.csv": PARIS}, True, ALL),
    "directories alone": Source({"0/a.csv": NICE, "1/b.csv": PARIS}, False, "ValueError"),
    "directories alone, named columns": Source({"0/a.csv": b"1,Nice\n"}, False, [], NAMED),
    "partition directories": Source({"day=1/a.csv": NICE, "day=2/b.csv": PARIS}, False, ALL),
    "a blank": Source({"a b.csv": NICE, " c.csv": PARIS}, False, ALL),
    "a percent sign": Source({"50%.csv": NICE, "a%20b.csv": PARIS}, False, ALL),
    "letters beyond ASCII": Source({"z\u00fcrich.csv": NICE, "b.csv": PARIS}, False, ALL),
    "columns that differ in case": Source({"a.csv": b"id,city,City\n1,Nice,x\n"}, False, "ValueError"),
    "the column of malformed lines": Source({"a.csv": b"id,city,_corrupt_record\n1,Nice,x\n"}, False, [["1", "Nice"]]),
}


@of_storage
def test_spark_finds_the_same_in_odd_sources_whether_there_is_a_view_or_not(
    swift: ObjectStore, ann: Person, admin: Person, spark: Runtime, tmp_path: Path
) -> None:
    cases, views = [], {}
    for number, (name, source) in enumerate(SOURCES.items()):
        container, csv = f"odd-source-{number}", source.csv
        ann.put(container)
        for path, body in source.objects.items():
            ann.put(f"{container}/in/{quote(path)}", body)
        wanted = {"columns": list(ASKED.columns), "where": ASKED.where, "names": list(csv.names)}
        headers = definition(container, prefix="in", csv={"header": csv.header}, **wanted)
        answer = admin.call("PUT", f"zoe-view-{container}", headers=headers)
        assert answer.status_code in (201, 422), answer.text
        # Of one that shows nothing the sample finds that there is nothing to read, and it is not used.
        views[name] = answer.is_success and ann.listing(f"zoe-view-{container}") != []
        one = StorageObject("in", f"swift2d://{container}.zoe/in", ASKED, csv)
        told = [input_entry(one, InputRead("in", one.uri))]
        if views[name]:
            read = InputRead("in", f"swift2d://zoe-view-{container}.zoe/data", "v", ASKED.columns)
            told.append(input_entry(one, read))
        cases.append(told)
    (tmp_path / "cases.json").write_text(json.dumps(cases))
    done = spark_driver(spark, swift, "acme:ann", tmp_path).run(PROGRAM, str(tmp_path / "cases.json"))
    found = dict(zip(SOURCES, json.loads(done.stdout.splitlines()[-1]), strict=True))
    assert views == {name: source.view for name, source in SOURCES.items()}
    assert found == {name: [source.finds] * (1 + source.view) for name, source in SOURCES.items()}
