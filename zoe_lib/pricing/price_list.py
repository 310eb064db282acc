"""Price lists: read their documents, and report all errors at once."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from zoe_client.documents.diagnostics import Code, DescriptionError, Diagnostic, did_you_mean, duplicates, pointer
from zoe_client.documents.reading import objects
from zoe_client.words.times import zone_of
from zoe_lib.domain.executions.metering import Meter, MeteredUse
from zoe_lib.domain.values.frozen import value
from zoe_lib.pricing.expressions import (
    ExpressionError,
    amount_of,
    check_amount,
    check_condition,
    check_percent,
    is_true,
    variables,
)
from zoe_lib.pricing.zones import moment_us

ROWS_MAX = 200
DIGITS_MAX = 6
NAMES = {"tenant": "tenant", "user": "user", "application": "application", "device": "device"}
_SAMPLES: Mapping[str, Mapping[str, str | float]] = {
    "rates": NAMES,
    "discounts": {"tenant": "tenant", "subtotal": 1.0},
    "credits": {"tenant": "tenant", "missed_share": 0.5},
}
_AMOUNTS = {"rates": "rate", "discounts": "percent", "credits": "percent"}
_KEYS = {
    "": ("currency", "zone", "from", "until", "digits", "rates", "discounts", "credits"),
    "rates": ("meter", "when", "rate"),
    "discounts": ("name", "when", "percent"),
    "credits": ("name", "when", "percent"),
}


@value(frozen=True, slots=True)
class Row:
    """A row of a price list: an amount, and the condition for it; without a condition, it always applies."""

    amount: str
    when: str = ""
    meter: Meter | None = None
    name: str = ""

    def applies(self, values: Mapping[str, str | float]) -> bool:
        """Return whether it applies; ExpressionError."""
        return not self.when or is_true(self.when, values)


@value(frozen=True, slots=True)
class PriceList:
    """Prices from a moment on, until the next list or `until_us`, in microseconds since the epoch.

    `digits`: decimal places to which each charge is rounded. `zone`: of its months.
    """

    currency: str
    zone: str
    from_us: int
    until_us: int | None = None
    digits: int = 2
    rates: tuple[Row, ...] = ()
    discounts: tuple[Row, ...] = ()
    credits: tuple[Row, ...] = ()

    def rate_of(self, use: MeteredUse) -> Decimal:
        """Return the rate of the first row that applies. ExpressionError: none applies, or it cannot be computed."""
        values = {"tenant": use.tenant, "user": use.user, "application": use.application, "device": use.device}
        for row in self.rates:
            if row.meter is use.meter and row.applies(values):
                return amount_of(row.amount, values)
        raise ExpressionError("the price list has no rate for it")

    def discount(self, tenant: str, subtotal: Decimal) -> Decimal:
        """Return the discount of a tenant in percent: the sum of the rows that apply, at most 100."""
        return _percent(self.discounts, {"tenant": tenant, "subtotal": float(subtotal)}, together=True)

    def credit(self, tenant: str, missed_share: float) -> Decimal:
        """Return the credit in percent of charges for bandwidth: that of the first row that applies, at most 100."""
        return _percent(self.credits, {"tenant": tenant, "missed_share": missed_share}, together=False)


def read_price_list(document: object) -> PriceList:
    """Return the price list of a document; DescriptionError with all its errors."""
    if not isinstance(document, dict):
        raise DescriptionError([Diagnostic("", Code.WRONG_TYPE, "a price list is an object")])
    found = list(_findings(document))
    if found:
        raise DescriptionError(found)
    zone = document.get("zone", "UTC")
    until = document.get("until")
    return PriceList(
        currency=document["currency"],
        zone=zone,
        from_us=moment_us(document["from"], zone),
        until_us=None if until is None else moment_us(until, zone),
        digits=document.get("digits", 2),
        rates=_rows(document, "rates"),
        discounts=_rows(document, "discounts"),
        credits=_rows(document, "credits"),
    )


def check_names(prices: PriceList) -> None:
    """Raise DescriptionError with all rates that go by the name of an application. Lists in force may have some."""
    found = [
        Diagnostic(
            pointer("rates", index, key),
            Code.UNKNOWN_REFERENCE,
            "application is a name that users choose, and so they would choose their price",
            "use tenant, user or device",
        )
        for index, row in enumerate(prices.rates)
        for key, text in (("when", row.when), ("rate", row.amount))
        if text and "application" in variables(text, NAMES)
    ]
    if found:
        raise DescriptionError(found)


def _percent(rows: tuple[Row, ...], values: Mapping[str, str | float], *, together: bool) -> Decimal:
    found = Decimal(0)
    for row in rows:
        if row.applies(values):
            found += amount_of(row.amount, values)
            if not together:
                break
    return min(found, Decimal(100))


def _rows(document: dict[str, Any], key: str) -> tuple[Row, ...]:
    return tuple(
        Row(
            amount=str(row[_AMOUNTS[key]]),
            when=row.get("when", ""),
            meter=Meter(row["meter"]) if key == "rates" else None,
            name=row.get("name", ""),
        )
        for row in document.get(key, [])
    )


def _findings(document: dict[str, Any]) -> Iterator[Diagnostic]:
    yield from _unknown(document, "", "")
    for key, form, example in (("currency", r"[A-Z]{3}", "EUR"), ("zone", r"[^\x00-\x1f]{1,64}", "Europe/Paris")):
        given = document.get(key, "UTC" if key == "zone" else None)
        if given is None:
            yield Diagnostic("", Code.MISSING, f"{key} is missing", f"such as {example}")
        elif not isinstance(given, str) or not re.fullmatch(form, given):
            yield Diagnostic(pointer(key), Code.BAD_FORMAT, f"{str(given)[:40]!r} is no {key} such as {example}")
    digits = document.get("digits", 2)
    if not isinstance(digits, int) or isinstance(digits, bool) or not 0 <= digits <= DIGITS_MAX:
        yield Diagnostic("/digits", Code.OUT_OF_RANGE, f"digits is not a whole number from 0 to {DIGITS_MAX}")
    yield from _times(document)
    for key in _AMOUNTS:
        yield from _rows_findings(document, key)
    names = [(pointer("discounts", i, "name"), row.get("name")) for i, row in objects(document, "discounts")]
    yield from duplicates([(place, entry) for place, entry in names if isinstance(entry, str)], "discount")


def _times(document: dict[str, Any]) -> Iterator[Diagnostic]:
    zone = document.get("zone", "UTC")
    if not isinstance(zone, str):
        return
    try:
        zone_of(zone)
    except ValueError as error:
        yield Diagnostic("/zone", Code.BAD_FORMAT, str(error), "use a name such as UTC or Europe/Paris")
        return
    found: dict[str, int] = {}
    for key in ("from", "until"):
        given = document.get(key)
        if given is None:
            if key == "from":
                yield Diagnostic("", Code.MISSING, "from is missing", "the date from which the list holds")
            continue
        try:
            found[key] = moment_us(str(given), zone)
        except (ValueError, OverflowError) as error:
            yield Diagnostic(pointer(key), Code.BAD_FORMAT, str(error))
    if len(found) == 2 and found["until"] <= found["from"]:
        yield Diagnostic("/until", Code.OUT_OF_RANGE, "until is not after from")


def _rows_findings(document: dict[str, Any], key: str) -> Iterator[Diagnostic]:
    rows = document.get(key, [])
    if key == "rates" and not rows:
        yield Diagnostic("" if "rates" not in document else "/rates", Code.MISSING, "rates are missing")
    if not isinstance(rows, list) or len(rows) > ROWS_MAX:
        yield Diagnostic(pointer(key), Code.WRONG_TYPE, f"{key} is not a list of at most {ROWS_MAX} rows")
        return
    for index, row in enumerate(rows):
        place = pointer(key, index)
        if not isinstance(row, dict):
            yield Diagnostic(place, Code.WRONG_TYPE, "a row is an object")
            continue
        yield from _unknown(row, key, place)
        if key == "rates" and str(row.get("meter")) not in set(Meter):
            hint = did_you_mean(str(row.get("meter")), [str(entry) for entry in Meter])
            yield Diagnostic(f"{place}/meter", Code.UNKNOWN_REFERENCE, f"{row.get('meter')!r} is not a meter", hint)
        if not isinstance(row.get("name", ""), str):
            yield Diagnostic(f"{place}/name", Code.WRONG_TYPE, "a name is a string")
        amount = _AMOUNTS[key]
        if amount not in row:
            yield Diagnostic(place, Code.MISSING, f"{amount} is missing")
        else:
            check = check_amount if key == "rates" else check_percent
            yield from _expression(row[amount], f"{place}/{amount}", _SAMPLES[key], check)
        if "when" in row:
            yield from _expression(row["when"], f"{place}/when", _SAMPLES[key], check_condition)


def _expression(
    given: object, place: str, sample: Mapping[str, str | float], check: Callable[[str, Any], None]
) -> Iterator[Diagnostic]:
    if isinstance(given, float) or (isinstance(given, int) and check is check_condition):
        yield Diagnostic(place, Code.WRONG_TYPE, f'{given} is not a string: write "{given}", which keeps all digits')
    elif isinstance(given, bool) or not isinstance(given, str | int):
        yield Diagnostic(place, Code.WRONG_TYPE, "an expression is a string")
    else:
        try:
            check(str(given), sample)
        except ExpressionError as error:
            yield Diagnostic(place, Code.BAD_FORMAT, str(error))


def _unknown(document: dict[str, Any], key: str, place: str) -> Iterator[Diagnostic]:
    known = _KEYS[key]
    for name in document:
        if name not in known:
            message = f"{str(name)[:64]!r} is not known"
            yield Diagnostic(f"{place}{pointer(name)}", Code.UNKNOWN_KEY, message, did_you_mean(str(name), known))
