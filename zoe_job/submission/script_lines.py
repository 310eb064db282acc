"""Read the `#SBATCH` lines of a script, as sbatch does: up to the first command."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field

from zoe_job.common.slurm_options import SBATCH, BadOptionError, Given, read
from zoe_job.submission.script_calls import api_calls, document_lines, refused_calls

_MARK = "#SBATCH"
_AFTER_MARK = ("", " ", "\t", "-")  # Slurm needs no blank before an option
_COMMAND = re.compile(r"(?:^|[;&|(]|\bthen\b|\bdo\b)\s*(?:source\s+\S*)?\b(module|ml|conda|mamba|micromamba)\b")
# Often used for a port: 10000 + the last digits of the id.
_ID = r"SLURM_(?:ARRAY_)?JOB_?ID\b"
_NO_NUMBER = "the id of a job is a string here, not a number: arithmetic with it gives another result"
_ARITHMETIC = re.compile(rf"(?:\(\(|\bexpr\b|\blet\b).*{_ID}|{_ID}.*\btail\s+-c")


@dataclass(slots=True)
class ScriptLines:
    """Lines of a script in their order; `refused`: line number, text and reason, including calls of missing programs.
    `api_calls`: line number and text of calls of the API.
    """

    given: list[Given] = field(default_factory=list)
    others: list[list[Given]] = field(default_factory=list)
    """Options of further groups of a heterogeneous job."""
    refused: list[tuple[int, str, str]] = field(default_factory=list)
    api_calls: list[tuple[int, str]] = field(default_factory=list)
    late: list[int] = field(default_factory=list)
    indented: list[int] = field(default_factory=list)
    """Lines of options with an indentation, which sbatch ignores."""
    module_lines: list[int] = field(default_factory=list)
    conda_lines: list[int] = field(default_factory=list)
    arithmetic_lines: list[int] = field(default_factory=list)


def read_lines(script: str) -> ScriptLines:
    """Parse a script; invalid options are in `refused`."""
    found = ScriptLines()
    in_head, documents = True, document_lines(script)
    for number, line in enumerate(script.splitlines(), start=1):
        if line.startswith(_MARK) and (in_head or line[len(_MARK) : len(_MARK) + 1] in _AFTER_MARK):
            if in_head:
                _read_line(line[len(_MARK) :], number, found)
            elif number not in documents:  # such as the text of another script
                found.late.append(number)
        elif in_head and line.lstrip().startswith(f"{_MARK} "):
            found.indented.append(number)
        elif line.strip() and not line.lstrip().startswith("#"):
            in_head = False
            if command := _COMMAND.search(line):
                (found.module_lines if command[1] in ("module", "ml") else found.conda_lines).append(number)
            if computes := _ARITHMETIC.search(line):
                found.arithmetic_lines.append(number)
                found.refused.append((number, computes[0].strip()[:80], _NO_NUMBER))
    found.refused += refused_calls(script)
    found.api_calls += api_calls(script)
    return found


def _read_line(text: str, number: int, found: ScriptLines) -> None:
    if text and text[0] not in _AFTER_MARK:
        found.refused.append((number, f"{_MARK}{text}"[:80], "write a blank after #SBATCH"))
        return
    try:
        words = shlex.split(text, comments=True)
        given, rest, unknown = read(words, SBATCH, number)
    except ValueError as error:  # BadOptionError, or an open quotation mark
        why = str(error) if isinstance(error, BadOptionError) else "a quotation mark is open"
        found.refused.append((number, text.strip(), why))
        return
    if rest in (["hetjob"], ["packjob"]) and not given and not unknown:
        found.others.append([])
        return
    (found.others[-1] if found.others else found.given).extend(given)
    found.refused += [(number, word, "sbatch has no such option") for word in unknown]
    if rest:
        found.refused.append((number, " ".join(rest), "no option"))
