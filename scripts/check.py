"""Check a change in seconds: lint, and the unit tests that it can affect. `make test` remains the final check.

The change is what differs from the merge base with the upstream branch, uncommitted and untracked files included;
BASE=COMMIT selects another base.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from scripts.affected import ImportGraph, NotComparable, base_of, changed_files
from scripts.changed_parts import changed_parts

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
UNIT = "tests/unit"
PARSED = "build/affected.json"
LINT = (
    ("ruff", "check", "."),
    ("ruff", "format", "--check", "."),
    ("mypy",),
    ("lint-imports",),
)
WEB_LINT = ("python", "scripts/web.py", "check")
WEB_SOURCES = ("web/", "docs/reference/openapi.json", "scripts/web.py")
TESTS_NAMED_MAX = 10
FEW_TESTS, GROUPS = 40, 5


def main() -> int:
    """Check the change against BASE, or against the base of the present work; return 0 only if all is well."""
    try:
        return check(ROOT, os.environ.get("BASE") or base_of(ROOT))
    except NotComparable as error:
        print(f"{error}\nBASE=COMMIT make check compares with another commit.", file=sys.stderr)
        return 2


def check(root: Path, base: str) -> int:
    """Print what is checked, then each command's output as it ends."""
    began_s = time.monotonic()
    changed = changed_files(root, base)
    tests = ImportGraph(root, root / PARSED).affected(changed_parts(root, base, changed), UNIT)
    _say_what(base, changed, tests)
    lint = [*LINT, *([WEB_LINT] if _touches(changed, WEB_SOURCES) else [])]
    with ThreadPoolExecutor(2) as pool:
        # One core begins with the checks, and the other one with the tests; the first that is free goes on with those.
        checks = pool.submit(lambda: [_run(root, command) for command in lint])
        tested = [pool.submit(_test, root, some) for some in _shared_out(tests)]
        failed = [*checks.result(), *(one.result() for one in tested)]
    print(f"\n{'FAILED' if any(failed) else 'all well'}, {time.monotonic() - began_s:.1f} s")
    return int(any(failed))


def _say_what(base: str, changed: set[str], tests: list[str]) -> None:
    print(f"{len(changed)} files differ from {base[:12]}; they reach {len(tests)} files of {UNIT}:")
    print(*tests[:TESTS_NAMED_MAX], *(["..."] if len(tests) > TESTS_NAMED_MAX else []), sep="\n  ")
    elsewhere = sorted({path.split("/")[1] for path in changed if path.startswith("tests/") and path.count("/") > 1})
    elsewhere = [name for name in elsewhere if name not in ("unit", "support")]
    if elsewhere:
        print(f"not run here, and changed: {', '.join(f'tests/{name}' for name in elsewhere)}")


def _touches(changed: set[str], prefixes: tuple[str, ...]) -> bool:
    return any(path.startswith(prefixes) for path in changed)


def _shared_out(tests: list[str]) -> list[list[str]]:
    """Return the tests in groups for one process each; few make one, since a process takes seconds to begin."""
    groups = GROUPS if len(tests) >= FEW_TESTS else 1
    return [some for first in range(groups) if (some := tests[first::groups])]


def _test(root: Path, tests: list[str]) -> int:
    return _run(root, ("python", "-m", "pytest", "-q", "-p", "no:cacheprovider", *tests))


def _run(root: Path, command: tuple[str, ...]) -> int:
    began_s = time.monotonic()
    # Without bytecode, each pytest compiles what it imports: 2.0 CPU s to begin instead of 0.5.
    env = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]],
        cwd=root, check=False, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
    )  # fmt: skip
    name = " ".join(command[:4])
    print(f"\n=== {name} ({time.monotonic() - began_s:.1f} s)\n{done.stdout.strip()}", flush=True)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
