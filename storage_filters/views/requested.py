"""A selection in a request for an object, as Spark's scans send it: the header X-Zoe-Pushdown.

The header holds a JSON object: `width`, the number of columns of the object; `columns`, the wanted positions from 0 on;
`where`, a predicate over columns named `c0`, `c1`, ...; `types` of these; `start` and `end`, the bytes in which records
begin; `csv`, the format; `padded`, whether lines get as many fields as there are columns, for parsers that insist on
that. For JSON lines, `fields` stands for `width`, `columns` and `csv`: the wanted fields, by their names in `where`.
The answer is a gzip member, in which wanted columns of CSV keep their positions, and has the header X-Zoe-Pushdown; an
answer without it is the plain object.
"""

from __future__ import annotations

from typing import Any

from storage_filters.csv.json_lines.selection import JsonSelection
from storage_filters.csv.selection import COLUMNS_MAX, CsvFormat, Selection, SelectionError
from storage_filters.csv.selections import AnySelection
from storage_filters.views.fields import checked_request


def selection_requested(text: str) -> AnySelection:
    """Return the selection of the header. Raises SelectionError."""
    fields: dict[str, Any] = checked_request(text)
    if "fields" in fields:
        return JsonSelection.from_fields(fields)
    width, wanted = fields.get("width", 0), fields.get("columns", [])
    if not 0 < width <= COLUMNS_MAX:
        raise SelectionError(f"width must be 1 to {COLUMNS_MAX}")
    if not wanted or not all(0 <= position < width for position in wanted):
        raise SelectionError("columns must be positions below width")
    return Selection(
        names=tuple(f"c{position}" for position in range(width)),
        columns=tuple(f"c{position}" for position in sorted(wanted)),
        where=fields.get("where", ""),
        start=fields.get("start", 0),
        end=fields.get("end"),
        csv=CsvFormat(**fields.get("csv", {})),
        types=fields.get("types", {}),
        in_place=True,
        padded=fields.get("padded", False),
    )
