"""Measure what the tests detect: small random changes of the product, and functions that raise.

    python -m scripts.testing.mutants --seed TEXT --count N [--of PACKAGE] [--not-of PACKAGE] [--cover FILE]
        [--resume FILE] --tests ARGUMENT...
    python -m scripts.testing.mutants --again FILE [--resume FILE] --tests ARGUMENT...
    python -m scripts.testing.mutants --raise MODULE:FUNCTION --test TEST
    python -m scripts.testing.mutants --table FILE.toml [--resume FILE]

The first draws changes of lines that the tests run, and names the test that fails with each. `--cover` is written by
the first run, in which all given tests run once, and read by later ones: remove it after a change of the code.
`--again` lets other tests, which need not run the changed line in their own process, judge the survivors in a file of
results, and names all that fail: a test that detects none of them adds nothing to the first tests. The others prove
that a test uses a function: it has to fail with a body that only raises, and to pass unchanged; rows of a table may
name a check in a file instead, and its replacement. Everything runs in a copy of the tree; `--copy` keeps it, for tests
that need a runtime or a store, which are built once for each place of a tree.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.testing.mutants_cover import Coverage, measure
from scripts.testing.mutants_places import Mutant, mutants_of, raising
from scripts.testing.mutants_tree import Outcome, Tree, batches, temporary
from scripts.testing.parts import ROOT

PACKAGES = (
    "zoe_client", "zoe_lib", "zoe_master", "zoe_api", "zoe_cli", "zoe_embedded", "zoe_simulator", "lab", "zoe_files",
    "zoe_job", "storage_bridge", "storage_controller", "storage_filters", "storage_gateway",
)  # fmt: skip
_PROVED = "proved"
SURVIVED, NOT_COVERED, KILLED = "SURVIVED", "not covered", "killed by"
_RAISE_S, _ALONE_S = 1800.0, 600.0
_RAISE_MORE_S = 60.0


def main(given: Sequence[str] | None = None) -> int:
    """Run the command of the options."""
    options = _options().parse_args(given)
    path = options.copy or temporary(ROOT)
    tree = Tree(ROOT, path)
    try:
        if options.table:
            return prove_all(tree, tomllib.loads(options.table.read_text("utf-8")), options.resume)
        if options.again:
            return judge_again(tree, options.again, options.resume, options.tests)
        if options.raises:
            problem = prove(tree, options.raises, options.test)
            print(f"{options.raises}: {problem or f'{options.test} fails without it'}")
            return bool(problem)
        return _draw_and_judge(tree, options)
    finally:
        if options.copy is None:
            shutil.rmtree(path, ignore_errors=True)


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m scripts.testing.mutants")
    parser.add_argument("--seed", default="1", help="the same seed draws the same changes of the same tree")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--of", action="append", default=[], metavar="PACKAGE", help="only of this package or folder")
    parser.add_argument("--not-of", action="append", default=[], metavar="PACKAGE")
    parser.add_argument("--all-lines", action="store_true", help="draw also from lines that no test runs")
    parser.add_argument("--cover", type=Path, default=ROOT / "build" / "mutants.coverage")
    parser.add_argument("--resume", type=Path, help="write each result to this file, and skip the ones that it has")
    parser.add_argument("--again", type=Path, help="let all tests judge the survivors in this file of results")
    parser.add_argument("--tests", nargs="+", default=["tests/unit"], help="arguments of pytest")
    parser.add_argument("--raise", dest="raises", metavar="MODULE:FUNCTION")
    parser.add_argument("--test")
    parser.add_argument(
        "--table", type=Path, help="tables with a `test` and the function that it `breaks`, or a `check`"
    )
    parser.add_argument("--copy", type=Path, help="the folder of the copy, which is kept")
    return parser


def _draw_and_judge(tree: Tree, options: argparse.Namespace) -> int:
    options.cover.parent.mkdir(parents=True, exist_ok=True)
    if not options.cover.exists():
        measure(tree.root, options.cover, options.tests, PACKAGES)
    covered = Coverage.read(tree.root, options.cover)
    sources = sources_of(tree.root, options.of or PACKAGES, options.not_of)
    places = [mutant for path, source in sources.items() for mutant in mutants_of(path, source)]
    if not options.all_lines:
        places = [place for place in places if covered.reaches(place)]
    known = _known_results(options.resume)
    judge, results = Judge(tree, covered), list[tuple[str, str]]()
    for mutant in draw_mutants(places, options.count, options.seed):
        result = known.get(_key(mutant))
        if result is None:
            began_s = time.monotonic()
            result = judge.result_of(mutant, sources[mutant.path])
            _write(options.resume, {"key": _key(mutant), "result": result, "seconds": time.monotonic() - began_s})
        results.append((mutant.path.partition("/")[0], result))
        print(f"{mutant.path}:{mutant.line} [{mutant.kind}] {mutant.diff(sources[mutant.path])}: {result}", flush=True)
    print("\n".join(table(results)))
    return 0


def sources_of(root: Path, of: Iterable[str], not_of: Collection[str]) -> dict[str, bytes]:
    """Return the modules below these folders, without those below others."""
    found = {path for folder in of for path in root.joinpath(folder).rglob("*.py")}
    found |= {root / text for text in of if text.endswith(".py")}
    names = sorted(str(path.relative_to(root)) for path in found)
    without = tuple(f"{folder}/" for folder in not_of)
    return {name: (root / name).read_bytes() for name in names if not name.startswith(without)}


def draw_mutants(places: Iterable[Mutant], count: int, seed: str) -> list[Mutant]:
    """Return so many changes, at most one of a line; each line is equally likely."""
    of_lines: dict[tuple[str, int], list[Mutant]] = defaultdict(list)
    for place in places:
        of_lines[place.path, place.line].append(place)
    chance = random.Random(seed)
    return [chance.choice(of_lines[line]) for line in chance.sample(sorted(of_lines), min(count, len(of_lines)))]


class Judge:
    """Finds the test that fails with a change, and only with it."""

    def __init__(self, tree: Tree, covered: Coverage) -> None:
        self._tree, self._covered = tree, covered
        self._sound: dict[str, bool] = {}

    def result_of(self, mutant: Mutant, source: bytes) -> str:
        """Return a result as text."""
        tests = self._covered.tests_of(mutant)
        if not tests:
            return NOT_COVERED
        while True:
            failed = self._first_failure(mutant, source, [test for test in tests if self._sound.get(test, True)])
            if failed is None:
                return SURVIVED
            if failed not in self._covered.seconds:
                if not self._tree.run(tests[:1], _ALONE_S).good:
                    raise SystemExit(f"{tests[0]} does not pass in the copy of the tree")
                return f"{KILLED} {failed or 'collecting'}"
            if failed not in self._sound:
                self._sound[failed] = self._tree.run([failed], _ALONE_S).good
            if self._sound[failed]:
                return f"{KILLED} {failed}"

    def _first_failure(self, mutant: Mutant, source: bytes, tests: Sequence[str]) -> str | None:
        """Return the first test that fails; None if none does."""
        with self._tree.replaced_source(mutant.path, mutant.apply(source)):
            for batch, within_s in batches(tests, dict(self._covered.seconds)):
                outcome = self._tree.run(batch, within_s)
                if outcome.exit_code:
                    return outcome.failed
        return None


def judge_again(tree: Tree, results: Path, resume: Path | None, tests: Sequence[str]) -> int:
    """Run all tests with each surviving change, and name all that fail only then."""
    began_s = time.monotonic()
    before = tree.run(tests, _RAISE_S, to_the_end=True)
    within_s = _RAISE_MORE_S + 3 * (time.monotonic() - began_s)
    known, unsound = _known_results(resume), set(before.all_failed)
    found = Counter[str]()
    for key in (text for text, result in _known_results(results).items() if result == SURVIVED):
        if (result := known.get(key)) is None:
            mutant, source = _of_key(tree.root, key)
            with tree.replaced_source(mutant.path, mutant.apply(source)):
                after = tree.run(tests, within_s, to_the_end=True)
            failed = sorted(set(after.all_failed) - unsound) or ([] if after.passed and after.ended else ["all"])
            result = f"{KILLED} {', '.join(failed)}" if failed else SURVIVED
            _write(resume, {"key": key, "result": result})
        found.update(result.removeprefix(f"{KILLED} ").split(", "))
        print(f"{key}: {result}", flush=True)
    print(*(f"{count:4} {name}" for name, count in found.most_common()), sep="\n")
    return 0


def _of_key(root: Path, key: str) -> tuple[Mutant, bytes]:
    """Return the change of a result, and the source before it."""
    path = key.partition(":")[0]
    source = (root / path).read_bytes()
    return next(mutant for mutant in mutants_of(path, source) if _key(mutant) == key), source


def prove(tree: Tree, breaks: str, test: str) -> str:
    """Return why a test does not prove that it uses a function; empty if it does."""
    module, _, function = breaks.partition(":")
    path = f"{module.replace('.', '/')}.py"
    if not (tree.root / path).exists():
        path = f"{module.replace('.', '/')}/__init__.py"
    try:
        source = raising((tree.root / path).read_bytes(), function)
    except (OSError, KeyError):
        return "there is no such function"
    return _prove_change(tree, path, source, test)


def prove_check(tree: Tree, path: str, check: str, without: str, test: str) -> str:
    """Return why a test does not prove that a check exists, which is in the file once; empty if it does."""
    source = (tree.root / path).read_text("utf-8")
    if source.count(check) != 1:
        return f"{path} has the check {source.count(check)} times"
    return _prove_change(tree, path, source.replace(check, without).encode(), test)


def _prove_change(tree: Tree, path: str, source: bytes, test: str) -> str:
    began_s = time.monotonic()
    if not (before := tree.run([test], _RAISE_S)).good:
        return f"{test} does not pass as it is ({_outcome_text(before)})"
    within_s = _RAISE_MORE_S + 10 * (time.monotonic() - began_s)
    with tree.replaced_source(path, source):
        after = tree.run([test], within_s)
    if after.exit_code == 1 or not after.ended:
        return ""
    return f"{test} passes without it" if after.good else f"{test} does not run without it ({_outcome_text(after)})"


def _outcome_text(outcome: Outcome) -> str:
    return f"exit code {outcome.exit_code}, {outcome.passed} passed{f', {outcome.failed}' if outcome.failed else ''}"


def prove_all(tree: Tree, rows: Mapping[str, Any], resume: Path | None = None) -> int:
    """Prove each row of a table; return 1 if one fails. Rows that `resume` has as proved are not proved again."""
    wrong, known = 0, _known_results(resume)
    for name, row in rows.items():
        key = f"{name} {json.dumps(row, sort_keys=True)}"
        if known.get(key) != _PROVED:
            problem = _problem(tree, row)
            wrong += bool(problem)
            known[key] = problem or _PROVED
            _write(resume, {"key": key, "result": known[key]})
        print(f"{name}: {known[key]}", flush=True)
    print(f"{len(rows) - wrong} of {len(rows)} proved")
    return int(wrong > 0)


def _problem(tree: Tree, row: Mapping[str, Any]) -> str:
    if "breaks" in row:
        return prove(tree, row["breaks"], row["test"])
    return prove_check(tree, row["path"], row["check"], row["without"], row["test"])


def table(results: Iterable[tuple[str, str]]) -> list[str]:
    """Return lines with the numbers of killed, surviving and uncovered changes, for each package and in total."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for package, result in results:
        kind = result if result in (SURVIVED, NOT_COVERED) else KILLED
        for name in (package, "total"):
            counts[name][kind] += 1
    rows = [f"{'':20}{'killed':>9}{'survived':>9}{'not covered':>13}"]
    for name in [*sorted(counts.keys() - {"total"}), *(["total"] if counts else [])]:
        row = counts[name]
        rows.append(f"{name:20}{row[KILLED]:9}{row[SURVIVED]:9}{row[NOT_COVERED]:13}")
    return rows


def _key(mutant: Mutant) -> str:
    return f"{mutant.path}:{mutant.line} {mutant.kind} {mutant.start}-{mutant.end} {mutant.new}"


def _known_results(file: Path | None) -> dict[str, str]:
    if file is None or not file.exists():
        return {}
    lines = [line for line in file.read_text("utf-8").splitlines() if line.endswith("}")]
    return {entry["key"]: entry["result"] for entry in map(json.loads, lines)}


def _write(file: Path | None, result: Mapping[str, object]) -> None:
    if file is not None:
        with file.open("a", encoding="utf-8") as lines:
            lines.write(f"{json.dumps(result)}\n")


if __name__ == "__main__":
    sys.exit(main())
