"""Normalise texts: remove ids, hosts, times, paths, and Slurm's and Zoe's own lines, which differ between any two
runs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from benchmarks.slurm import NODE

_OWN_LINES = re.compile(r"^(?:srun|slurmstepd(?:-\w+)?|zoe|slurmd|sbatch|scancel)(?::| ).*$\n?", re.M)
# These differ between versions of Slurm, and so do users.
_VERSIONS = re.compile(
    r"^(?:export )?SLURM_(?:CONF|JOB_ACCOUNT|JOB_[GU]ID|JOB_(?:START|END)_TIME|JOB_QOS|NODE_ALIASES|PRIO_PROCESS|"
    r"TASK_PID|TOPOLOGY_ADDR|TOPOLOGY_ADDR_PATTERN|WORKING_CLUSTER)=.*$\n?",
    re.M,
)
# The first of two processes that a signal reaches is random, also on Slurm.
_ENDS = re.compile(r"^(?:.*: line \d+: +PID +)?(?:Terminated|Killed)\b.*$\n?", re.M)
_NODES = re.compile(
    rf"(?:{NODE}(?:\[[\d,-]+\]|\d+)|127\.0\.\d+\.\d+)(?:,(?:{NODE}(?:\[[\d,-]+\]|\d+)|127\.0\.\d+\.\d+))*"
)
_LISTED = re.compile(r"(?m)^([bcdlps-][rwxsStT-]{9})[.+]? +\d+ \S+ +\S+ +\d* *(?:DATE|TIME|SPAN|[\d: ])* +(\S.*)$")
_NUMBER = re.compile(r"(?<!\d)[1-9]\d{2,6}(?!\d)")
_PIDS_MAX = 8
_INDEX = re.compile(r"\b(JOB\d+)_\d+\b")
_RULES: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"/[^\s:'\"]*/slurm_script\b"), "SCRIPT"),
    (_NODES, "NODES"),
    (re.compile(r"\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*\b"), "DAY"),
    (re.compile(r"\b(?:\d{1,2} )?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\s+\d{1,2}\b"), "DATE"),
    (re.compile(r"\b\d{4}([-/])\d{2}\1\d{2}(?=T|\b)|\b\d{2}/\d{2}/\d{2,4}\b|\b20\d{6}\b"), "DATE"),
    (re.compile(r"(?:\b|(?<=DATE))T?\d{1,2}[:.]\d{2}[:.]\d{2}(?:\.\d+)?\b(?: [AP]M)?"), "TIME"),
    (re.compile(r"\b1[789]\d{8}(?:\.\d+)?\b"), "EPOCH"),
    (re.compile(r"\b\d+m[\d.]+s\b"), "SPAN"),
    (re.compile(r"\b\d+(?:\.\d+)? ?(?:s|secs?|seconds?|ms|minutes?)\b"), "SPAN"),
    (re.compile(r"(?i)\bpid[^\d\n]{0,12}\d+"), "PID"),
    (re.compile(r"(line \d+: +)\d+ "), r"\1PID "),
    (re.compile(r"/[^\s:'\"]*/tmp\.\w{6,}"), "TMP"),
    (re.compile(r"\buid_\d+"), "UID"),
)


def normal(text: str, names: Sequence[tuple[str, str]], *, drop_lines: bool = True) -> str:
    """Return a text with names of one run replaced, the longest first, and without times."""
    for old, new in sorted(names, key=lambda item: -len(item[0])):
        text = text.replace(old, new)
    for pattern, new in _RULES:
        text = pattern.sub(new, text)
    text = _LISTED.sub(r"\1 \2", text)
    return _ENDS.sub("", _OWN_LINES.sub("", _VERSIONS.sub("", text))) if drop_lines else text


def normal_files(files: Mapping[str, str], names: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return files by their normal names."""
    return {normal(name, names, drop_lines=False): normal(text, names) for name, text in sorted(files.items())}


def difference(slurm: Mapping[str, str], zoe: Mapping[str, str]) -> tuple[list[str], list[str], list[str]]:
    """Return the names of files that only one side has, of files with other lines, and of files with the same lines in
    another order.
    """
    slurm = _with_zoe_names(slurm, zoe)
    lacking = sorted(set(slurm) ^ set(zoe))
    both = sorted(set(slurm) & set(zoe))
    other = [name for name in both if not _same_lines(slurm[name], zoe[name])]
    order = [name for name in both if name not in other and slurm[name] != zoe[name]]
    return lacking, other, order


def _with_zoe_names(slurm: Mapping[str, str], zoe: Mapping[str, str]) -> dict[str, str]:
    """Return files with Zoe's names: in Slurm, the last index of an array has the id of the array."""
    found = {}
    for name, text in slurm.items():
        other = [text for text in zoe if text not in slurm and _INDEX.sub(r"\1", text) == name]
        found[other[0] if name not in zoe and len(other) == 1 else name] = text
    return found


def _same_lines(one: str, other: str) -> bool:
    """Return whether two texts have the same lines in any order, or differ in a few numbers of processes: always the
    same one in the same place.
    """
    one, other = _INDEX.sub(r"\1", one), _INDEX.sub(r"\1", other)
    if sorted(one.split("\n")) == sorted(other.split("\n")):
        return True
    if _NUMBER.sub("N", one) != _NUMBER.sub("N", other):
        return False
    pairs = {pair for pair in zip(_NUMBER.findall(one), _NUMBER.findall(other), strict=True) if pair[0] != pair[1]}
    return len(pairs) <= _PIDS_MAX and len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
