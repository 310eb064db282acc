"""When an execution is expected to start and end, forecast at one time."""

from __future__ import annotations

from zoe_lib.domain.values.frozen import value


@value(frozen=True, slots=True)
class Forecast:
    """An answer to "when will mine start?", given at `at_s`; all times in seconds since the epoch.

    wait_s: the wait that the simulation came to, before calibration; None when something ahead has no known end, and
        then the times are None, too.
    p50: half of all forecasts hold that start or end by then; p90: nine of ten do, by how earlier ones turned out.
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
