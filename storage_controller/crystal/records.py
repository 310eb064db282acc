"""What clients of Crystal's API register and Zoe has no other place for, in PostgreSQL: numbered records of a kind."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

import sqlalchemy as sa
from fastapi import Depends

from storage_controller.answers import RequestRefusedError
from storage_controller.database.guarantee_store import Ledger
from storage_controller.database.tables import crystal_records
from storage_controller.routes.parameters import LedgerDep

RECORDS_MAX = 500
"""Most records of a kind."""
_ATTRIBUTES_BYTES_MAX = 16 * 1024
_LOCK = 0x5A6F6563  # lock of requests that add records, so that numbers are given once


class RecordKind(StrEnum):
    """Kind of a record; the value is its name in sentences."""

    GROUP = "group"
    CONTROLLER = "controller"
    INSTANCE = "controller instance"
    BANDWIDTH_CONTROLLER = "bandwidth controller"
    METRIC = "metric module"
    NODE = "node"
    STORAGE_NODE = "storage node"
    REGION = "region"
    ZONE = "zone"
    STORAGE_POLICY = "storage policy"
    SORTING = "proxy sorting"


class Records:
    """Records by kind and number, which begins with 1 and is not given again while later ones exist."""

    def __init__(self, ledger: Ledger) -> None:
        self._begin = ledger.begin

    def all(self, kind: RecordKind) -> dict[int, dict[str, Any]]:
        """Return the attributes of all records of a kind by number."""
        found = sa.select(crystal_records.c.id, crystal_records.c.attributes).where(crystal_records.c.kind == kind)
        with self._begin() as connection:
            return {row.id: row.attributes for row in connection.execute(found.order_by(crystal_records.c.id))}

    def documents(self, kind: RecordKind) -> list[dict[str, Any]]:
        """Return all records of a kind; the number is the text `id`, as in Crystal's lists."""
        return [{**attributes, "id": str(number)} for number, attributes in self.all(kind).items()]

    def get(self, kind: RecordKind, number: int) -> dict[str, Any]:
        """Return the attributes of a record. Raises RequestRefusedError (404)."""
        if (found := self.all(kind).get(number)) is None:
            raise RequestRefusedError(404, f"{kind} {number} does not exist")
        return found

    def add(self, kind: RecordKind, attributes: Mapping[str, Any], data: bytes | None = None) -> int:
        """Create a record and return its number. Raises RequestRefusedError if there are too many."""
        _check(kind, attributes)
        with self._begin() as connection:
            connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))
            mine = sa.select(sa.func.count(), sa.func.coalesce(sa.func.max(crystal_records.c.id), 0))
            there, last = connection.execute(mine.where(crystal_records.c.kind == kind)).one()
            if there >= RECORDS_MAX:
                raise RequestRefusedError(
                    409, f"there are {there} records of the kind {kind}, the most that are kept: remove some first"
                )
            row = {"kind": kind, "id": last + 1, "attributes": dict(attributes), "data": data}
            connection.execute(sa.insert(crystal_records).values(**row))
            return int(last) + 1

    def change(self, kind: RecordKind, number: int, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Set some attributes of a record; return all. Raises RequestRefusedError."""
        changed = {**self.get(kind, number), **attributes}
        _check(kind, changed)
        self._update(kind, number, attributes=changed)
        return changed

    def data(self, kind: RecordKind, number: int) -> bytes:
        """Return the file of a record. Raises RequestRefusedError (404)."""
        mine = sa.and_(crystal_records.c.kind == kind, crystal_records.c.id == number)
        with self._begin() as connection:
            found = connection.execute(sa.select(crystal_records.c.data).where(mine)).scalar()
        if found is None:
            raise RequestRefusedError(404, f"{kind} {number} does not exist, or has no file")
        return bytes(found)

    def keep_data(self, kind: RecordKind, number: int, data: bytes) -> None:
        """Set the file of a record. Raises RequestRefusedError (404)."""
        self._update(kind, number, data=data)

    def drop(self, kind: RecordKind, number: int) -> None:
        """Remove a record, if it exists."""
        mine = sa.and_(crystal_records.c.kind == kind, crystal_records.c.id == number)
        with self._begin() as connection:
            connection.execute(sa.delete(crystal_records).where(mine))

    def _update(self, kind: RecordKind, number: int, **values: Any) -> None:
        mine = sa.and_(crystal_records.c.kind == kind, crystal_records.c.id == number)
        with self._begin() as connection:
            if not connection.execute(sa.update(crystal_records).where(mine).values(**values)).rowcount:
                raise RequestRefusedError(404, f"{kind} {number} does not exist")


def _check(kind: RecordKind, attributes: Mapping[str, Any]) -> None:
    if len(json.dumps(attributes)) > _ATTRIBUTES_BYTES_MAX:
        raise RequestRefusedError(400, f"the fields of a {kind} take more than {_ATTRIBUTES_BYTES_MAX} bytes")


async def _records(ledger: LedgerDep) -> Records:
    return Records(ledger)


RecordsDep = Annotated[Records, Depends(_records)]
