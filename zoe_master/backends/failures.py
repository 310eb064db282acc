"""Why a service cannot be started."""

from __future__ import annotations

from zoe_lib.domain.execution import Cause


class CannotStartError(Exception):
    """It ends before it began; `cause` and the message are what users see, `detail` what operators see besides."""

    def __init__(self, message: str, cause: Cause = Cause.START_FAILED, detail: str = "") -> None:
        super().__init__(message)
        self.cause = cause
        self.detail = detail


class CannotStartYetError(CannotStartError):
    """Nobody could say whether it can be started; a back-end asks again for a while before it ends it so."""
