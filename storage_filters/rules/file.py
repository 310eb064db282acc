"""The last rules of the controller, in a file that all workers of a proxy read.

The worker with the connection to the controller writes the file. It outlives restarts of the proxy, so the last rules
stay in force while the controller is away. A proxy without a file applies no rules.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from storage_filters.counting.rate_table import Direction
from storage_filters.rules.documents import RuleBook, read_book


class DamagedRulesError(Exception):
    """The file is invalid, so the rules are unknown."""


def rules_file(rates_file: str) -> Path:
    """Return the path of the file, beside the one of the rates."""
    return Path(rates_file).with_suffix(".rules")


def operations_file(rates_file: str) -> Path:
    """Return the path of the counters of operations, beside the file."""
    return Path(rates_file).with_suffix(".operations")


TIMES: Direction = "get"
BYTES: Direction = "put"
"""Directions under which the table of a cache counts events, and bytes."""


def cache_file(rates_file: str) -> Path:
    """Return the path of the cache's counters, beside the file."""
    return Path(rates_file).with_suffix(".cache")


class RuleFile:
    """The file, for its writer and for readers. warn: is called once for each invalid file."""

    def __init__(self, path: Path, warn: Callable[[str], None] = lambda _: None) -> None:
        self._path = path
        self._warn = warn
        self._version: tuple[int, int] | None = None
        self._book: RuleBook | None = RuleBook()

    def write(self, document: Any) -> None:
        """Replace the rules, unless they are the same. Raises ValueError for an invalid document."""
        text = json.dumps(document)
        if self._text() == text:
            return
        read_book(document)
        beside = self._path.with_suffix(".rules-new")
        beside.write_text(text)
        beside.replace(self._path)

    def _text(self) -> str | None:
        try:
            return self._path.read_text("utf-8")
        except (OSError, ValueError):
            return None

    def book(self) -> RuleBook:
        """Return the rules. Raises DamagedRulesError."""
        try:
            status = self._path.stat()
            version = status.st_mtime_ns, status.st_ino
            if version != self._version:
                self._version, self._book = version, None
                self._book = read_book(json.loads(self._path.read_bytes()))
        except FileNotFoundError:
            self._version, self._book = None, RuleBook()
        except (OSError, ValueError, RecursionError) as error:
            self._warn(f"{self._path} is damaged, so no object is stored until the controller sends rules: {error}")
        if self._book is None:
            raise DamagedRulesError("the rules of this proxy are damaged")
        return self._book
