"""Characters without width, or that turn the direction of text, as escapes: no name looks like another one."""

from __future__ import annotations

import re

from markupsafe import Markup

_HIDDEN = re.compile("[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]")


def visible(value: object) -> object:
    """Return a text with these characters as escapes such as `\\u202e`; other values as they are."""
    if not isinstance(value, str) or isinstance(value, Markup):
        return value
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", value)
