"""The description of inputs for programs, read by `zoe_spark.zoe_input`: a JSON document, by the names of inputs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import storage_bridge
from zoe_lib.domain.values.storage import CsvInput, InputRead, Pushdown, StorageObject
from zoe_lib.pushdown.column_types import type_of
from zoe_lib.pushdown.predicate import Predicate, PredicateError, columns, parse
from zoe_lib.pushdown.spark_sql import expression
from zoe_master.backends.base import INPUTS_FILE

MODULES = ("zoe_spark.py", "zoe_arrow.py")
"""Programs import them as modules of their own."""
_NOTHING = Pushdown()
_BRIDGE = Path(storage_bridge.__file__).parent


def files(inputs: Iterable[StorageObject], reads: Mapping[str, InputRead]) -> Mapping[str, str]:
    """Return the document and the modules that read it, by file name; none without inputs."""
    entries = {input_.name: input_entry(input_, reads[input_.name]) for input_ in inputs}
    if not entries:
        return {}
    texts = {name: (_BRIDGE / name).read_text("utf-8") for name in MODULES}
    return {INPUTS_FILE: json.dumps(entries, ensure_ascii=False), **texts}


def input_entry(one: StorageObject, read: InputRead) -> dict[str, Any]:
    """Return the entry of an input: how it is read.

    columns: of the view, in order; empty for plain objects. names: all columns of plain objects, empty where the header
    has them. select: the wanted ones, empty: all; needed: those and the columns in `where`.
    """
    pushdown, csv = one.pushdown or _NOTHING, one.csv or CsvInput()
    types = {name: known for name, type_ in pushdown.types if (known := type_of(type_)) is not None}
    predicate = _parse_where(pushdown.where)
    looked_at = sorted(columns(predicate)) if predicate is not None else []
    return {
        "uri": read.uri,
        "columns": list(read.columns) if read.view else [],
        "names": list(csv.names),
        "select": list(pushdown.columns),
        "needed": list(dict.fromkeys((*pushdown.columns, *looked_at))),
        "types": {name: str(type_) for name, type_ in types.items()},
        "where": expression(predicate, types) if predicate is not None else "",
        "csv": _options(csv, bool(read.view)),
    }


def _options(csv: CsvInput, view: bool) -> dict[str, str]:
    """Return the options of Spark's reader. A view has neither a header nor records of several lines."""
    return {
        "sep": csv.delimiter,
        "quote": csv.quote,
        "escape": csv.escape,
        "nullValue": csv.null_text,
        "header": _word(csv.header and not view),
        "multiLine": _word(csv.multi_line and not view),
    }


def _parse_where(where: str | None) -> Predicate | None:
    try:
        return parse(where) if where else None
    except PredicateError:  # of a version that read more than this one: then the program scans itself
        return None


def _word(truth: bool) -> str:
    return "true" if truth else "false"
