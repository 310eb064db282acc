"""Faults of a description: all findings at once, each with a place, a stable code and a hint."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from zoe_client.documents.shortening import shortened_list

DIAGNOSTICS_MAX = 100
"""Limits the answer to a hostile document; no reader needs more findings."""
TEXT_MAX = 1000
"""Maximum characters of one text of a finding."""
_KNOWN_MAX = 40
"""Maximum names in a hint: enough for all keys of a component or a step; users may give hundreds of names."""


class Code(StrEnum):
    """Stable codes of findings; they are never renamed."""

    NOT_JSON = "not_json"
    TOO_BIG = "too_big"
    UNSUPPORTED_VERSION = "unsupported_version"
    UNKNOWN_KEY = "unknown_key"
    MISSING = "missing"
    WRONG_TYPE = "wrong_type"
    OUT_OF_RANGE = "out_of_range"
    BAD_FORMAT = "bad_format"
    DUPLICATE = "duplicate"
    CONFLICT = "conflict"
    UNKNOWN_REFERENCE = "unknown_reference"
    BAD_TEMPLATE = "bad_template"
    BAD_SETTING = "bad_setting"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: `pointer` is a JSON pointer (RFC 6901) into the user's document, empty for the whole of it.

    `code` is one of `Code`, or of a finding about the installation (see `zoe_lib.domain.checks`).
    """

    pointer: str
    code: str
    message: str
    hint: str = ""

    def __str__(self) -> str:
        hint = f" ({self.hint})" if self.hint else ""
        return f"{self.pointer or '(document)'}: {self.message}{hint}"


class DescriptionError(ValueError):
    """A description that cannot be used; carries all findings, in the order of the document."""

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        self.diagnostics = tuple(map(_truncated, tuple(diagnostics)[:DIAGNOSTICS_MAX]))
        super().__init__("\n".join(map(str, self.diagnostics)))


def _truncated(one: Diagnostic) -> Diagnostic:
    """Truncate the texts of a finding: they repeat keys and values of hostile documents."""
    return replace(one, pointer=one.pointer[:TEXT_MAX], message=one.message[:TEXT_MAX], hint=one.hint[:TEXT_MAX])


def pointer(*parts: str | int) -> str:
    """Return the JSON pointer of a path of keys and indexes."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in parts)


def index_of(part: str) -> int | None:
    """Return the array index in one part of a JSON pointer, or None if the part is a key."""
    return int(part) if part.isascii() and part.isdecimal() and len(part) < 9 else None


def did_you_mean(wrong: str, known: Sequence[str]) -> str:
    """Return a hint with the closest known word, or with the known words when none is close."""
    from difflib import get_close_matches

    close = get_close_matches(wrong[:64], known[:200], n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known are {shortened_list(sorted(known), _KNOWN_MAX)}" if known else "there is none"


def duplicates(named: Iterable[tuple[str, str | int | None]], noun: str) -> Iterator[Diagnostic]:
    """Yield a finding for every repeated value."""
    seen: set[str | int] = set()
    for place, value in named:
        if value is not None and value in seen:
            yield Diagnostic(place, Code.DUPLICATE, f"another {noun} already has {str(value)[:64]!r}")
        if value is not None:
            seen.add(value)
