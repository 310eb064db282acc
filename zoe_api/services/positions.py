"""Answers that are no older than a position of the journal: a client reads its own writes, also in answers of the
master.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zoe_api.http.problems.codes import Code
from zoe_api.http.problems.problems import ApiProblem
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.messaging.client import MasterRefused
from zoe_lib.messaging.refusal import Refusal
from zoe_lib.messaging.slow_lane import Bounds, Places

WAIT_S = 2.0
"""A tick follows a change within milliseconds, or after the master's timer."""
_PAUSE_S, _PAUSE_S_MAX = 0.01, 0.16
_KIND = "position"
_PLACES = Bounds(in_all_max=16, of_asker_max=4, busy="position_busy")
"""Each holds one of 40 threads of the API process: users who fill these places stop only requests with positions."""


class Positions:
    """Waits until a tick of the master has seen a position. Thread-safe."""

    def __init__(self, clock: Clock = SYSTEM_CLOCK) -> None:
        self._clock = clock
        self._places = Places()
        self._reached = 0

    def wait(
        self, position: int, user: str, ask: Callable[[str, dict[str, Any]], dict[str, Any]], newest: Callable[[], int]
    ) -> None:
        """Return once a tick has seen the position. `ask` asks the master; `newest` returns the journal's newest id.

        ApiProblem if the journal has no such position, if too many wait, or after two seconds; MasterUnreachable.
        """
        if position <= self._reached:
            return
        try:
            with self._places.place(_KIND, user, _PLACES):
                self._wait(position, ask, newest)
        except Refusal as refused:
            raise ApiProblem(Code.POSITION_BUSY, str(refused), "four requests of a user may wait at a time") from None

    def _wait(
        self, position: int, ask: Callable[[str, dict[str, Any]], dict[str, Any]], newest: Callable[[], int]
    ) -> None:
        if position > (there := newest()):
            hint = "the database may have been restored: repeat the request without the header"
            raise ApiProblem(Code.POSITION_UNKNOWN, f"{position} is beyond the newest position, {there}", hint)
        until_s, pause_s = self._clock.monotonic_s() + WAIT_S, _PAUSE_S
        while (reached := _position_of_tick(ask, position)) < position:
            if self._clock.monotonic_s() >= until_s:
                why = f"{position} was not reached within {WAIT_S:g} s; the master is at {reached}"
                raise ApiProblem(Code.POSITION_NOT_REACHED, why)
            self._clock.sleep(pause_s)
            pause_s = min(2 * pause_s, _PAUSE_S_MAX)
        self._reached = max(self._reached, reached)


def _position_of_tick(ask: Callable[[str, dict[str, Any]], dict[str, Any]], position: int) -> int:
    """Return the position that the master's last tick has seen; 0 before its first tick."""
    try:
        return int(ask("position", {"wanted": position})["reached"])
    except MasterRefused as refused:  # an older master
        raise ApiProblem(
            Code.POSITION_NOT_REACHED, f"the master cannot say which changes it has seen: {refused}"
        ) from None
