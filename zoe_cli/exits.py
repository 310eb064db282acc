"""Exit codes of the command line; documented in docs/reference/cli.md and never changed."""

from __future__ import annotations

from enum import IntEnum

from zoe_lib.sdk import (
    Conflict,
    InvalidDescription,
    NeverFits,
    NotAllowed,
    NotFound,
    TimedOut,
    Unreachable,
    ZoeError,
)


class Exit(IntEnum):
    """What the exit code says."""

    OK = 0
    APPLICATION_FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    NOT_ALLOWED = 4
    CONFLICT = 5
    NEVER_FITS = 6
    UNREACHABLE = 75
    TIMED_OUT = 124


_BY_ERROR: dict[type[ZoeError], Exit] = {
    NotFound: Exit.NOT_FOUND,
    NotAllowed: Exit.NOT_ALLOWED,
    Conflict: Exit.CONFLICT,
    NeverFits: Exit.NEVER_FITS,
    InvalidDescription: Exit.USAGE,
    Unreachable: Exit.UNREACHABLE,
    TimedOut: Exit.TIMED_OUT,
}


def exit_of(error: ZoeError) -> Exit:
    """The exit code for an error of the SDK; what the server refuses otherwise is a wrong use."""
    return next((code for kind, code in _BY_ERROR.items() if isinstance(error, kind)), Exit.USAGE)
