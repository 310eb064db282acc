"""Transfers that were cut, remembered on this machine, so that the next try goes on where the last one ended."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

_KEPT_MAX = 1000


def unfinished_file() -> Path:
    """Return where they are remembered (XDG Base Directory Specification)."""
    base = os.environ.get("XDG_STATE_HOME", "")
    return (Path(base) if Path(base).is_absolute() else Path.home() / ".local/state") / "zoe" / "transfers.json"


class UnfinishedTransfers:
    """What to go on with, by a key that says what goes where. A file that cannot be read or written costs only that."""

    def __init__(self, path: Path | None = None) -> None:
        self._path = path or unfinished_file()

    def get(self, key: str) -> str | None:
        """Return what was noted under a key."""
        found = self._read().get(key)
        return found if isinstance(found, str) else None

    def put(self, key: str, value: str) -> None:
        """Note a value under a key; of too many, the oldest is forgotten."""
        known = {**{one: kept for one, kept in self._read().items() if one != key}, key: value}
        self._write(dict(list(known.items())[-_KEPT_MAX:]))

    def remove(self, key: str) -> None:
        """Forget a key."""
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
