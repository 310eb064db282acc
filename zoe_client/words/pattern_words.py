"""Words for the regular expressions that check texts: messages show no regular expression."""

from __future__ import annotations

from collections.abc import Mapping

_LINE = "one line of printable characters"
_NAME = "letters, digits, `-` and `_`, beginning with a letter or digit"
WORDS: Mapping[str, str] = {
    r"^(ok|fail|any):(#[0-9]{1,4}|[A-Za-z0-9_-]+)$": "ok:, fail: or any: and the id of an execution",
    r"^(ok|fail|any|corr):[A-Za-z0-9_-]+$": "ok:, fail:, any: or corr: and the id of an execution",
    r"^(workspace|shared|store:[\w.-]{1,100})$": "workspace, shared, or store: and a name",
    r"^/[\x21-\x7e]*$": "a path: `/` and printable characters of ASCII without spaces",
    r"^[0-9,:%-]+$": "numbers and ranges such as `0-9%2`",
    r"^[0-9a-f]{32}$": "32 digits, 0 to 9 and a to f",
    r"^[0-9a-f]{6,64}$": "6 to 64 digits of a SHA-256, 0 to 9 and a to f",
    r"^[A-Za-z0-9._-]+$": "letters, digits, `.`, `_` and `-`",
    r"^[A-Za-z0-9._+-]{0,64}$": "at most 64 letters, digits, `.`, `_`, `+` and `-`",
    r"^[A-Za-z0-9]([A-Za-z0-9 ._@+-]*[A-Za-z0-9])?$": (
        "letters, digits, spaces and `._@+-`, beginning and ending with a letter or digit"
    ),
    r"^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$": (
        "at most 63 letters, digits and `._-`, beginning and ending with a letter or digit"
    ),
    r"^[A-Za-z0-9][A-Za-z0-9 ._@+-]{0,62}$": (
        "at most 63 letters, digits, spaces and `._@+-`, beginning with a letter or digit"
    ),
    r"^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$": f"at most 63 {_NAME}",
    r"^[A-Za-z0-9][A-Za-z0-9_-]*$": _NAME,
    r"^[a-z0-9][a-z0-9._-]*$": "small letters, digits, `.`, `_` and `-`, beginning with a letter or digit",
    r"^[A-Za-z0-9_-]+$": "letters, digits, `-` and `_`",
    r"^[A-Za-z_][A-Za-z0-9_]*$": "letters, digits and `_`, not beginning with a digit",
    r"^[\t -~]$": "one printable character of ASCII, or a tab",
    r"^[^\s\x00-\x1f#:/]+$": "a name without spaces, `#`, `:` and `/`",
    r"^[^\x00-\x1f\x7f]+$": _LINE,
    r"^[^\x00/]*$": "a name without `/`",
    r"^[^\x00]+$": "a string without NUL",
    r"^\d{1,12}(\.\d{1,6})?$": "an amount such as 12.50",
    r"^\d{4}-(0[1-9]|1[0-2])$": "a month such as 2026-11",
    r"^https?://[^/]+$": "a URL without a path, such as https://zoe.example",
    r"^https?://[^\s]+$": "a URL, such as https://zoe.example/metrics",
    r"^[a-z0-9-]+(\.[a-z0-9-]+)+$": "a domain such as apps.zoe.example",
    r"^[\w.-]+$": "letters, digits, `.`, `_` and `-`",
    r"^(\d+:\d+)?$": "the numbers of a user and a group, such as 1000:1000",
}
OTHERWISE = "in the form that the reference describes"


def words_of(pattern: str) -> str:
    """Return the rule of an expression in words, to follow "must be"."""
    return WORDS.get(pattern, OTHERWISE)
