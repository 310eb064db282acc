"""The content of a view: a container's objects under a prefix, each cut into ranges, as virtual objects."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from storage_bridge.model import VIEW_DIRECTORY
from storage_filters.csv.media import why_not_csv
from storage_filters.csv.selection import CsvFormat, Selection, SelectionError, compatible_fields
from storage_filters.views.fields import checked_fields
from storage_filters.wsgi.delivery import MEDIA_TYPE, SUFFIX, size_claimed

DIRECTORY = f"{VIEW_DIRECTORY}/"
"""The prefix of all virtual objects' names."""
SPLIT_BYTES = 32 * 2**20
_SPLIT_BYTES_LEAST = 2**16
_ETAG_CHARACTERS = 12
_NAME = re.compile(
    rf"{DIRECTORY}(?P<name>.*)\.(?P<start>\d{{15}})-(?P<end>\d{{15}})\.(?P<etag>[0-9a-f]+){re.escape(SUFFIX)}"
)
_ATTEMPT = re.compile(r"^(?P<part>.*part-\d+).*-attempt_[\d_]+m_\d+_\d+")


@dataclass(frozen=True, slots=True)
class ViewDefinition:
    """The definition stored with the view's container. With `names` empty, they are read from the header of the first
    object.
    """

    container: str
    prefix: str = ""
    names: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    where: str = ""
    csv: CsvFormat = field(default_factory=CsvFormat)
    split_bytes: int = SPLIT_BYTES
    types: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_json(cls, text: str) -> ViewDefinition:
        """Parse a definition. Raises SelectionError for anything else."""
        fields = checked_fields(text)
        csv = CsvFormat(**fields.pop("csv", {}))
        for name in ("names", "columns"):
            fields[name] = tuple(fields.get(name, ()))
        made = cls(**fields, csv=csv)
        return replace(made, split_bytes=max(made.split_bytes, _SPLIT_BYTES_LEAST))

    def to_json(self) -> str:
        """Return JSON for a header: ASCII, one line."""
        return json.dumps(compatible_fields(asdict(self)), separators=(",", ":"))

    @property
    def directory(self) -> str:
        """Return the common beginning of the source's names: its prefix up to a slash, so that siblings stay hidden."""
        return self.prefix if not self.prefix or self.prefix.endswith("/") else f"{self.prefix}/"

    def selection(self, part: Part) -> Selection:
        """Return the selection of the source's object."""
        return Selection(self.names, self.columns, self.where, part.start, part.end, self.csv, self.types)


@dataclass(frozen=True, slots=True)
class Part:
    """A range of an object, with the object's state when it was listed."""

    name: str
    start: int
    end: int
    etag: str

    @property
    def virtual_name(self) -> str:
        """Return the name in the view, which contains everything about the part."""
        return f"{DIRECTORY}{self.name}.{self.start:015d}-{self.end:015d}.{self.etag[:_ETAG_CHARACTERS]}{SUFFIX}"

    @property
    def size_claimed(self) -> int:
        """Return the size for listings: at least the delivered size."""
        return size_claimed(self.start, self.end)

    def headers(self, source: Mapping[str, str]) -> dict[str, str]:
        """Return the headers of the part's answer, from the source object's headers."""
        return {
            "Content-Type": MEDIA_TYPE,
            "Etag": f"{self.etag}-{self.start}",
            "Last-Modified": source.get("Last-Modified", ""),
        }

    def is_of(self, etag: str) -> bool:
        """Return whether an object with this ETag is the listed one."""
        return etag.strip('"').startswith(self.etag)

    @classmethod
    def from_name(cls, virtual_name: str) -> Part | None:
        """Parse a part's name in a view; None if the name is invalid."""
        found = _NAME.fullmatch(virtual_name)
        if found is None:
            return None
        start, end = int(found["start"]), int(found["end"])
        return cls(found["name"], start, end, found["etag"]) if start < end else None


_UNUSUAL = re.compile(r"[^A-Za-z0-9!$&'()+,\-.:;=@_~/]")


def parts_of(
    objects: Iterator[Mapping[str, Any]], definition: ViewDefinition
) -> Iterator[tuple[Part, Mapping[str, Any]]]:
    """Yield the parts of a listing's objects, in order, with the objects.

    Like Spark, this skips empty objects, hidden ones, and those in subdirectories. Raises SelectionError for an object
    that is compressed or, by its name, not CSV; for names that Spark would treat differently in a view than in the
    source; and if a writer left two attempts of one part, between which only special readers can choose.
    """
    written: dict[str, str] = {}
    for stored in objects:
        if "name" not in stored or not stored["bytes"]:
            continue
        name = str(stored["name"]).removeprefix(definition.directory)
        if not name or any(_is_hidden(step) for step in name.split("/")):
            continue
        if why := _why_not_listed_alike(name):
            raise SelectionError(why)
        if "/" in name:
            continue
        if why := why_not_csv(name):
            raise SelectionError(why)
        if (attempt := _ATTEMPT.match(name)) and written.setdefault(attempt["part"], name) != name:
            raise SelectionError(f"{attempt['part']} was written by two attempts: a view cannot choose between them")
        etag = str(stored.get("slo_etag") or stored["hash"]).strip('"')
        for start in range(0, int(stored["bytes"]), definition.split_bytes):
            end = min(start + definition.split_bytes, int(stored["bytes"]))
            yield Part(name, start, end, etag[:_ETAG_CHARACTERS]), stored


def _is_hidden(step: str) -> bool:
    """Return whether Spark skips files and directories of that name (InMemoryFileIndex.shouldFilterOutPathName)."""
    return step.startswith(".") or step.endswith("._COPYING_") or (step.startswith("_") and "=" not in step)


def _why_not_listed_alike(name: str) -> str:
    """Return why Spark would treat an object differently in a view and in the source; empty if it would not."""
    *directories, _ = name.split("/")
    if any("=" in step for step in directories):
        return "it has partition directories (NAME=VALUE), which Spark turns into columns"
    if "" in directories or _UNUSUAL.search(name):
        return "readers interpret the names of some objects differently"
    return ""
