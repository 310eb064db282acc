"""Format amounts for sentences: no exponents, and at most four digits where a unit keeps them short."""

from __future__ import annotations

import re
from functools import lru_cache

_UNITS = (("EiB", 60), ("PiB", 50), ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10))
_DIGITS = 4
# Each pass repeats its sentences while an execution waits.
_KEPT = 4096


@lru_cache(_KEPT)
def size(amount: float) -> str:
    """Return bytes in the largest binary unit that gives at least 1, such as `1.5 GiB`."""
    for unit, power in _UNITS:
        if abs(amount) >= 2**power:
            return f"{plain(amount / 2**power)} {unit}"
    return f"{amount:.0f} B"


def plain(number: float) -> str:
    """Return a number with four digits, or with all digits before the point if there are more."""
    whole = len(f"{abs(number):.0f}")
    text = f"{number:.{max(_DIGITS - whole, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


@lru_cache(_KEPT)
def cores(milli: float) -> str:
    """Return thousandths of a core in words, such as `1 core` or `0.05 cores`."""
    number = f"{milli / 1000:.3f}".rstrip("0").rstrip(".")
    return number + (" core" if number == "1" else " cores")


def count_with_noun(count: int, noun: str) -> str:
    """Return a count with its noun, such as `1 object` or `2 objects`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def money(text: str) -> str:
    """Return an amount of money in the form of a budget; ValueError."""
    if not re.fullmatch(r"\d{1,12}(\.\d{1,6})?", text, re.ASCII):
        raise ValueError(f"{text[:40]!r} is not an amount such as 250 or 19.99")
    return text
