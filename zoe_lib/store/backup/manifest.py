"""The manifest of a backup: `manifest.json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from zoe_client.words.plain_errors import sentences
from zoe_lib.store.errors import StoreError
from zoe_lib.store.postgres import migrate
from zoe_lib.store.postgres.revision import FIRST, FIRST_VERSION

FORMAT = 1
MANIFEST = "manifest.json"
MANIFEST_BYTES_MAX = 1 << 20
_SHOWN_MAX = 40
# Room in 64 bits for the journal ids and epochs that a restore skips.
_Number = Annotated[int, Field(ge=0, lt=1 << 62)]
# Up to the year 9999.
_Moment = Annotated[float, Field(ge=0, lt=253_402_300_800, allow_inf_nan=False)]
_Name = Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]*$", max_length=63)]
_Column = Annotated[str, Field(pattern=r"^[a-z_][a-z0-9_]*\.[a-z_][a-z0-9_]*$", max_length=127)]


@dataclass(frozen=True, slots=True)
class TableRows:
    """A table of a backup: its columns in the order of the copy, and the number of rows."""

    name: _Name
    columns: tuple[_Name, ...]
    rows: _Number


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of a backup; `numbers` are the last values of identity columns, by `table.column`."""

    format: int
    version: str
    revision: str
    at_s: _Moment
    journal_id: _Number
    tables: tuple[TableRows, ...]
    numbers: dict[_Column, Annotated[_Number, Field(ge=1)]]

    def rows(self, table: str) -> int:
        """Return the number of rows of a table."""
        return sum(copied.rows for copied in self.tables if copied.name == table)


_WHOLE = TypeAdapter(Manifest)


def read_manifest(content: bytes) -> Manifest:
    """Return the manifest of a backup of this or an older version, with its form and types checked; StoreError."""
    _check_age(content)
    try:
        return _WHOLE.validate_json(content, strict=True)
    except ValidationError as error:
        raise StoreError(f"{MANIFEST}: {next(sentences(error))}") from error


def _check_age(content: bytes) -> None:
    """Raise StoreError for a backup of a newer version, which may have another form."""
    try:
        values = json.loads(content)
    except RecursionError:
        raise StoreError(f"{MANIFEST} is nested too deeply") from None
    except ValueError:
        raise StoreError(f"{MANIFEST} is not JSON") from None
    if not isinstance(values, dict):
        raise StoreError(f"{MANIFEST} must be an object")
    kind, revision = values.get("format"), values.get("revision")
    if type(kind) is not int or not isinstance(revision, str):
        raise StoreError(f"{MANIFEST} does not give its format and revision")
    if kind == FORMAT and revision < FIRST:
        raise StoreError(
            f"is of a version before {FIRST_VERSION} (revision {revision[:_SHOWN_MAX]}): "
            f"restore it with Zoe {FIRST_VERSION}, then upgrade"
        )
    if kind != FORMAT or not migrate.has_migrations_to(revision):
        raise NewerBackup(
            f"is of a newer version of Zoe ({str(values.get('version'))[:_SHOWN_MAX]}, "
            f"revision {revision[:_SHOWN_MAX]}): install that version or a newer one"
        )


class NewerBackup(StoreError):  # noqa: N818 - the name is the fact
    """A newer version made the backup; the message follows the name of the file."""
