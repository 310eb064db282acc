"""The table of kinds, and what differs in each script."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from benchmarks.slurm_scripts.candidates import KINDS
from benchmarks.slurm_scripts.case import Case
from benchmarks.slurm_scripts.normal import difference


@dataclass(frozen=True)
class Verdict:
    """How two runs of a script compare; an empty text is no difference."""

    case: Case
    jobs: str
    files: str
    order: bool
    refused: str
    """`both`, `slurm` or `zoe`: who took nothing in."""
    falsely_succeeded: bool

    @property
    def equal(self) -> bool:
        """Return whether states, output and files are equal, in whatever order lines come."""
        return not self.jobs and not self.files


def verdict(case: Case, scratch: Path) -> Verdict | None:
    """Return how a script compares; None before both sides have run it."""
    sides = []
    for side in ("slurm", "zoe"):
        place = scratch / "results" / side / f"{case.number:03d}.json"
        if not place.exists():
            return None
        sides.append(json.loads(place.read_text()))
    slurm, zoe = sides
    # A job whose output cannot be opened or whose directory is missing: Zoe's ends with 1, and says why.
    zoe["jobs"] = [
        there if (there, here) == ("not started", "failed 1") else here
        for there, here in zip_longest(slurm["jobs"], zoe["jobs"])
        if here is not None
    ]
    lacking, other, order = difference(slurm["files"], zoe["files"])
    jobs = (
        ""
        if slurm["jobs"] == zoe["jobs"]
        else f"{' '.join(slurm['jobs'][:5]) or 'none'} / {' '.join(zoe['jobs'][:5]) or 'none'}"
    )
    refused = {(True, True): "both", (True, False): "slurm", (False, True): "zoe"}.get(
        (not slurm["jobs"], not zoe["jobs"]), ""
    )
    files = "; ".join([*(f"only one has {name}" for name in lacking[:3]), *(f"{name} differs" for name in other[:3])])
    succeeded = bool(zoe["jobs"]) and all(word == "succeeded" for word in zoe["jobs"])
    return Verdict(case, jobs, files, bool(order), refused, succeeded and bool(jobs or files))


def write_csv(cases: Sequence[Case], scratch: Path, place: Path) -> None:
    """Write a row for each script: where it is from, and how both sides ended."""
    with place.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("repository", "path", "commit", "kinds", "calls_slurm", "equal", "states", "files"))
        for case in cases:
            one, drawn = verdict(case, scratch), case.candidate
            found = ("", "", "") if one is None else ("yes" if one.equal else "no", one.jobs, one.files)
            calls = "yes" if drawn.calls else "no"
            writer.writerow((drawn.repository, drawn.path, drawn.commit, " ".join(drawn.kinds), calls, *found))


def table(cases: Sequence[Case], scratch: Path) -> str:
    """Return Markdown: rows of kinds, then a row for each script that differs."""
    found = [one for case in cases if (one := verdict(case, scratch)) is not None]
    rows = [("all", found), *((kind, [one for one in found if kind in one.case.candidate.kinds]) for kind in KINDS)]
    rows.append(("calls of Slurm inside of jobs", [one for one in found if one.case.candidate.calls]))
    lines = [
        "| scripts | number | equal | of these refused by both | refused by Zoe alone | succeeded, yet different |",
        "|---|---|---|---|---|---|",
    ]
    for name, ones in rows:
        cells = (
            len(ones),
            sum(one.equal for one in ones),
            sum(one.refused == "both" for one in ones),
            sum(one.refused == "zoe" for one in ones),
            sum(one.falsely_succeeded for one in ones),
        )
        lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
    lines += ["", "| script | states of Slurm / Zoe | files |", "|---|---|---|"]
    lines += [
        f"| {one.case.number} {one.case.candidate.name} | {one.jobs} | {one.files} |" for one in found if not one.equal
    ]
    return "\n".join(lines)
