"""Prepared statements for frequent queries: the server parses and plans them once for each connection."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Row

_PREPARED = "zoe_prepared"


class Prepared:
    """A statement with named parameters (`:name`), each with its type in SQL. Planning takes longer than running it."""

    def __init__(self, name: str, types: Mapping[str, str], statement: str) -> None:
        self._name = name
        self._order = tuple(types)
        numbers = {parameter: f"${number}" for number, parameter in enumerate(types, 1)}
        body = re.sub(r"(?<!:):(\w+)", lambda match: numbers[match[1]], statement)
        declared, given = _bracketed(types.values()), _bracketed(["%s"] * len(types))
        self._prepare = f"PREPARE {name}{declared} AS {body}"
        self._execute = f"EXECUTE {name}{given}"

    def rows(self, connection: Connection, **values: Any) -> Sequence[Row[Any]]:
        """Run the statement; a connection prepares it the first time, which a rollback does not undo."""
        prepared = connection.info.setdefault(_PREPARED, set())
        if self._name not in prepared:
            connection.exec_driver_sql(self._prepare)
            prepared.add(self._name)
        return connection.exec_driver_sql(self._execute, tuple(values[name] for name in self._order)).all()


def _bracketed(parts: Iterable[str]) -> str:
    """Return the parts in brackets, which SQL requires to be absent if there are none."""
    inside = ", ".join(parts)
    return f" ({inside})" if inside else ""
