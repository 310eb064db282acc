"""Entries of a list that a workflow step has made: an array runs once for each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field

from zoe_client.vocabulary import ListProblem
from zoe_lib.domain.applications.templates import TemplateKind, references
from zoe_lib.domain.values.frozen import value

Scalar = str | int | float | bool
Entry = Scalar | Mapping[str, Scalar]
"""A value, or an object with values as fields."""

ENTRIES_MAX = 10_000
"""Maximum entries of a list. A user's program writes the list; a longer one would give one step more weight than a
tenant's queue.
"""
LIST_BYTES_MAX = 2 * 2**20
"""Maximum bytes of a list. A user's program writes the list; the master parses it in memory, at forty times its
size.
"""
ENTRY_LENGTH_MAX = 4096
"""Maximum characters of a text in an entry, as of values of a matrix."""
FIELDS_MAX = 64
"""Maximum fields of an entry."""
FILLED_BYTES_MAX = 131_071
"""Maximum bytes of all texts of an execution with entries filled in: the length of one argument on Linux. It also
limits how far repeated entries in a command enlarge an execution beyond its description.
"""


@value(frozen=True, slots=True)
class EntryList:
    """The list of an array: a result of another step.
    name: template name of an entry. path: below the workspace of the array's owner. count: None while the list has not
    been read. problem: why it cannot be used, with a hint; None if it can, or has not been read.
    """

    name: str
    path: str
    count: int | None = None
    problem: ListProblem | None = None
    hint: str = ""


@value(frozen=True, slots=True)
class EntryUse:
    """Use of an entry in the texts of a description.
    counts: how often each field occurs in them; an empty name is the whole entry. fixed_bytes: the size of these texts
    without the filled-in parts.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    fixed_bytes: int = 0

    @property
    def fields(self) -> frozenset[str]:
        """Return the fields that an entry must have."""
        return frozenset(self.counts) - {""}


def use_of(texts: Iterable[str]) -> EntryUse:
    """Return the use of an entry in valid texts of a description."""
    counts: Counter[str] = Counter()
    fixed = 0
    for text in texts:
        found = [reference for reference in references(text) if reference.kind is TemplateKind.EACH]
        if found:
            counts.update(template.field or "" for template in found)
            fixed += len(text.encode()) - sum(len(str(template)) for template in found)
    return EntryUse(dict(counts), fixed)


def text_of(scalar: Scalar) -> str:
    """Return a value as text, as it is filled in."""
    return str(scalar).lower() if isinstance(scalar, bool) else str(scalar)
