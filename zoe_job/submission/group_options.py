"""Groups of a heterogeneous job: `#SBATCH hetjob` between lines, `:` between options of the command."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest

from zoe_job.common.slurm_options import SBATCH, Given, read
from zoe_job.submission import values as option_values
from zoe_job.submission.conflicts import whole_request
from zoe_job.submission.request import Finding, JobRequest

# Each group has separate values. Other options apply to the whole job, and belong to the first group.
_OF_A_GROUP = frozenset(
    [
        *("nodes", "ntasks", "ntasks-per-node", "cpus-per-task", "mem", "mem-per-cpu", "mem-per-gpu"),
        *("gres", "gpus", "gpus-per-node", "gpus-per-task", "job-name"),
    ]
)
# A group inherits these from the previous one, as with sbatch 22.05.
_INHERITED = ("mem", "job-name")
_MEMORY = ("mem", "mem-per-cpu", "mem-per-gpu")


def read_groups(
    words: Sequence[str], options: dict[str, tuple[str, str]]
) -> tuple[list[Given], list[list[Given]], list[str], list[str]]:
    """Return the options of the first group and of the others, the words after them, and unknown options. Raises
    BadOptionError.
    """
    given, rest, unknown = read(words, options)
    others: list[list[Given]] = []
    while rest[:1] == [":"]:
        more, rest, strange = read(rest[1:], SBATCH)
        others.append(more)
        unknown += strange
    for group in others:  # sbatch takes it from the last group, in place of the script
        given += [given for given in group if given.name == "wrap"]
        group[:] = [given for given in group if given.name != "wrap"]
    return given, others, rest, unknown


def other_groups(
    first: JobRequest, before: Sequence[Given], lines: Sequence[list[Given]], on_line: Sequence[list[Given]]
) -> tuple[list[JobRequest], list[Finding]]:
    """Return the request of each further group, and a finding for each option without effect or not understood;
    `before`: options of the first group.
    """
    requests: list[JobRequest] = []
    found: list[Finding] = []
    if first.array is not None and (lines or on_line):
        found.append(Finding(Given("array", first.array), "Slurm has no arrays of heterogeneous jobs"))
    last = list(before)
    for of_lines, of_words in zip_longest(lines, on_line, fillvalue=()):
        own = [*of_lines, *of_words]
        has_memory = any(entry.name in _MEMORY for entry in own)
        inherited = [given for given in last if given.name in _INHERITED and not (given.name == "mem" and has_memory)]
        request, findings = whole_request([*inherited, *own])
        requests.append(request)
        found += [finding for finding in findings if finding.given in own]
        found += [
            replace(wrong, given=entry)
            for entry in own
            if entry.name not in _OF_A_GROUP and (wrong := _of_the_job(entry, before, findings, first.time)) is not None
        ]
        last = [*inherited, *own]
    return requests, found


def _of_the_job(
    given: Given, before: Sequence[Given], findings: Sequence[Finding], limit_s: float | None
) -> Finding | None:
    """Return why an option is invalid in a further group; None if it has no effect, or equals the first group's."""
    if any(finding.given == given for finding in findings):
        return None
    if any((entry.name, entry.value) == (given.name, given.value) for entry in before):
        return None
    own_s = option_values.time_s(given.value or "") if given.name == "time" else None
    if own_s is not None and limit_s is not None and own_s >= limit_s:
        return Finding(given, "the job ends with its first group", harmless=True)
    return Finding(given, "it applies to the whole job; give it in the first group")
