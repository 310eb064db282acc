"""Lines of filters about requests: few of a client, each on one line."""

from __future__ import annotations

from storage_filters.wsgi.client_lines import ClientLines
from tests.support.manual_clock import ManualClock
from zoe_lib.logs.few_lines import LineLimiter


class Log:
    def __init__(self) -> None:
        self.lines: list[str] = []

    def info(self, text: str, *values: object) -> None:
        self.lines.append(text % values)

    warning = info


def test_filters_share_the_bound_of_a_client_and_the_next_line_tells_the_others() -> None:
    log, clock = Log(), ManualClock(1000.0)
    few = LineLimiter(2, clock)
    first, second, env = ClientLines(log, few), ClientLines(log, few), {"REMOTE_ADDR": "192.0.2.1"}
    for entry in (first.info, second.warning, second.info, first.info):
        entry(env, "refused: %s", "a\r\nERROR b")
    clock.advance(1.0)
    second.info(env, "refused")
    first.info({}, "%s", 1)
    assert log.lines == [*[r"refused: a\r\nERROR b"] * 2, "refused (2 more like this)", "1"]
