"""What of an engine's own words goes to everybody, and what to operators only: the one place that decides it."""

from __future__ import annotations

import re
from typing import NamedTuple

from zoe_master.backends.swarm.engines import status_of, words_of

OPERATORS_SEE = "operators see the whole error"
_INSIDE = re.compile(
    r"""\d{1,3}(?:\.\d{1,3}){3}                         # an address
    | \[[0-9a-fA-F:]*:[0-9a-fA-F:]*\] | (?:[0-9a-fA-F]{1,4}:){3,} # one of IPv6
    | \w://                                               # a URL
    | [\w.-]:\d{4,5}\b                                    # host and port
    | \bdial\b | \blookup\b | \bhost= | \bsocket\b        # words of network libraries
    | \b\w+(?:Error|Exception|Timeout|Refused|Aborted)\b | \bTraceback\b | \b[A-Z][a-z]+[A-Z]\w*\(  # of Python
    """,
    re.VERBOSE,
)


class Told(NamedTuple):
    """A sentence for everybody, and the engine's own words for operators where the sentence does not hold them."""

    message: str
    detail: str = ""


NOTHING = Told("")


def told(sentence: str, words: str) -> Told:
    """Say what happened, with the engine's words where they name no address, host or part of a program.

    What an engine says of a container is mostly of its user's doing (no such program), so it must not be kept back.
    """
    if _INSIDE.search(words):
        return Told(f"{sentence}; {OPERATORS_SEE}", words)
    return Told(f"{sentence}: {words}" if words else sentence)


def told_of(sentence: str, error: Exception) -> Told:
    """Say what happened when an engine was asked; what the client itself says without an answer is for operators."""
    words = words_of(error)
    return told(sentence, words) if status_of(error) is not None else Told(f"{sentence}; {OPERATORS_SEE}", words)
