"""Health check: `python -m zoe_master.healthcheck` exits with 0 while the master's loop continues.

It starts every few seconds for as long as a master runs, so it imports no module of Zoe: loading all settings would
take almost a second of CPU time.
"""

from __future__ import annotations

import os
import re
import sys
import tomllib
import urllib.request
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path

LAG = re.compile(r"^zoe_reconcile_lag_seconds ([0-9.e+-]+)$", re.MULTILINE)
_TICKS_MISSED_MAX = 6
_TIMEOUT_S = 5
_DEFAULTS = {"master_metrics_port": 0.0, "master_timer_s": 5.0}


def main() -> int:
    """Read this master's metrics: it is healthy if it compared journal and back-end recently, or another master
    leads.
    """
    try:
        settings = settings_in(os.environ)
    except (OSError, ValueError, TypeError) as error:
        problem: str | None = f"cannot read the settings: {error}"
    else:
        problem = _problem(settings)
    if problem:
        print(problem, file=sys.stderr)
    return 1 if problem else 0


def settings_in(environment: Mapping[str, str]) -> dict[str, float]:
    """Return the metrics port and the timer like the master, which reports their errors."""
    variables = {name.lower(): value for name, value in environment.items()}
    file = environment.get("ZOE_CONFIG")
    written = tomllib.loads(Path(file).read_text("utf-8")) if file else {}
    return {
        name: float(variables.get(f"zoe_{name}", written.get(name, default))) for name, default in _DEFAULTS.items()
    }


def _problem(settings: Mapping[str, float]) -> str | None:
    port = settings["master_metrics_port"]
    # Without any proxy of the environment.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"http://127.0.0.1:{port:.0f}/metrics", timeout=_TIMEOUT_S) as answer:
            return problem_in(answer.read().decode(), settings["master_timer_s"])
    except (OSError, ValueError, OverflowError, HTTPException) as error:
        return f"cannot read the master's metrics: {error}"


def problem_in(metrics: str, timer_s: float) -> str | None:
    """Return the problem in these metrics, as text."""
    found = LAG.search(metrics)
    if found is None:
        return "the response does not contain a master's metrics"
    lag_s, most_s = float(found.group(1)), timer_s * _TICKS_MISSED_MAX
    return f"no tick for {lag_s:.0f} s (allowed: {most_s:.0f})" if lag_s > most_s else None


if __name__ == "__main__":
    sys.exit(main())
