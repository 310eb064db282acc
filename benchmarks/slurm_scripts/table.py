"""The table of kinds, and the differences of each script."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from benchmarks.slurm_scripts.candidates import KINDS, SEVERAL
from benchmarks.slurm_scripts.case import Case
from benchmarks.slurm_scripts.normal import difference

AGAIN = "slurm-again"
"""Side of a second run on Slurm, for random differences."""
_SHOWN = 4


@dataclass(frozen=True)
class Verdict:
    """Comparison of two runs of a script; an empty text is no difference."""

    case: Case
    jobs: str
    files: str
    order: bool
    refused: str
    """Side that refused the script: `both`, `slurm` or `zoe`."""
    falsely_succeeded: bool
    by_chance: bool
    """Two runs on Slurm differ too."""

    @property
    def equal(self) -> bool:
        """Return whether states, output and files are equal, with lines in any order."""
        return not self.jobs and not self.files


def verdict(case: Case, scratch: Path) -> Verdict | None:
    """Return the comparison of a script; None before both sides have run it."""
    slurm, zoe, again = (_outcome(scratch, side, case) for side in ("slurm", "zoe", AGAIN))
    if slurm is None or zoe is None:
        return None
    # A job whose output cannot be opened or whose directory is missing: Zoe's ends with 1, and reports the reason.
    zoe["jobs"] = [
        there if (there, here) == ("not started", "failed 1") else here
        for there, here in zip_longest(slurm["jobs"], zoe["jobs"])
        if here is not None
    ]
    jobs, files, order = _differences(slurm, zoe)
    refused = {(True, True): "both", (True, False): "slurm", (False, True): "zoe"}.get(
        (not slurm["jobs"], not zoe["jobs"]), ""
    )
    succeeded = bool(zoe["jobs"]) and all(word == "succeeded" for word in zoe["jobs"])
    by_chance = again is not None and any(_differences(slurm, again)[:2])
    return Verdict(case, jobs, files, order, refused, succeeded and bool(jobs or files), by_chance)


def _outcome(scratch: Path, side: str, case: Case) -> dict[str, Any] | None:
    place = scratch / "results" / side / f"{case.number:03d}.json"
    return json.loads(place.read_text()) if place.exists() else None


def _differences(one: dict[str, Any], other: dict[str, Any]) -> tuple[str, str, bool]:
    """Return the differences in states and in files, and whether the order of lines differs."""
    lacking, different, order = difference(one["files"], other["files"])
    states = [" ".join(side["jobs"][:_SHOWN]) or "none" for side in (one, other)]
    if len(one["jobs"]) != len(other["jobs"]):
        states = [f"{len(side['jobs'])}: {text}" for side, text in zip((one, other), states, strict=True)]
    jobs = "" if one["jobs"] == other["jobs"] else " / ".join(states)
    names = [*(f"only one has {name}" for name in lacking[:3]), *(f"{name} differs" for name in different[:3])]
    return jobs, "; ".join(names), bool(order)


def write_csv(cases: Sequence[Case], scratch: Path, place: Path) -> None:
    """Write a row for each script: its source, and its end on both sides."""
    with place.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("repository", "path", "commit", "kinds", "calls_slurm", "equal", "chance", "states", "files"))
        for case in cases:
            one, drawn = verdict(case, scratch), case.candidate
            found = ("", "", "", "") if one is None else (_yes(one.equal), _yes(one.by_chance), one.jobs, one.files)
            writer.writerow(
                (drawn.repository, drawn.path, drawn.commit, " ".join(drawn.kinds), _yes(drawn.calls), *found)
            )


def _yes(fact: bool) -> str:
    return "yes" if fact else "no"


def table(cases: Sequence[Case], scratch: Path) -> str:
    """Return Markdown: rows of kinds, then a row for each script that differs."""
    found = [one for case in cases if (one := verdict(case, scratch)) is not None]
    rows = [
        ("all", found),
        *((kind, [verdict for verdict in found if kind in verdict.case.candidate.kinds]) for kind in (*KINDS, SEVERAL)),
    ]
    rows.append(("calls of Slurm inside of jobs", [verdict for verdict in found if verdict.case.candidate.calls]))
    columns: dict[str, Callable[[Verdict], bool]] = {
        "number": lambda _: True,
        "equal": lambda verdict: verdict.equal,
        "of these refused by both": lambda verdict: verdict.equal and verdict.refused == "both",
        "refused by Zoe alone": lambda verdict: verdict.refused == "zoe",
        "differs, also between two runs on Slurm": lambda verdict: not verdict.equal and verdict.by_chance,
        "succeeded, and differs": lambda verdict: verdict.falsely_succeeded,
        "of these by chance": lambda verdict: verdict.falsely_succeeded and verdict.by_chance,
    }
    lines = [f"| scripts | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for name, ones in rows:
        cells = [str(sum(map(counts, ones))) for counts in columns.values()]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    lines += ["", "| script | states of Slurm / Zoe | files |", "|---|---|---|"]
    lines += [
        f"| {verdict.case.number} {verdict.case.candidate.name} | {verdict.jobs} | {verdict.files} |"
        for verdict in found
        if not verdict.equal
    ]
    return "\n".join(lines)
