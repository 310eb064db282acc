"""What each file was found to need, kept between runs, since parsing 2,000 files takes seconds.

An entry counts only for the same content of the file and the same rules, so a change is never missed.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable
from pathlib import Path


class ParsedNeeds:
    """A file of JSON: {"rules": hash, "needs": {path: [hash of the content, [path, ...]]}}."""

    def __init__(self, file: Path | None, rules: Iterable[str]) -> None:
        """Use what the file has for these rules; None, or a file that cannot be used: begin with nothing."""
        self._file = file
        self._rules = _hash("\0".join(rules).encode(errors="surrogateescape"))
        self._known = self._read()
        self._used: dict[str, tuple[str, list[str]]] = {}

    def of(self, path: str, content: bytes, parse: Callable[[bytes], Iterable[str]]) -> set[str]:
        """Return what the file needs, parsed only if its content is not known."""
        found = _hash(content)
        known = self._known.get(path)
        needs = known[1] if known is not None and known[0] == found else sorted(set(parse(content)))
        self._used[path] = (found, needs)
        return set(needs)

    def save(self) -> None:
        """Keep what was used; without a place for it, do nothing."""
        if self._file is None or self._used == self._known:
            return
        self._file.parent.mkdir(exist_ok=True)
        draft = self._file.with_name(f"{self._file.name}.{os.getpid()}")
        draft.write_text(json.dumps({"rules": self._rules, "needs": self._used}), "utf-8")
        draft.rename(self._file)

    def _read(self) -> dict[str, tuple[str, list[str]]]:
        try:
            kept = json.loads(self._file.read_bytes()) if self._file else {}
            if kept["rules"] != self._rules:
                return {}
            return {path: (found, needs) for path, (found, needs) in kept["needs"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
