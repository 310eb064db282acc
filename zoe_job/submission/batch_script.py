"""Preparation of sbatch, on a laptop and inside a job: read the script, and report options that are not understood."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from zoe_job.common.slurm_options import BadOptionError
from zoe_job.submission.request import Finding, JobRequest
from zoe_job.submission.script_lines import ScriptLines

SCRIPT_BYTES_MAX = 200_000
# Options that decide when, until when or for how long a job runs are never ignored: the next job may rely on them.
_WHEN = ("array", "begin", "deadline", "dependency", "time")


@dataclass(frozen=True)
class Verdict:
    """Messages about a script, and whether it must not be submitted, or only with `--loose`."""

    texts: list[str] = field(default_factory=list)
    wrong: bool = False
    refused: bool = False


def read_script(rest: Sequence[str], request: JobRequest) -> tuple[str, str, list[str]]:
    """Return the name of a job, its script and the script's arguments. Raises BadOptionError."""
    if request.wrap is not None:
        if rest:
            raise BadOptionError("--wrap replaces the script; give one of both")
        return "wrap", f"#!/bin/sh\n{request.wrap}\n", []
    name, *arguments = rest or ["-"]
    try:
        data = sys.stdin.buffer.read(SCRIPT_BYTES_MAX + 1) if name == "-" else _read(_script_path(name))
    except OSError as error:
        raise BadOptionError(f"cannot read {name}: {error.strerror}") from None
    return "sbatch" if name == "-" else Path(name).name, _script_text(data, name), arguments


def _script_path(name: str) -> Path:
    """Return the path of a script: here, or on PATH, as in sbatch."""
    if "/" in name or Path(name).exists():
        return Path(name)
    return next((place for place in (Path(text, name) for text in os.get_exec_path()) if place.is_file()), Path(name))


def _read(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(SCRIPT_BYTES_MAX + 1)


def _script_text(data: bytes, name: str) -> str:
    """Return the text of a script. Raises BadOptionError if sbatch would refuse it."""
    if len(data) > SCRIPT_BYTES_MAX:
        raise BadOptionError(f"{name} is longer than {SCRIPT_BYTES_MAX} bytes")
    name = "standard input" if name == "-" else name
    if not data.strip():
        raise BadOptionError(f"{name} is empty; give a batch script, or --wrap COMMAND")
    if not data.startswith(b"#!"):
        raise BadOptionError(f"{name} is not a batch script: the first line must begin with #! and an interpreter")
    if b"\r\n" in data:
        raise BadOptionError(f"{name} has line breaks of DOS (\\r\\n); convert them with dos2unix")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise BadOptionError(f"{name} is not UTF-8 text") from None


def judge(title: str, lines: ScriptLines, found: Sequence[Finding]) -> Verdict:
    """Return the options that are not understood, and those without effect, with line numbers."""
    wrong = [(line, f"{text}: {why}") for line, text, why in lines.refused]
    wrong += [
        (finding.given.line, f"{_option_text(finding)}: {finding.why}") for finding in found if not finding.harmless
    ]
    without = [
        (finding.given.line, f"{_option_text(finding)}: {finding.why}")
        for finding in found
        if finding.harmless and not finding.partly
    ]
    other = [
        (finding.given.line, f"{_option_text(finding)}: {finding.why}")
        for finding in found
        if finding.harmless and finding.partly
    ]
    texts = [
        *listing(f"{title}: not understood", wrong),
        *listing(f"{title}: without effect", without),
        *listing(f"{title}: other than in Slurm", other),
    ]
    if lines.late:
        texts.append(f"{title}: #SBATCH lines after the first command are not read: {_numbers(lines.late)}")
    if unread := sorted(name for name in os.environ if name.startswith("SBATCH_")):
        texts.append(f"{title}: variables of sbatch are not read, use options: {', '.join(unread[:20])}")
    if lines.indented:
        texts.append(f"{title}: #SBATCH lines that do not begin with # are not read: {_numbers(lines.indented)}")
    when = any(not finding.harmless and finding.given.name in _WHEN for finding in found)
    return Verdict(texts, bool(wrong), when)


def listing(head: str, rows: Sequence[tuple[int, str]]) -> list[str]:
    """Return a heading with a line for each row, which begins with the number of its line in the script."""
    if not rows:
        return []
    return [f"{head}:", *(f"  line {line}: {text}" if line else f"  {text}" for line, text in sorted(rows))]


def _option_text(one: Finding) -> str:
    return f"--{one.given.name}" + ("" if one.given.value is None else f"={one.given.value}")


def _numbers(lines: list[int]) -> str:
    return ", ".join(map(str, lines[:20])) + (", ..." if len(lines) > 20 else "")
