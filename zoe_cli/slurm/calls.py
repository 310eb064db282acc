"""Calls in a script of what Slurm has and a job of Zoe has not, as far as their words are literal.

What a script puts together as it runs is found then, and fails the job (`zoe_job/missing.py`).
"""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Iterator

from zoe_job.missing import PROGRAMS
from zoe_job.slurm_options import SRUN, BadOptionError, missing_of, read

# At the beginning of a command, also within a substitution, a function, a here-document or the text of a trap.
_CALL = re.compile(
    r"(?:^|[;&|(`{'\"]|\$\(|\b(?:then|do|else|time|exec|eval|if|while|until)\s|!\s)\s*"
    rf"(srun|scontrol|{'|'.join(PROGRAMS)})(?=\s|$|[;)&|`'\"])"
)


def refused_calls(script: str) -> Iterator[tuple[int, str, str]]:
    """Yield line number, text and reason of each call."""
    for number, line in _joined(script):
        if line.lstrip().startswith("#"):
            continue
        for found in _CALL.finditer(line):
            words = _words(line[found.end() :])
            if why := _why(found[1], words):
                yield number, " ".join([found[1], *words])[:80], why


def _words(rest: str) -> list[str]:
    """Return the words of a command up to its end, as far as its quotation marks are closed."""
    reader = shlex.shlex(rest, posix=True, punctuation_chars="();<>|&`")
    reader.whitespace_split = True
    words: list[str] = []
    with contextlib.suppress(ValueError):  # the rest is within a text that ends elsewhere
        for word in reader:
            if word[0] in "();<>|&`":
                break
            words.append(word)
    return words


def _why(program: str, words: list[str]) -> str | None:
    if program == "scontrol":
        known = (
            words[:1] == [] or words[0].startswith("$") or words[:2] in (["show", "hostnames"], ["show", "hostname"])
        )
        return None if known else "only `scontrol show hostnames` exists in a job"
    if program != "srun":
        return f"there is no {program} in a job"
    try:
        given, _, _ = read(words, SRUN)
    except BadOptionError:  # srun says it, as that of Slurm does
        return None
    return missing_of(words, given)


def _joined(script: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers, those that end with a backslash together with the next."""
    begun, text = 0, ""
    for number, line in enumerate(script.splitlines(), start=1):
        begun = begun or number
        text += line
        if text.endswith("\\"):
            text = text[:-1]
            continue
        yield begun, text
        begun, text = 0, ""
    if text:
        yield begun, text
