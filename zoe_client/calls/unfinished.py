"""Store interrupted transfers on this machine, so that the next try resumes where the last one ended."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

_KEPT_MAX = 1000


def unfinished_file() -> Path:
    """Return the path of the file of interrupted transfers (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".local/state") / "zoe" / "transfers.json"


class UnfinishedTransfers:
    """State of interrupted transfers, by a key of source and target. If the file cannot be read or written, transfers
    begin again.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or unfinished_file()

    def get(self, key: str) -> str | None:
        """Return the value of a key."""
        found = self._read().get(key)
        return found if isinstance(found, str) else None

    def put(self, key: str, value: str) -> None:
        """Store a value under a key; the oldest is removed if there are too many."""
        known = {**{text: kept for text, kept in self._read().items() if text != key}, key: value}
        self._write(dict(list(known.items())[-_KEPT_MAX:]))

    def remove(self, key: str) -> None:
        """Remove a key."""
        known = self._read()
        if known.pop(key, None) is not None:
            self._write(known)

    def _read(self) -> dict[str, object]:
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def _write(self, known: dict[str, object]) -> None:
        draft = self._path.with_name(f".{self._path.name}.{os.getpid()}")
        with suppress(OSError):
            self._path.parent.mkdir(0o700, parents=True, exist_ok=True)
            with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
                json.dump(known, file)
            draft.replace(self._path)
