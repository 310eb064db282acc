"""Run drawn public scripts on Debian's Slurm and on Zoe, and print the differences.

    python -m benchmarks.slurm_scripts --mirrors DIR --scratch DIR

Needs root, and the packages slurmctld, slurmd, slurm-client and munge. The repositories are git directories
`OWNER+NAME/repo`. Each result is a line of JSON; scripts with a result are not run again.
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path

from benchmarks.slurm import Slurm
from benchmarks.slurm_scripts import on_slurm, on_zoe
from benchmarks.slurm_scripts.candidates import KINDS, SEVERAL, candidates, draw
from benchmarks.slurm_scripts.case import Case, Outcome, unpack
from benchmarks.slurm_scripts.stand_ins import make_programs
from benchmarks.slurm_scripts.table import AGAIN, table, write_csv
from benchmarks.support import machine, temporary_home
from zoe_embedded.stack import Stack

_AT_A_TIME = 8
_NODES, _GPUS = 16, 16


def main() -> None:
    """Draw scripts, run those without a result, and print the table."""
    given = _arguments()
    scratch: Path = given.scratch
    scratch.mkdir(parents=True, exist_ok=True)
    scratch.chmod(0o755)
    found = candidates(given.mirrors)
    if given.kind is not None:
        found = [candidate for candidate in found if given.kind in candidate.kinds]
    chosen = draw(found, given.seed, given.number)
    cases = [
        Case(number, candidate) for number, candidate in enumerate(chosen) if not given.only or number in given.only
    ]
    for side in given.sides:
        left = [case for case in cases if given.again or not _result(scratch, side, case).exists()]
        if left and side == "zoe":
            _on_zoe(given, left)
        elif left:
            _on_slurm(given, left, side)
    print(machine())
    print(table(cases, scratch))
    if given.csv is not None:
        write_csv(cases, scratch, given.csv)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mirrors", type=Path, required=True, help="directory of fetched repositories")
    parser.add_argument("--scratch", type=Path, required=True, help="directory of copies and results")
    parser.add_argument("--seed", type=int, default=100)
    parser.add_argument("--number", type=int, default=100)
    parser.add_argument("--kind", choices=(*KINDS, SEVERAL), help="draw only of this kind")
    parser.add_argument("--only", type=int, nargs="*", default=[], help="numbers of scripts")
    parser.add_argument("--sides", nargs="*", default=["slurm", AGAIN, "zoe"], choices=["slurm", AGAIN, "zoe"])
    parser.add_argument("--csv", type=Path, help="file of all scripts, to write")
    parser.add_argument("--again", action="store_true", help="run also scripts with a result")
    return parser.parse_args()


def _on_slurm(given: argparse.Namespace, cases: Sequence[Case], side: str) -> None:
    with Slurm(_NODES, on_slurm.VALUES, _GPUS) as slurm:

        def run(case: Case) -> Outcome:
            work = given.scratch / side / case.user
            texts = unpack(case, given.mirrors, work)
            programs = _programs(given.scratch, case, texts)
            return on_slurm.run(slurm, case, work, programs)

        _run_all(given.scratch, side, cases, run)


def _on_zoe(given: argparse.Namespace, cases: Sequence[Case]) -> None:
    places = {on_zoe.image(case): given.scratch / "programs" / case.user for case in cases}
    with temporary_home() as home, Stack(home, spark=False, settings=on_zoe.settings(places)) as stack:

        def run(case: Case) -> Outcome:
            person = on_zoe.Person(stack, case)
            draft = given.scratch / "zoe" / case.user
            texts = unpack(case, given.mirrors, draft)
            programs = _programs(given.scratch, case, texts)
            shutil.copytree(draft, person.workspace, dirs_exist_ok=True)
            return on_zoe.run(stack, case, person, programs, given.scratch / "zoe" / "tools" / case.user)

        _run_all(given.scratch, "zoe", cases, run)


def _programs(scratch: Path, case: Case, texts: list[str]) -> Path:
    place = scratch / "programs" / case.user
    make_programs(place, texts, until_signal=case.until_signal)
    return place


def _run_all(scratch: Path, side: str, cases: Sequence[Case], run: Callable[[Case], Outcome]) -> None:
    def run_one(case: Case) -> None:
        try:
            outcome = run(case)
        except Exception as error:
            print(f"{side} {case.number} {case.candidate.name}: {error!r}", flush=True)
            return
        place = _result(scratch, side, case)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(json.dumps(asdict(outcome)) + "\n")
        print(f"{side} {case.number} {case.candidate.name}: {outcome.jobs[:4]}", flush=True)

    with ThreadPoolExecutor(_AT_A_TIME) as pool:
        list(pool.map(run_one, cases))


def _result(scratch: Path, side: str, case: Case) -> Path:
    return scratch / "results" / side / f"{case.number:03d}.json"


if __name__ == "__main__":
    main()
