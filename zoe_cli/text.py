"""Make untrusted text harmless for a terminal: names, messages and logs may contain control sequences."""

from __future__ import annotations

import codecs
import json
import re
from typing import Any

# Controls (C0, DEL, C1), zero-width characters (but not joiners), bidirectional and line-breaking characters, and
# unpaired surrogates, which cannot be encoded.
_HIDDEN = "\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff"
_UNPRINTABLE = re.compile(f"[\x00-\x1f{_HIDDEN}]")
UNPRINTABLE_IN_JSON = re.compile(f"[{_HIDDEN}]")
_SHORT = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}

# Logs keep colours and the usual white space; all other sequences that control a terminal are shown as text.
_COLOUR = r"\x1b\[[0-9;:]{0,32}m"
_LOG_PIECE = re.compile(f"({_COLOUR})|[\x00-\x08\x0b\x0c\x0e-\x1f{_HIDDEN}]")
_UNFINISHED_COLOUR = re.compile(r"\x1b(\[[0-9;:]{0,32})?\Z")
_PLAIN_COLOUR = "\x1b[0m"


def printable(text: str) -> str:
    """Return the text on one line, with escapes for everything that a terminal would interpret."""
    return _UNPRINTABLE.sub(lambda found: _SHORT.get(found[0]) or _escape(found[0]), text)


def shorten_text(text: str, width: int) -> str:
    """Return the text, or its beginning with a mark if it is longer."""
    return text if len(text) <= width else text[: width - 1] + "…"


def json_text(data: Any) -> str:
    """Return readable JSON without anything that a terminal would interpret."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    return UNPRINTABLE_IN_JSON.sub(long_escape, text)


class LogText:
    """Turn pieces of a log into text for a terminal; UTF-8 and colours may be split between pieces."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._kept = ""
        self._coloured = False

    def feed(self, data: bytes) -> str:
        """Return the printable part of the log so far."""
        text = self._kept + self._decoder.decode(data)
        cut = _UNFINISHED_COLOUR.search(text)
        self._kept = text[cut.start() :] if cut else ""
        return self._escape_piece(text[: cut.start()] if cut else text)

    def close(self) -> str:
        """Return the rest, and end any colour."""
        rest = self._escape_piece(self._kept + self._decoder.decode(b"", final=True))
        return rest + (_PLAIN_COLOUR if self._coloured else "")

    def _escape_piece(self, text: str) -> str:
        return _LOG_PIECE.sub(self._show, text)

    def _show(self, found: re.Match[str]) -> str:
        if found[1]:
            self._coloured = True
            return found[1]
        return _escape(found[0])


def _escape(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


def long_escape(found: re.Match[str]) -> str:
    """Return an escape that both JSON and a quoted YAML string accept."""
    return f"\\u{ord(found[0]):04x}"
