"""Calls in a script of Slurm's features that a job of Zoe lacks, as far as their words are literal.

Calls that a script composes at run time are found then, and fail the job (`common/missing.py`). So a doubtful place is
ignored here: a text, a here-document that no shell reads, a name that the script looks up or defines itself.
"""

from __future__ import annotations

import contextlib
import re
import shlex
from collections.abc import Iterator

from zoe_job.common.missing import API_PROGRAMS, PROGRAMS
from zoe_job.common.slurm_options import SRUN, BadOptionError, missing_of, read
from zoe_job.steps.heterogeneous import split
from zoe_job.submission.call_options import missing_option, missing_update

_NAMES = f"srun|scontrol|{'|'.join((*PROGRAMS, *API_PROGRAMS))}"
_OF_JOBS = ("hold", "release", "requeue", "requeuehold", "uhold", "update")
_SHOWN = ("job", "jobid", "jobs")
# Beginning of a command, also within a substitution or a function.
BEGINNING = r"(?:^|[;&|`{]|(?<!=)\(|\b(?:then|do|else|time|exec|eval|if|while|until)\s|!\s)\s*"
_CALL = re.compile(rf"{BEGINNING}(?P<path>/[\w./-]*/)?(?P<name>{_NAMES})(?=\s|$|[;)&|`])")
_LABEL = re.compile(rf"\s*(?:{_NAMES})(?:\s*\|\s*[\w*-]+)*\)")  # of a `case`
_OWN = re.compile(
    rf"(?:\bfunction\s+|^\s*)({_NAMES})\s*\(\)|\b(?:command\s+-[vV]|which|type|hash)\s+({_NAMES})\b", re.M
)
# Texts that a shell runs.
_RUN_TEXT = re.compile(r"\b(?:trap|eval|(?:ba|da|k|z)?sh\s+(?:-\w+\s+)*?-\w*c)\s+(?:'([^']*)'|\"([^\"]*)\")")
_TEXT = re.compile(r"'[^']*'|\"[^\"]*\"")
_HERE = re.compile(r"<<-?\s*(['\"]?)(\w+)\1")
_SHELL = re.compile(r"\b(?:ba|da|k|z)?sh\b")


def refused_calls(script: str) -> Iterator[tuple[int, str, str]]:
    """Yield line number, text and reason of each call that does not exist."""
    for number, path, name, words in _calls(script):
        if why := _refusal_of(name, words, path):
            yield number, " ".join([name, *words])[:80], why


def api_calls(script: str) -> Iterator[tuple[int, str]]:
    """Yield line number and text of each call of the API."""
    for number, _, name, words in _calls(script):
        if name in API_PROGRAMS or (name == "scontrol" and _of_jobs(words)):
            yield number, " ".join([name, *words])[:80]


def _calls(script: str) -> Iterator[tuple[int, str, str, list[str]]]:
    """Yield line number, path, name and words of each call of a program of Slurm."""
    own = {name for found in _OWN.finditer(script) for name in found.groups() if name}
    for number, line in commands(script):
        texts = [line, *(text for found in _RUN_TEXT.finditer(line) for text in found.groups() if text)]
        for text in texts:
            for found in _CALL.finditer(without_texts(text)):
                if found["name"] not in own and not _LABEL.match(text):
                    yield number, found["path"] or "", found["name"], words_of(text[found.end() :])


def commands(script: str) -> Iterator[tuple[int, str]]:
    """Yield the lines that begin with a command: no comments, no texts, no here-documents that no shell reads."""
    return ((number, line) for number, line, in_document, by_shell in _lines(script) if by_shell or not in_document)


def document_lines(script: str) -> frozenset[int]:
    """Return the line numbers of here-documents."""
    return frozenset(number for number, _, in_document, _ in _lines(script) if in_document)


def _lines(script: str) -> Iterator[tuple[int, str, bool, bool]]:
    """Yield the number and text of each line outside of comments and texts, whether it is in a here-document, and
    whether a shell reads that.
    """
    until, read_by_shell, mark = "", False, ""
    for number, line in _join_continued(script):
        if until:
            if line.strip() == until:
                until = ""
            else:
                yield number, line, True, read_by_shell
            continue
        begins_in_text, mark = bool(mark), _open_mark(line, mark)
        if begins_in_text or line.lstrip().startswith("#"):
            continue
        if here := _HERE.search(line):
            until, read_by_shell = here[2], bool(_SHELL.search(line))
        yield number, line, False, False


def without_texts(line: str) -> str:
    """Return a line with blanks instead of its texts, except those with a command."""
    return _TEXT.sub(_blank, line)


def _blank(text: re.Match[str]) -> str:
    """Return blanks for a text, unless it contains a command."""
    return text[0] if text[0][0] == '"' and ("$(" in text[0] or "`" in text[0]) else " " * len(text[0])


def _open_mark(line: str, mark: str) -> str:
    """Return the quotation mark that is open after a line."""
    escaped = False
    for letter in line:
        if escaped:
            escaped = False
        elif letter == "\\" and mark != "'":
            escaped = True
        elif mark:
            mark = "" if letter == mark else mark
        elif letter in "'\"":
            mark = letter
        elif letter == "#":
            break
    return mark


def words_of(rest: str) -> list[str]:
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


def _refusal_of(program: str, words: list[str], path: str) -> str | None:
    if program == "scontrol":
        return _why_scontrol(words)
    if program in API_PROGRAMS and path:
        return f"{path}{program} is not the {program} of a job of Zoe; call it without its path"
    if program not in API_PROGRAMS and program != "srun":
        return f"there is no {program} in a job"
    with contextlib.suppress(BadOptionError):  # the program reports it, as Slurm's does
        if program in API_PROGRAMS:
            return missing_option(program, words)
        return missing_of(given for part in split(words) for given in read(part, SRUN)[0])
    return None


def _why_scontrol(words: list[str]) -> str | None:
    names = words[:2] in (["show", "hostnames"], ["show", "hostname"])
    if words and not (words[0].startswith(("$", "-")) or names or _of_jobs(words)):
        return "scontrol in a job supports show hostnames, and the commands that change and show jobs"
    name = missing_update(words[1:]) if words[:1] == ["update"] else None
    return None if name is None else f"scontrol update {name}= does not exist in a job of Zoe"


def _of_jobs(words: list[str]) -> bool:
    first, second = [*words, "", ""][:2]
    return first in _OF_JOBS or (first == "show" and second in _SHOWN)


def _join_continued(script: str) -> Iterator[tuple[int, str]]:
    """Yield the lines with their numbers, joining lines that end with a backslash with the next."""
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
