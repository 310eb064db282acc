"""Notes on the price of a submission."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from zoe_lib.domain.applications.application import Application
from zoe_lib.pricing.estimate import estimate
from zoe_lib.store.people import Principal
from zoe_lib.submission.place import SubmissionPlace

_HOUR_S = 3600.0


def run_time_of(application: Application, forecast_s: float | None = None) -> tuple[float, str]:
    """Return the run time in seconds for which an application is priced, and its source. `hour`: its run time is
    unknown, so it is an hour.
    """
    known = (
        (application.expected_run_s, "expected"),
        (forecast_s, "forecast"),
        (application.time_limit_s, "time_limit"),
    )
    return next(((run_s, basis) for run_s, basis in known if run_s is not None), (_HOUR_S, "hour"))


def price_notes(place: SubmissionPlace, principal: Principal, parts: Sequence[tuple[Application, int]]) -> list[str]:
    """Return notes on the cost of applications, each with its count; none without a price list in force.

    Applications without a run time, neither declared nor by a time limit, are priced by the hour.
    """
    prices = place.spending.prices(place.store)
    if prices is None:
        return []
    whole, hourly, gaps, bases = Decimal(0), Decimal(0), dict[str, None](), set[str]()
    for application, count in parts:
        run_s, basis = run_time_of(application)
        # As in a statement, where all executions of an application are one line, which is rounded once.
        amount, missing = estimate(application, principal.tenant, principal.user, run_s * count, prices)
        bases.add(basis)
        gaps |= dict.fromkeys(missing)
        if basis == "hour":
            hourly += amount
        else:
            whole += amount
    amounts = [f"about {whole:f} {prices.currency} {_FOR[frozenset(bases - {'hour'})]}"] if bases != {"hour"} else []
    amounts += (
        [f"about {hourly:f} {prices.currency} an hour, for applications without a run time"] if "hour" in bases else []
    )
    return [f"price: {' and '.join(amounts)}, with all services", *gaps]


_EXPECTED, _LIMIT = "for the expected run time", "up to the time limit"
_FOR = {
    frozenset({"expected"}): _EXPECTED,
    frozenset({"time_limit"}): _LIMIT,
    frozenset({"expected", "time_limit"}): f"{_EXPECTED}, or {_LIMIT}",
}
