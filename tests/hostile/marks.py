"""Texts that only their owner may see, and the search for them in answers. Pure."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes


@dataclass
class Marks:
    """The marks of one owner. private: for the owner only. seen: for operators as well."""

    owner: str
    private: dict[str, str] = field(default_factory=dict)
    seen: dict[str, str] = field(default_factory=dict)

    def secret(self, what: str) -> str:
        """Return a new mark that nobody but the owner may see."""
        return self.private.setdefault(what, f"mk{secrets.token_hex(8)}")

    def name(self, what: str) -> str:
        """Return a new mark that operators may see, too."""
        return self.seen.setdefault(what, f"mk{secrets.token_hex(8)}")

    def leaked(self, answer: bytes, asked: bytes, operator: bool = False) -> list[str]:
        """Return which marks an answer shows that are not in its request."""
        hidden = self.private if operator else {**self.private, **self.seen}
        if b"mk" not in answer and not any(mark.encode() in answer for mark in hidden.values()):
            return []
        given = asked + unquote_to_bytes(asked) + unquote_to_bytes(unquote_to_bytes(asked))
        return [
            f"{what} of {self.owner}"
            for what, mark in hidden.items()
            if mark.encode() in answer and mark.encode() not in given
        ]
