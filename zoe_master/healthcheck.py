"""For supervisors: `python -m zoe_master.healthcheck` ends with 0 while the master's loop continues."""

from __future__ import annotations

import re
import sys
import urllib.request

from zoe_lib.config import Settings
from zoe_lib.file_settings import read_settings

LAG = re.compile(r"^zoe_reconcile_lag_seconds ([0-9.e+-]+)$", re.MULTILINE)
_TICKS_MISSED_MAX = 6
_TIMEOUT_S = 5


def main() -> int:
    """Read this master's metrics: it compared the journal with the back-end lately, or another master leads."""
    settings = read_settings(Settings, "zoe-master")
    url = f"http://127.0.0.1:{settings.master_metrics_port}/metrics"
    # Asked past any proxy of the environment.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=_TIMEOUT_S) as answer:
            problem = problem_in(answer.read().decode(), settings.master_timer_s)
    except OSError as error:
        problem = f"cannot read the master's metrics: {error}"
    if problem:
        print(problem, file=sys.stderr)
    return 1 if problem else 0


def problem_in(metrics: str, timer_s: float) -> str | None:
    """What is wrong by these metrics, in words."""
    found = LAG.search(metrics)
    if found is None:
        return "the response does not contain a master's metrics"
    lag_s, most_s = float(found.group(1)), timer_s * _TICKS_MISSED_MAX
    return f"no tick for {lag_s:.0f} s (allowed: {most_s:.0f})" if lag_s > most_s else None


if __name__ == "__main__":
    sys.exit(main())
