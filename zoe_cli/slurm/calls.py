"""Calls in a script of what Slurm has and a job of Zoe has not, as far as their words are literal.

What a script puts together as it runs is found then, and fails the job (`zoe_job/missing.py`).
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from zoe_job.missing import PROGRAMS
from zoe_job.slurm_options import SRUN, BadOptionError, missing_of, read

# At the beginning of a command, also within a substitution, a function, a here-document or the text of a trap.
_CALL = re.compile(
    r"(?:^|[;&|(`{'\"]|\$\(|\b(?:then|do|else|time|exec|eval|if|while|until)\s|!\s)\s*"
    rf"(srun|scontrol|{'|'.join(PROGRAMS)})(?=\s|$|[;)&|`'\"])([^;&|`\n]*)"
)
_SHOWN = re.compile(r"\s*(?:show\s+hostnames?\b|\$)")


def refused_calls(script: str) -> Iterator[tuple[int, str, str]]:
    """Yield line number, text and reason of each call."""
    for number, line in _joined(script):
        if line.lstrip().startswith("#"):
            continue
        for found in _CALL.finditer(line):
            if why := _why(found[1], found[2]):
                yield number, f"{found[1]}{found[2]}".strip()[:80], why


def _why(program: str, rest: str) -> str | None:
    if program == "scontrol":
        return None if _SHOWN.match(rest) else "only `scontrol show hostnames` exists in a job"
    if program != "srun":
        return f"there is no {program} in a job"
    try:
        words = shlex.split(rest, comments=True)
    except ValueError:  # a quotation mark is closed elsewhere
        words = rest.split()
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
