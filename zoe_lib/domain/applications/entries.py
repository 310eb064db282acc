"""Entries of a list that a step of a workflow has made: an array runs once for each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field

from zoe_client.vocabulary import ListProblem
from zoe_lib.domain.applications.templates import TemplateKind, references
from zoe_lib.domain.values.frozen import value

Scalar = str | int | float | bool
Entry = Scalar | Mapping[str, Scalar]
"""A value, or an object whose fields are values."""

ENTRIES_MAX = 10_000
"""Entries of a list. Who writes the list fills it; more would make one step outweigh the queue of a tenant."""
LIST_BYTES_MAX = 2 * 2**20
"""Bytes of a list. Who writes the list fills it; the master parses it in memory, at forty times its size."""
ENTRY_LENGTH_MAX = 4096
"""Characters of a text in an entry, as of values of a matrix."""
FIELDS_MAX = 64
"""Fields of an entry."""
FILLED_BYTES_MAX = 131_071
"""Bytes of all texts of one execution that entries fill: what Linux takes as one argument. It also bounds by how much
an entry that is repeated in a command makes an execution larger than its description.
"""


@value(frozen=True, slots=True)
class EntryList:
    """The list that an array runs for: a result of another step.

    name: by which templates refer to an entry. path: below the workspace of the array's owner. count: None while the
    list has not been read. problem: why it cannot be used, with a hint; None if it can, or has not been read.
    """

    name: str
    path: str
    count: int | None = None
    problem: ListProblem | None = None
    hint: str = ""


@value(frozen=True, slots=True)
class EntryUse:
    """How texts of a description use an entry.

    counts: how often each field stands in them, the whole entry by an empty name. fixed_bytes: the size of these texts
    without what is filled in.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    fixed_bytes: int = 0

    @property
    def fields(self) -> frozenset[str]:
        """Return the fields that an entry has to have."""
        return frozenset(self.counts) - {""}


def use_of(texts: Iterable[str]) -> EntryUse:
    """Return how valid texts of a description use an entry."""
    counts: Counter[str] = Counter()
    fixed = 0
    for text in texts:
        found = [one for one in references(text) if one.kind is TemplateKind.EACH]
        if found:
            counts.update(one.field or "" for one in found)
            fixed += len(text.encode()) - sum(len(str(one)) for one in found)
    return EntryUse(dict(counts), fixed)


def text_of(scalar: Scalar) -> str:
    """Return a value as it stands in a text."""
    return str(scalar).lower() if isinstance(scalar, bool) else str(scalar)
