"""Read an input of a Zoe application with Spark: the same rows from the plain objects and from a view of them.

    from zoe_spark import zoe_input
    readings = zoe_input(spark, "meters")

Every service of an application with inputs finds this module, and Zoe's decision for each input in the file that
ZOE_INPUTS names. It needs only Spark 3.5. A view delivers at least the wanted rows, with at least the wanted columns:
Spark compares again, in both cases with the same types, and so the result does not depend on Zoe's choice.
"""

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import unquote

_FILE = "ZOE_INPUTS"
# Spark's parser splits a malformed line differently if it skips columns, so it never skips any. The other options are
# Spark's defaults, given explicitly so that the settings of a session do not change them.
_OPTIONS = {
    "mode": "PERMISSIVE",
    "columnPruning": "false",
    "enforceSchema": "true",
    "encoding": "UTF-8",
    "ignoreLeadingWhiteSpace": "false",
    "ignoreTrailingWhiteSpace": "false",
    "unescapedQuoteHandling": "STOP_AT_DELIMITER",
    "nanValue": "NaN",
    "positiveInf": "Inf",
    "negativeInf": "-Inf",
}
SAMPLE_LINES = 10_000
# Spark's CSV reader fails a job for a day such as 2015-1-31, but its cast can read it.
_CAST = ("date", "timestamp")


def zoe_input(spark: Any, name: str) -> Any:
    """Return the wanted columns of the wanted rows of an input, as a DataFrame.

    Columns have the types of the description; a column without a type is a string. Raises KeyError for an input that
    the application does not have, and ValueError if a wanted column does not exist.
    """
    return read(spark, _entry_of(name))


def zoe_columns(spark: Any, name: str) -> str:
    """Return the names and types of an input's columns as JSON, for `pushdown.columns` of a description.

    Spark infers them from the first SAMPLE_LINES lines. They are never used automatically: another sample might have
    other types, and thus other rows. Whole numbers become `long` or decimals of 38 digits, since the next one may be
    larger. A column with only nulls in the sample becomes a string.
    """
    return columns_of(spark, _entry_of(name))


def columns_of(spark: Any, entry: dict[str, Any]) -> str:
    """Return the same for an entry of the file. Raises ValueError if there is nothing to read."""
    options = {**_OPTIONS, **entry["csv"], "inferSchema": "true"}
    lines = [row[0] for row in spark.read.text(entry["uri"]).take(SAMPLE_LINES)]
    names = entry["columns"] or entry["names"]
    if not any(line.strip() for line in lines):
        raise ValueError(f"nothing to read in {entry['uri']}")
    frame = spark.read.options(**options).csv(spark.sparkContext.parallelize(lines, 1))
    types = [_type_name(field.dataType.simpleString()) for field in frame.schema.fields]
    named = zip(names or frame.columns, types, strict=False)
    return json.dumps([{"name": name, "type": type_} for name, type_ in named], ensure_ascii=False)


def _entry_of(name: str) -> dict[str, Any]:
    inputs: dict[str, dict[str, Any]] = json.loads(Path(os.environ[_FILE]).read_text("utf-8"))
    if name not in inputs:
        raise KeyError(f"input {name} does not exist; inputs: {', '.join(sorted(inputs)) or 'none'}")
    return inputs[name]


def _type_name(type_: str) -> str:
    """Return the name of a Spark type in descriptions."""
    if type_ in ("int", "bigint"):
        return "long"
    if type_.startswith("decimal("):  # whole numbers beyond the range of long
        return "decimal(38,0)"
    return type_ if type_ in ("double", "boolean", "date", "timestamp") else "string"


def read(spark: Any, entry: dict[str, Any]) -> Any:
    """Return the same for an entry of the file."""
    options = {**_OPTIONS, **entry["csv"]}
    names = entry["columns"] or entry["names"] or _header(spark, entry["uri"], options)
    missing = [item for item in entry["needed"] if item not in names]
    if missing:
        raise ValueError(f"columns that do not exist: {', '.join(missing)}; columns: {', '.join(names)}")
    types = {name: entry["types"].get(name, "string") for name in names}
    read_as = {entry: "string" if type_ in _CAST else type_ for entry, type_ in types.items()}
    schema = ", ".join(f"{_quote(entry)} {type_}" for entry, type_ in read_as.items())
    frame = spark.read.options(**options).schema(schema).csv(entry["uri"])
    meant = [_cast(entry, type_) if type_ in _CAST else _quote(entry) for entry, type_ in types.items()]
    frame = frame.selectExpr(*meant)
    if entry["where"]:
        frame = frame.where(entry["where"])
    return frame.select(*[_quote(item) for item in entry["select"] or names])


def _header(spark: Any, uri: str, options: dict[str, str]) -> list[str]:
    """Return the columns of the first object that has any: in other objects, columns count by position."""
    # Spark reports them URL-encoded, but expects them plain.
    for path in sorted(spark.read.text(uri).inputFiles()):
        names: list[str] = spark.read.options(**options).csv(unquote(path)).columns
        if names:
            return names
    raise ValueError(f"no object in {uri} has columns")


def _cast(name: str, type_: str) -> str:
    return f"TRY_CAST({_quote(name)} AS {type_}) AS {_quote(name)}"


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
