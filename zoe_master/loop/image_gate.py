"""Executions with missing images: end them if the images are unavailable, hold them back while these are pulled or
installed.
"""

from __future__ import annotations

from collections.abc import Mapping

from zoe_lib.domain.executions import events as ev
from zoe_lib.domain.executions.execution import Cause, ExecutionId, Outcome
from zoe_lib.domain.values.reasons import Reason, ReasonCode
from zoe_lib.store.values import ExecutionChange
from zoe_master.backends.base import Backend, ImageState, ImageStatus
from zoe_master.state.state_cache import StateCache
from zoe_master.state.tick_context import TickContext


class ImageGate:
    """Asks the back-end for every image of the queue once a tick, which begins pulls and installations."""

    def __init__(self, cache: StateCache, backend: Backend) -> None:
        self._cache = cache
        self._backend = backend
        # Missing images, as found by the last check.
        self.absent: Mapping[str, ImageStatus] = {}

    def check(self, tick: TickContext) -> Mapping[ExecutionId, Reason]:
        """End executions whose images are unavailable; return the reasons of those that wait for an image."""
        backlog = self._cache.backlog
        statuses = {image: self._backend.prepare(image) for image in backlog.images}
        self.absent = {image: status for image, status in statuses.items() if status.state is not ImageState.PRESENT}
        held: dict[ExecutionId, Reason] = {}
        refused: dict[ExecutionId, ExecutionChange] = {}
        for image, status in self.absent.items():
            for execution in backlog.wanting(image):
                if status.state is ImageState.UNAVAILABLE:
                    change = self._cache.change(execution, [_refusal(status, tick)])
                    if change is not None:
                        refused.setdefault(execution.id, change)
                else:
                    action = "installed" if status.state is ImageState.INSTALLING else "pulled"
                    progress = f": {status.message}" if status.message else ""
                    sentence = f"Image {image} is being {action}{progress}."
                    held[execution.id] = Reason(ReasonCode.IMAGE_PULLING, sentence)
        for some in self._cache.in_sets(list(refused.values())):
            self._cache.append_all(some)
        return held


def _refusal(status: ImageStatus, tick: TickContext) -> ev.Refused:
    return ev.Refused(
        at_s=tick.now_s,
        cause_id=tick.plan_id,
        outcome=Outcome.FAILED,
        cause=Cause.IMAGE_UNAVAILABLE,
        message=status.message + (f"; {status.hint}" if status.hint else ""),
        detail=status.detail,
    )
