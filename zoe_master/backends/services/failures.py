"""Errors for services that cannot be started."""

from __future__ import annotations

from zoe_lib.domain.executions.execution import Cause


class CannotStartError(Exception):
    """The service ends before it runs; users see `cause` and the message, operators also see `detail`."""

    def __init__(self, message: str, cause: Cause = Cause.START_FAILED, detail: str = "") -> None:
        super().__init__(message)
        self.cause = cause
        self.detail = detail


class CannotStartYetError(CannotStartError):
    """It is unknown yet whether the service can start; a back-end retries for a while before it gives up."""
