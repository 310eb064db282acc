"""Errors of engines: their kind, and the part of their text that users see, besides operators."""

from __future__ import annotations

import re
from typing import NamedTuple

from docker.errors import APIError, DockerException

from zoe_client.words.connections import failure_words

UNREACHABLE = (OSError, DockerException)
"""Exceptions of calls without an answer; errors of requests are OSErrors."""
OPERATORS_SEE = "operators see the full error in `zoe show`"
_INSIDE = re.compile(
    r"""\d{1,3}(?:\.\d{1,3}){3}                         # an address
    | \[[0-9a-fA-F:]*:[0-9a-fA-F:]*\] | (?:[0-9a-fA-F]{1,4}:){3,} # one of IPv6
    | \w://                                               # a URL
    | [\w.-]:\d{4,5}\b                                    # host and port
    | \bdial\b | \blookup\b | \bhost= | \bsocket\b        # words of network libraries
    | /overlay2?/ | /(?:var/lib|run|containers|volumes)/ | /merged\b | /rootfs\b | \b[0-9a-f]{64}\b  # its files
    | \b(?:runc|crun|containerd|cgroup|shim)\b | \b\w+\.go:\d+   # of the programs that it runs
    | \b\w+(?:Error|Exception|Timeout|Refused|Aborted)\b | \bTraceback\b | \b[A-Z][a-z]+[A-Z]\w*\(  # of Python
    """,
    re.VERBOSE,
)


_DISK_FULL = "no space left on device"
_OF_THE_COMMAND = re.compile(r'exec: "[^"]*": [^:]+')
"""Errors of a user's own command, as the program that starts containers words them."""


class ErrorText(NamedTuple):
    """A sentence for everyone, and the engine's own words for operators if the sentence does not contain them."""

    message: str
    detail: str = ""


NOTHING = ErrorText("")


def error_text(sentence: str, words: str) -> ErrorText:
    """Return a sentence on the failure, with the engine's words if they name no address, host, path or part of an
    engine.

    An engine's error about a container is mostly due to its user (no such program), so users must see it.
    """
    if _DISK_FULL in words.lower():
        return ErrorText(f"{sentence}: its disk is full; ask the admin for space", words)
    if _INSIDE.search(words):
        helps = _OF_THE_COMMAND.search(words)
        if helps is not None and not _INSIDE.search(helps[0]):
            return ErrorText(f"{sentence}: {helps[0]}", words)
        return ErrorText(f"{sentence}; {OPERATORS_SEE}", words)
    return ErrorText(f"{sentence}: {words}" if words else sentence)


def error_text_of(sentence: str, error: Exception) -> ErrorText:
    """Return a sentence on a failed request to an engine; the client's own words, without an answer, are for
    operators.
    """
    words = words_of(error)
    return (
        error_text(sentence, words)
        if status_of(error) is not None
        else ErrorText(f"{sentence}; {OPERATORS_SEE}", words)
    )


def status_of(error: Exception) -> int | None:
    """Return the HTTP status of an engine's refusal; None if there was no answer."""
    return error.response.status_code if isinstance(error, APIError) and error.response is not None else None


def words_of(error: Exception) -> str:
    """Return the engine's message, without the client's additions, or why there is none."""
    if isinstance(error, APIError):
        return str(error.explanation or error)
    return str(error) if isinstance(error, DockerException) else failure_words(error)


def cannot_serve(error: Exception) -> bool:
    """Return whether an engine gave no answer, or one about itself (a manager without a leader), rather than a
    refusal.
    """
    status = status_of(error)
    return status is None or status >= 500
