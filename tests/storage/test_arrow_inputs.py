"""`zoe_input` of `zoe_arrow` in a program without Spark: equal tables with and without pushdown, and fewer bytes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from storage_bridge import zoe_arrow
from storage_bridge.stocator import SwiftService, credentials_xml, defaults_text, swift_credentials, swift_properties
from tests.support.access_log import bytes_out
from tests.support.object_store import Person
from zoe_embedded.runtimes.runtime import Runtime
from zoe_embedded.swift.configuration import REGION
from zoe_embedded.swift.store import ObjectStore

PROGRAM = """
import json, sys
from datetime import date
from decimal import Decimal
from zoe_arrow import zoe_input
types = {"id": "long", "kwh": "double", "day": "date", "price": "decimal(10,2)", "on": "boolean"}
asked = [
    {"columns": ["id"], "filters": [("kwh", ">", 98)]},
    {"columns": ["note", "id"]},
    {"filters": [[("city", "in", ["meter 7", "a, b"])], [("price", "=", Decimal("1.50"))]]},
    {"columns": ["day", "city"], "filters": [("day", ">=", date(2015, 1, 29)), ("city", "!=", 'say "so"')]},
    {"columns": ["on"], "filters": [("on", "=", True), ("id", "not in", [1, 2, 9007199254740993])]},
    {"columns": ["id"], "filters": [("id", "=", 9007199254740993)]},
    {"columns": ["id"], "filters": [("id", "<", -1)]},
]
for kwargs in asked:
    plain, pushed = (zoe_input("meters", types=types, pushdown=way, **kwargs) for way in (False, True))
    print(json.dumps({"same": plain.equals(pushed), "rows": pushed.num_rows, "columns": pushed.column_names}))
for wrong in (
    {"columns": ["none"]},
    {"filters": [("note", ">", 1)]},
    {"types": {"city": "double"}},
    {"types": {"ids": "long"}},
):
    try:
        zoe_input("meters", **{"types": types, **wrong})
    except ValueError as error:
        print(json.dumps(str(error)))
"""


def line(number: int) -> str:
    city = ("meter 7", '"a, b"', '"say ""so"""', "", "x")[number % 5]
    day, on = f"2015-01-{number % 31 + 1:02d}", ("true", "FALSE", "")[number % 3]
    return f"{number},{city},{number % 1000 / 10},{day},{number % 400 / 100:.2f},{on},{'x' * 60}"


def test_a_table_has_the_rows_of_the_whole_objects(
    swift: ObjectStore, ann: Person, spark: Runtime, tmp_path: Path
) -> None:
    header = "id,city,kwh,day,price,on,note\n"
    lines = [line(number) for number in range(20_000)]
    ids = ["9007199254740992,x,1,2015-01-01,1.50,true,n", "9007199254740993,x,1,2015-01-01,1.50,true,n"]
    ann.put("meters")
    ann.put("meters/2015/a.csv", (header + "\n".join([*lines, *ids]) + "\n").encode())
    ann.put("meters/2015/b.csv", (header + "\n".join(lines[:10])).encode())
    ann.put("meters/2015/_SUCCESS", b"none")
    ann.put("meters/20150/c.csv", b"another,header\n1,2\n")
    service = SwiftService("zoe", swift.auth_url, REGION)
    keys = swift_credentials({service: ("acme:ann", swift.user("acme:ann").key)})
    (tmp_path / "core-site.xml").write_text(credentials_xml(keys))
    (tmp_path / "spark-defaults.conf").write_text(defaults_text(swift_properties([service], [])))
    csv = {"sep": ",", "quote": '"', "escape": "\\", "nullValue": "", "header": "true"}
    entry = {
        "uri": "swift2d://meters.zoe/2015",
        "columns": [],
        "names": [],
        "types": {},
        "csv": csv,
        "select": [],
        "where": "",
    }
    (tmp_path / "inputs.json").write_text(json.dumps({"meters": entry}))
    shutil.copy(zoe_arrow.__file__, tmp_path)
    before = len(swift.log_of("proxy"))
    done = subprocess.run(
        [spark.environment["PYSPARK_PYTHON"], "-c", PROGRAM],
        env={
            **os.environ,
            "PYTHONPATH": str(tmp_path),
            "ZOE_INPUTS": str(tmp_path / "inputs.json"),
            "HADOOP_CONF_DIR": str(tmp_path),
        },
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    *results, missing, untyped, unfit, unknown = map(json.loads, done.stdout.splitlines())
    assert all(result["same"] for result in results), results
    assert [result["rows"] for result in results][:2] == [380, 20_012]
    assert [result["rows"] for result in results][-2:] == [1, 0]
    assert results[2]["columns"] == header.strip().split(",")
    assert "there is no column none" in missing
    assert "note is a string, and 1 is not: give its type" in untyped
    assert "a.csv: column city: CSV conversion error to double: invalid value" in unfit
    assert "there is no column ids" in unknown
    size = sum(len(entry) + 1 for entry in lines)
    assert bytes_out(swift.log_of("proxy")[before:], "/meters/2015/") < 10 * size
