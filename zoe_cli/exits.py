"""Exit codes of the command line; documented in docs/reference/cli.md and stable."""

from __future__ import annotations

from enum import IntEnum

from zoe_client.errors import (
    AccessEnded,
    Busy,
    Conflict,
    InvalidDescription,
    NeverFits,
    NotAllowed,
    NotFound,
    QuotaExceeded,
    Refused,
    TimedOut,
    ZoeError,
)


class Exit(IntEnum):
    """The exit codes."""

    OK = 0
    APPLICATION_FAILED = 1
    USAGE = 2
    NOT_FOUND = 3
    NOT_ALLOWED = 4
    CONFLICT = 5
    NEVER_FITS = 6
    WOULD_WAIT = 8
    DEADLINE = 9
    UNREACHABLE = 75
    TIMED_OUT = 124
    INTERRUPTED = 130
    BROKEN_PIPE = 141


MEANINGS: dict[Exit, str] = {
    Exit.OK: "done; with `--wait` and `wait`: the application succeeded",
    Exit.APPLICATION_FAILED: (
        "the application failed or was cancelled; the JSON has its own exit code, which `--exit-code-from-app` returns"
    ),
    Exit.USAGE: (
        "usage error: an unknown option, an invalid description, or a request that is refused; or a file of this "
        "machine cannot be read or written"
    ),
    Exit.NOT_FOUND: (
        "the execution, service, token, catalogue entry, or rule, node or object of the store does not exist, or you "
        "may not see it"
    ),
    Exit.NOT_ALLOWED: (
        "no token, an unknown or expired one, or one without the scope; or the quota of executions is used up; or your "
        "access to an open file, terminal or stream has ended"
    ),
    Exit.CONFLICT: (
        "it was changed concurrently, has already ended, or the idempotency key was used for a different request; with "
        "`admin user hand-over`: the files are not moved yet; with `storage restart`: its program failed"
    ),
    Exit.NEVER_FITS: "the application cannot run on this installation",
    Exit.WOULD_WAIT: "`zoe plan`: the application would have to wait",
    Exit.DEADLINE: (
        "`zoe plan`: the deadline cannot be met, by the forecast of the end; with `--finish-by`, also of `zoe run` and "
        "`zoe workflow run`: it cannot be promised as asked for"
    ),
    Exit.UNREACHABLE: "the server does not answer, or is unavailable",
    Exit.TIMED_OUT: "the time given by `--timeout` is over; the executions continue",
    Exit.INTERRUPTED: "interrupted by Ctrl-C; the executions continue",
    Exit.BROKEN_PIPE: "the reader of the output has gone, as in `zoe ls | head -1`",
}

_BY_ERROR: dict[type[ZoeError], Exit] = {
    NotFound: Exit.NOT_FOUND,
    NotAllowed: Exit.NOT_ALLOWED,
    AccessEnded: Exit.NOT_ALLOWED,
    Conflict: Exit.CONFLICT,
    QuotaExceeded: Exit.NOT_ALLOWED,
    Busy: Exit.UNREACHABLE,
    NeverFits: Exit.NEVER_FITS,
    InvalidDescription: Exit.USAGE,
    TimedOut: Exit.TIMED_OUT,
}


def exit_of(error: ZoeError) -> Exit:
    """Return the exit code for an error of the SDK; any other refusal by the server is a usage error."""
    for kind, code in _BY_ERROR.items():
        if isinstance(error, kind):
            return code
    if isinstance(error, Refused) and error.problem.status < 500:
        return Exit.USAGE
    return Exit.UNREACHABLE
