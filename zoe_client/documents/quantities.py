"""Convert amounts between the notation of users ("2GiB", "40MB/s") and whole bytes."""

from __future__ import annotations

import re
from decimal import Decimal

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "p": 10**15}
_UNITS |= {f"{unit}i": 2 ** (10 * power) for power, unit in enumerate("kmgtp", start=1)}
SIZE_PATTERN = r"^[0-9]{1,18}(\.[0-9]{1,9})? ?([kKMGTP]i?)?B?$"
RATE_PATTERN = r"^[0-9]{1,18}(\.[0-9]{1,9})? ?([kKMGTP]i?)?B/s$"
_NUMBER = re.compile(r"([0-9.]+) ?([a-zA-Z]*?)B?", re.ASCII)


def bytes_of(text: str) -> int:
    """Return the bytes of a size such as "512MiB" or "2GB" (powers of 1024 and of 1000); ValueError if it is not a
    size."""
    return _amount(text, SIZE_PATTERN, "is not a size; write bytes as a number, or a string such as '2GiB' or '500MB'")


def bytes_per_s_of(text: str) -> int:
    """Return the bytes per second of a rate such as "40MB/s"; ValueError if it is not a rate."""
    return _amount(
        text, RATE_PATTERN, "is not a rate; write bytes per second as a number, or a string such as '40MB/s'"
    )


def size_text(amount: int) -> str:
    """Return a size in users' notation: the largest binary unit that divides it, else plain bytes."""
    for power, unit in reversed(list(enumerate(("KiB", "MiB", "GiB", "TiB"), start=1))):
        if amount and amount % 2 ** (10 * power) == 0:
            return f"{amount // 2 ** (10 * power)}{unit}"
    return f"{amount}B"


def _amount(text: str, pattern: str, why: str) -> int:
    number = _NUMBER.fullmatch(text.removesuffix("/s")) if re.fullmatch(pattern.strip("^$"), text) else None
    if number is None:
        raise ValueError(f"{text[:40]!r} {why}")
    amount = Decimal(number[1]) * _UNITS[number[2].lower()]
    if amount != int(amount):
        raise ValueError("not a whole number of bytes")
    return int(amount)
