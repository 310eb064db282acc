"""Paths of files as text: bytes that are not printable text are written `%XX`, so that every name can be sent, shown
and typed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import quote_from_bytes, unquote_to_bytes

PATH_BYTES_MAX = 4095
NAME_BYTES_MAX = 255
_ESCAPE = re.compile("%(?![0-9A-Fa-f]{2})")


class InvalidPath(ValueError):  # noqa: N818 - the name is the fact
    """The text is not a path of a file; the message gives the cause."""


def path_text(path: bytes) -> str:
    """Return a path, or a name, as text. Bytes that are not UTF-8, unprintable characters, and `%` become `%XX`.

    Reversed by `path_parts`.
    """
    return "".join(_escape(character) for character in path.decode(errors="surrogateescape"))


def path_parts(text: str) -> tuple[bytes, ...]:
    """Return the names in a path, none for the root directory; InvalidPath."""
    if _ESCAPE.search(text):
        raise InvalidPath("write % as %25")
    path = unquote_to_bytes(text.encode(errors="surrogatepass"))
    parts = tuple(part for part in path.split(b"/") if part)
    if b"\0" in path or b".." in parts or b"." in parts:
        raise InvalidPath("a path has no part `.` or `..`, and no NUL")
    if len(path) > PATH_BYTES_MAX or any(len(part) > NAME_BYTES_MAX for part in parts):
        raise InvalidPath(f"a path has at most {PATH_BYTES_MAX} bytes, and a name {NAME_BYTES_MAX}")
    return parts


def joined_path(parts: Sequence[bytes]) -> str:
    """Return the text of a path with these names."""
    return path_text(b"/".join(parts))


def _escape(character: str) -> str:
    if character != "%" and character.isprintable():
        return character
    return quote_from_bytes(character.encode(errors="surrogateescape"), safe="")
