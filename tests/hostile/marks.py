"""Texts that only their owner may see, and the search for them in answers. Pure."""

from __future__ import annotations

import secrets
from collections.abc import Collection
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes


@dataclass
class Marks:
    """The marks of one owner. private: for the owner only. seen: for operators as well."""

    owner: str
    private: dict[str, str] = field(default_factory=dict)
    seen: dict[str, str] = field(default_factory=dict)

    def secret(self, what: str) -> str:
        """Return a new mark that only the owner may see."""
        return self.private.setdefault(what, f"mk{secrets.token_hex(8)}")

    def name(self, what: str) -> str:
        """Return a new mark that operators may see, too."""
        return self.seen.setdefault(what, f"mk{secrets.token_hex(8)}")

    def leaked(self, answer: bytes, known: Collection[str], operator: bool = False) -> list[str]:
        """Return which marks an answer shows. known: what the asker has sent, which may come back."""
        hidden = self.private if operator else {**self.private, **self.seen}
        return [
            f"{what} of {self.owner}" for what, mark in hidden.items() if mark.encode() in answer and mark not in known
        ]

    def among(self, sent: bytes) -> set[str]:
        """Return the marks that a request contains, however it is encoded."""
        once = unquote_to_bytes(sent)
        plain = b" ".join((sent, once, unquote_to_bytes(once)))
        marks = {**self.private, **self.seen}.values()
        return {mark for mark in marks if mark.encode() in plain}
