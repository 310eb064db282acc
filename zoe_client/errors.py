"""Exceptions of the SDK.

ZoeError
├── Unreachable            no answer from the server (or its database is away)
├── TimedOut               waiting took longer than allowed
├── ContextError           no server or token is known, or their file cannot be read (also a ValueError)
└── Refused                the server refused the request; has status, code, detail, hint, errors
    ├── InvalidDescription     422 invalid_description
    ├── NeverFits              422 never_fits
    ├── QuotaExceeded          429 quota_exceeded
    ├── Busy                   429 plan_, logs_, terminals_, check_busy, too_many_streams; 503 queue_too_long
    ├── NotFound               404
    ├── NotAllowed             401, 403
    └── Conflict               409, 412
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from zoe_client.wire import Problem


_HEAD = re.compile(r"[^,;:]+")
_WORDS = re.compile(r"[a-z]{4,}")
# What an id is instead of an execution, and the calls for it: Python shows them below the error.
_CALLS_OF_OTHER_KINDS = {
    " is an array, not an ": "client.arrays.array(ID) has its reason, client.arrays.indices(ID) its executions",
    " is a workflow, not an ": "client.workflows.one(ID) has its steps with their executions",
}


class ZoeError(Exception):
    """Base class of all exceptions of the SDK."""


class Unreachable(ZoeError):  # noqa: N818 - the names are the facts
    """The server did not answer, or (`answered`) a part that it needs did not."""

    def __init__(self, message: str, answered: bool = False) -> None:
        self.answered = answered
        super().__init__(message)


class TimedOut(ZoeError):  # noqa: N818
    """Waiting took longer than allowed; the executions continue."""


class AccessEnded(ZoeError):  # noqa: N818
    """The server closed the connection: your sign-in, or the share that allowed it, has ended."""


class Refused(ZoeError):  # noqa: N818
    """The server refused the request."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        super().__init__(_sentence(problem.title, problem.detail))


class InvalidDescription(Refused):
    """The description has errors; `problem.errors` lists all of them, and the message names them."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        findings = (f"{found.pointer or '(document)'}: {found.message}" for found in problem.errors)
        self.args = ("\n".join([str(self), *findings]),)


class NeverFits(Refused):
    """The application cannot run on this installation as it is."""


class QuotaExceeded(Refused):
    """The quota of waiting and running executions is used up."""


class Busy(Refused):
    """Too many questions or streams of this kind are in progress, or the queue is too long now; retry later."""


class NotFound(Refused):
    """The object does not exist, or you may not see it."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        if problem.detail and not str(self).startswith(problem.detail):  # a sentence of its own, without "It"
            self.args = (problem.detail,)
        for part, calls in _CALLS_OF_OTHER_KINDS.items():
            if part in problem.detail:
                self.add_note(calls)


class NotAllowed(Refused):
    """The token is missing, unknown, or lacks a scope."""


class Conflict(Refused):
    """The object was changed concurrently, or its state does not allow the request."""


def _sentence(title: str, detail: str) -> str:
    """Return title and detail without saying the same twice: `It does not exist, or ...` and `x does not exist` are
    `x does not exist, or ...`.
    """
    head = _HEAD.match(title)
    said = set(_WORDS.findall(head[0].lower())) if head else set[str]()
    if head and said and said <= set(_WORDS.findall(detail.lower())):
        sentence, semicolon, more = detail.partition(";")
        return f"{sentence}{title[head.end() :]}{semicolon}{more}"
    return ": ".join(part for part in (title, detail) if part)


def is_part(text: str) -> bool:
    """Return whether a text can be one part of a path."""
    return text not in {"", ".", ".."} and "/" not in text


def checked_part(text: str) -> str:
    """Return a name or an id that can be one part of a path; NotFound for others. `..` and names with `/` would lead to
    another path, and no object has them.
    """
    if not is_part(text):
        raise not_found(f"{text!r} is neither a name nor an id")
    return text


def not_found(sentence: str) -> NotFound:
    """Return the error for an object that cannot exist, found without a request."""
    from zoe_client.wire import Problem

    return NotFound(Problem(title="It does not exist", status=404, code="not_found", detail=sentence))


def bad_name(pattern: str) -> Refused:
    """Return the error for a new name that breaks a rule; the message states the rule of `pattern` in words."""
    from zoe_client.wire import Diagnostic, Problem
    from zoe_client.words.pattern_words import words_of

    wrong = Diagnostic(pointer="/path/name", code="string_pattern_mismatch", message=f"must be {words_of(pattern)}")
    problem = Problem(title="The request is not valid", status=422, code="invalid_request", errors=[wrong])
    return Refused(problem)


_BY_CODE: dict[str, type[Refused]] = {
    "invalid_description": InvalidDescription,
    "never_fits": NeverFits,
    "quota_exceeded": QuotaExceeded,
    "plan_busy": Busy,
    "logs_busy": Busy,
    "terminals_busy": Busy,
    "check_busy": Busy,
    "position_busy": Busy,
    "position_not_reached": Busy,
    "too_many_streams": Busy,
    "queue_too_long": Busy,
}
_BY_STATUS: dict[int, type[Refused]] = {
    401: NotAllowed,
    403: NotAllowed,
    404: NotFound,
    409: Conflict,
    412: Conflict,
}


def from_problem(problem: Problem) -> ZoeError:
    """Return the exception for a problem."""
    kind = _BY_CODE.get(problem.code)
    if kind is None and problem.status == 503:
        return Unreachable(": ".join(part for part in (problem.title, problem.detail) if part), answered=True)
    return (kind or _BY_STATUS.get(problem.status) or Refused)(problem)
