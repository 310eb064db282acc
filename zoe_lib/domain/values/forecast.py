"""Forecasts of an execution's start and end."""

from __future__ import annotations

from zoe_lib.domain.values.frozen import value


@value(frozen=True, slots=True)
class Forecast:
    """A forecast of start and end, made at `at_s`; all times in seconds since the epoch.
    wait_s: simulated wait, before calibration; None when an execution ahead has no known end, and then the times are
        None, too.
    p50: half of all forecasts meet that start or end; p90: nine of ten do, by the outcomes of earlier ones.
    samples: how many earlier forecasts that rests on; 0 is a rule of thumb.
    extrapolated: the queue was too long to simulate all of it.
    """

    at_s: float
    wait_s: float | None
    run_s: float | None
    start_p50_s: float | None = None
    start_p90_s: float | None = None
    end_p50_s: float | None = None
    end_p90_s: float | None = None
    samples: int = 0
    extrapolated: bool = False
