"""Round prices for display. Pure."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

_PLACES = 4
_DIGITS = 3


def displayed_price(amount: Decimal, rounding: str = ROUND_HALF_EVEN) -> Decimal:
    """Return an amount with four decimals, or the first three digits of a small one."""
    places = _PLACES if not amount else max(_PLACES, _DIGITS - 1 - amount.adjusted())
    return amount.quantize(Decimal(1).scaleb(-places), rounding=rounding)
