"""Possible changes of a module, the drawn ones, and their results."""

from __future__ import annotations

import inspect
import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from scripts.testing import mutants, mutants_tree
from scripts.testing.mutants import NOT_COVERED, SURVIVED, Judge, draw_mutants, prove, prove_all, sources_of, table
from scripts.testing.mutants_cover import Coverage
from scripts.testing.mutants_places import Mutant, mutants_of, raising
from scripts.testing.mutants_tree import Outcome, Tree, batches
from scripts.testing.parts import ROOT

# A line of a function -> all that it may become.
CHANGES = {
    "return a < b": ["return None", "return a <= b", "return a >= b"],
    "return a == 'x'": ["return None", 'return a == "mutant"', "return a != 'x'"],
    "x = a not in ('p', b)": ["x = a in ('p', b)", 'x = a not in ("mutant", b)'],
    "x = a is None": ["x = a is not None"],
    "x = a and (b or c)": ["x = a and (b and c)", "x = a or (b or c)"],
    "x = not a": ["x = (a)"],
    "x = (a + b) * c": ["x = (a + b) / c", "x = (a - b) * c"],
    "x = a // b": ["x = a * b"],
    "x = -a": ["x = +a"],
    "x = 7": ["x = 6", "x = 8"],
    "x = True": ["x = False"],
    "x = min(a, b)": ["x = max(a, b)"],
    "return 'x'": ['return "mutant"', "return None"],
    "return 0": ["return (-1)", "return 1"],
    "f(a)": ["pass"],
    "self.a = b": ["pass"],
    "a += b": ["a -= b", "pass"],
    "x = a if b else c": ["x = a if (not (b)) else c", "x = a if False else c", "x = a if True else c"],
    "x = [a for a in b if a]": ["x = [a for a in b if (not (a))]"],
    # Code without changes.
    "a: Literal[1] = b": [],
    "assert a == 1": [],
    "import a": [],
    "log.info('a', b=1)": [],
    "self._logger.warning(a + b)": [],
    "x = 'a' + b": [],
    "x = f'{a + 1}'": [],
    "'a text'": [],
    "return None": [],
}


def changed(source: str) -> list[str]:
    whole = source.encode()
    return [mutant.apply(whole).decode() for mutant in mutants_of("m.py", whole)]


@pytest.mark.parametrize("line", CHANGES)
def test_a_line_may_become(line: str) -> None:
    before, after = "# é\ndef f(self, a, b):\n    ", "  # x < 1\n"
    assert sorted(changed(f"{before}{line}{after}")) == sorted(f"{before}{new}{after}" for new in CHANGES[line])


def test_conditions_are_forced_and_loops_go_on() -> None:
    source = "while a:\n    if b:\n        break\n"
    swaps = [
        (" a", " (not (a))"),
        (" b", " (not (b))"),
        ("if b", "if False"),
        ("if b", "if True"),
        ("break", "continue"),
    ]
    assert sorted(changed(source)) == sorted(source.replace(*swap, 1) for swap in swaps)


def test_an_operator_after_a_comment_is_found() -> None:
    source = "x = (\n    (a)  # + b\n    + (c)\n)\n"
    assert changed(source) == [source.replace("    + (", "    - (")]


def test_defaults_are_changed_and_run_at_an_import() -> None:
    source = b'A = 1\ndef f(a=1, *, b="x"): return a * 1\n'
    found = {mutant.apply(source)[6:-1].decode(): mutant.imported for mutant in mutants_of("m.py", source)}
    assert found['def f(a=2, *, b="x"): return a * 1'] is True
    assert found['def f(a=1, *, b="mutant"): return a * 1'] is True
    assert found['def f(a=1, *, b="x"): return a / 1'] is False


def test_type_checking_blocks_and_decorators_are_not_changed() -> None:
    assert changed("if TYPE_CHECKING:\n    x = 1\n@cached(1)\ndef f(): ...\n__all__ = ['a'] if b else []\n") == []


def test_a_change_knows_its_line_and_the_statement_around_it() -> None:
    source = b"\nx = f(\n    a,\n    1,\n)\n"
    assert {(mutant.line, mutant.statement) for mutant in mutants_of("m.py", source)} == {(4, 2)}
    assert mutants_of("m.py", source)[0].diff(source) in ("1, => 0,", "1, => 2,")


def test_the_same_seed_draws_the_same_and_each_line_counts_once() -> None:
    places = [Mutant("a.py", 1, "constant", n, n + 1, "1") for n in range(50)]
    places += [Mutant("b.py", line, "constant", 0, 1, "1") for line in range(1, 100)]
    assert draw_mutants(places, 30, "s") == draw_mutants(places, 30, "s") != draw_mutants(places, 30, "t")
    assert len(draw_mutants(places, 1000, "s")) == 100
    first = [draw_mutants(places, 1, str(seed))[0].path for seed in range(300)]
    assert first.count("a.py") < 12  # one line of a hundred, however much may change on it


def test_sources_are_those_of_some_folders_without_others(tmp_path: Path) -> None:
    for name in ("a/one.py", "a/b/two.py", "c/three.py", "a/no.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    assert sources_of(tmp_path, ["a", "c"], ["a/b"]) == {"a/one.py": b"a/one.py", "c/three.py": b"c/three.py"}


PROGRAM = """
class A:
    @property
    def f(self) -> int:
        '''Text.'''
        def g(): yield 1
        return 1

    async def h(self):
        @cached
        def inner(): ...
        yield inner

def f(): return 2
"""


@pytest.mark.parametrize("name", ["f", "A.f", "A.h"])
def test_a_function_only_raises_and_stays_of_its_kind(name: str) -> None:
    known: dict[str, Any] = {"cached": lambda entry: entry}
    exec(raising(PROGRAM.encode(), name), known)
    call: Callable[[], Any] = {"f": known["f"], "A.f": lambda: known["A"]().f, "A.h": known["A"]().h}[name]
    if name == "A.h":
        assert inspect.isasyncgenfunction(call)
        call = call().asend(None).send
        call = cast("Callable[[], Any]", lambda send=call: send(None))
    with pytest.raises(RuntimeError, match="mutant"):
        call()
    others = {"f": known["f"], "A.f": lambda: known["A"]().f}.items()
    assert [entry() for other, entry in others if other != name]


def test_a_function_that_is_not_there() -> None:
    with pytest.raises(KeyError):
        raising(b"def f(): ...\n", "A.f")


class StubTree:
    """Runs nothing: `run` says how tests end with the sources that are changed."""

    root = ROOT

    def __init__(self, run: Callable[[list[str], dict[str, bytes]], Outcome]) -> None:
        self.root, self._run, self._changed = ROOT, run, dict[str, bytes]()

    @contextmanager
    def replaced_source(self, name: str, source: bytes) -> Iterator[None]:
        self._changed = {name: source}
        try:
            yield
        finally:
            self._changed = {}

    def run(self, tests: list[str], within_s: float, to_the_end: bool = False) -> Outcome:
        return self._run(tests, self._changed)


SOURCE = b"def f():\n    return 1\n"
COVERED = Coverage({"t::slow": 2.0, "t::quick": 0.1}, {"m.py": {2: ["t::slow", "t::quick"]}}, cast("Any", None))


def result_of(fails: Callable[[list[str], dict[str, bytes]], Outcome], covered: Coverage = COVERED) -> str:
    one = next(mutant for mutant in mutants_of("m.py", SOURCE) if mutant.new == "2")
    return Judge(cast("Tree", StubTree(fails)), covered).result_of(one, SOURCE)


def test_a_change_is_killed_by_the_first_test_that_fails_with_it_only() -> None:
    def run(tests: list[str], sources: dict[str, bytes]) -> Outcome:
        assert sources in ({}, {"m.py": b"def f():\n    return 2\n"})
        broken = [test for test in tests if test == "t::quick" or sources]  # one fails in the copy at any rate
        return Outcome(1, broken[0]) if broken else Outcome(0, "", len(tests))

    assert result_of(run) == "killed by t::slow"


def test_a_change_survives_or_no_test_covers_it() -> None:
    assert result_of(lambda tests, _: Outcome(0, "", len(tests))) == SURVIVED
    assert result_of(lambda *_: Outcome(1), Coverage({}, {}, cast("Any", None))) == NOT_COVERED
    assert result_of(lambda tests, sources: Outcome(2, "t.py") if sources else Outcome(0, "", 1)) == "killed by t.py"
    with pytest.raises(SystemExit, match="t::quick does not pass in the copy"):  # nor can it be collected as it is
        result_of(lambda *_: Outcome(2, "t.py"))


def test_the_quick_ones_come_first_and_batches_have_a_bound() -> None:
    one = mutants_of("m.py", SOURCE)[0]
    assert COVERED.tests_of(one) == ["t::quick", "t::slow"]
    seconds = {f"t::{number}": 0.5 for number in range(100)}
    found = list(batches(list(seconds), seconds))
    assert [len(tests) for tests, _ in found] == [41, 41, 18]
    assert found[-1][1] == 30.0 + 10 * 9.0


def test_other_tests_judge_what_survived(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = "scripts/testing/rename.py"
    first, second, third = mutants_of(name, (ROOT / name).read_bytes())[:3]
    results = {first: SURVIVED, second: "killed by t", third: SURVIVED}
    lines = [json.dumps({"key": mutants._key(mutant), "result": result}) for mutant, result in results.items()]
    (tmp_path / "first").write_text("\n".join(lines))
    seen: list[bytes] = []

    def run(_: list[str], sources: dict[str, bytes]) -> Outcome:
        seen.extend(sources.values())
        return Outcome(1, "always", 2, all_failed=("always", *(["b", "a"] if len(seen) == 1 else [])))

    for _ in range(2):  # the second time all is known
        assert mutants.judge_again(cast("Tree", StubTree(run)), tmp_path / "first", tmp_path / "second", ["x"]) == 0
        told = capsys.readouterr().out.splitlines()
        assert [text.rpartition(": ")[2] for text in told[:2]] == ["killed by a, b", SURVIVED]
        assert sorted(told[2:]) == ["   1 SURVIVED", "   1 a", "   1 b"]
    assert seen == [mutant.apply((ROOT / name).read_bytes()) for mutant in (first, third)]


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        (Outcome(0, "", 1), Outcome(1, "t"), ""),
        (Outcome(0, "", 1), Outcome(-1, "t", 0, ended=False), ""),
        (Outcome(0, "", 1), Outcome(0, "", 1), "t passes without it"),
        (Outcome(0, "", 1), Outcome(4), "t does not run without it (exit code 4, 0 passed)"),
        (Outcome(0), Outcome(1, "t"), "t does not pass as it is (exit code 0, 0 passed)"),  # it is skipped
    ],
)
def test_a_test_is_proved_if_it_fails_without_the_function_only(before: Any, after: Any, problem: str) -> None:
    def run(_: list[str], sources: dict[str, bytes]) -> Outcome:
        return after if sources else before

    tree = cast("Tree", StubTree(run))
    assert prove(tree, "scripts.testing.mutants:prove", "t") == problem
    assert prove(tree, "scripts.testing.mutants:nothing", "t") == "there is no such function"


def test_a_table_is_proved_row_by_row(capsys: pytest.CaptureFixture[str]) -> None:
    tree = cast("Tree", StubTree(lambda _, sources: Outcome(int(bool(sources)), "", 1)))
    rows = {"a": {"test": "t", "breaks": "scripts.testing.mutants:prove"}, "b": {"test": "t", "breaks": "no:one"}}
    assert prove_all(tree, rows) == 1
    assert capsys.readouterr().out.splitlines() == ["a: proved", "b: there is no such function", "1 of 2 proved"]


def test_rows_of_a_table_that_are_proved_are_not_proved_again(tmp_path: Path) -> None:
    runs: list[int] = []

    def run(_: list[str], sources: dict[str, bytes]) -> Outcome:
        runs.append(1)
        return Outcome(int(bool(sources)), "", 1)

    rows = {name: {"test": "t", "breaks": f"scripts.testing.mutants:{name}"} for name in ("prove", "none")}
    tree = cast("Tree", StubTree(run))
    assert [prove_all(tree, rows, tmp_path / "known") for _ in range(2)] == [1, 1]
    assert len(runs) == 2
    rows["prove"]["test"] = "another"
    prove_all(tree, rows, tmp_path / "known")
    assert len(runs) == 4


def test_the_table_counts_by_package() -> None:
    found = table([("a", SURVIVED), ("a", "killed by t"), ("b", NOT_COVERED)])
    assert [line.split() for line in found[1:]] == [
        ["a", "1", "1", "0"],
        ["b", "0", "0", "1"],
        ["total", "1", "1", "1"],
    ]


def test_results_are_kept_and_a_broken_last_line_is_dropped(tmp_path: Path) -> None:
    file = tmp_path / "results"
    assert mutants._known_results(file) == {}
    mutants._write(file, {"key": "a", "result": SURVIVED})
    with file.open("a") as lines:
        lines.write(json.dumps({"key": "b", "result": SURVIVED})[:-4])
    assert mutants._known_results(file) == {"a": SURVIVED}


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("copy")
    (copy / "zoe_lib").mkdir()
    (copy / "zoe_lib" / "__init__.py").touch()
    mutants_tree._environment(ROOT, copy)
    return copy


def test_programs_of_a_copy_import_the_copy_wherever_they_start(environment: Path) -> None:
    program = "import zoe_lib, pytest, sys; print(zoe_lib.__file__, sys.prefix)"
    python = environment / ".venv" / "bin" / "python"
    done = subprocess.run([python, "-c", program], cwd="/", env={}, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [f"{environment}/zoe_lib/__init__.py", f"{environment}/.venv"]
    assert f"#!{environment}" in (environment / ".venv" / "bin" / "zoe").read_text()


def test_a_changed_file_has_a_new_time_and_is_restored(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("a")
    tree = Tree.__new__(Tree)
    tree.path, tree._records = tmp_path, 0
    before, times = (tmp_path / "m.py").stat().st_mtime_ns, set()
    for source in (b"b", b"c"):
        with tree.replaced_source("m.py", source):
            assert (tmp_path / "m.py").read_bytes() == source
            times.add(int((tmp_path / "m.py").stat().st_mtime))
    assert len(times) == 2  # bytecode is known by whole seconds, and the size
    assert (tmp_path / "m.py").read_text() == "a"
    assert (tmp_path / "m.py").stat().st_mtime_ns == before
