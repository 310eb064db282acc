"""How long `make check` takes for each of the last commits, against its parent: `python -m benchmarks.check 50`.

Hashes instead of a number name the commits. All run in one clone, with the tools of this tree, after one check that
fills mypy's cache, as in a developer's second check. Merges are left out. Commits older than the tools may fail; only
the seconds count here.
"""

from __future__ import annotations

import contextlib
import io
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scripts.check import INTERRUPTED, ROOT, check

GOAL_MEDIAN_S, GOAL_MAX_S = 30.0, 120.0


def main() -> int:
    """Print the seconds of each commit, then median and maximum; return 1 if a goal is missed."""
    wanted = sys.argv[1:] or ["50"]
    with tempfile.TemporaryDirectory(prefix="zoe-check-") as directory:
        clone = Path(directory) / "clone"
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", str(ROOT), str(clone)], check=True)
        (clone / "web" / "node_modules").symlink_to(ROOT / "web" / "node_modules")
        # A link is no directory, which .gitignore names: as a new file, it would count as a change of the web UI.
        (clone / ".git" / "info" / "exclude").write_text("/web/node_modules\n")
        commits = wanted
        if len(wanted) == 1 and wanted[0].isdigit():
            commits = _git(clone, "log", f"-{wanted[0]}", "--no-merges", "--format=%h", "--reverse")
        _check_out(clone, f"{commits[0]}~1")
        _timed(clone)
        seconds, cpu_s = zip(*(_of(clone, commit) for commit in commits), strict=True)
    median, longest = statistics.median(seconds), max(seconds)
    goals = f"(goals: {GOAL_MEDIAN_S:.0f} s, {GOAL_MAX_S:.0f} s)"
    print(f"{len(seconds)} commits: median {median:.1f} s, longest {longest:.1f} s {goals}")
    print(f"CPU seconds: median {statistics.median(cpu_s):.1f}, most {max(cpu_s):.1f}")
    return int(median > GOAL_MEDIAN_S or longest > GOAL_MAX_S)


def _of(clone: Path, commit: str) -> tuple[float, float]:
    """Return wall and CPU seconds; those of CPU are comparable also beside other work."""
    _check_out(clone, commit)
    before_s = _children_cpu_s()
    seconds, said = _timed(clone)
    cpu_s = _children_cpu_s() - before_s
    print(f"{commit} {seconds:6.1f} s {cpu_s:6.1f} CPU s  {said}", flush=True)
    return seconds, cpu_s


def _children_cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _check_out(clone: Path, commit: str) -> None:
    subprocess.run(["git", "checkout", "-q", "--force", commit], cwd=clone, check=True)
    shutil.rmtree(clone / ".hypothesis", ignore_errors=True)


def _timed(clone: Path) -> tuple[float, str]:
    printed, began_s = io.StringIO(), time.monotonic()
    with contextlib.redirect_stdout(printed):
        if check(clone, "HEAD~1") == INTERRUPTED:
            raise KeyboardInterrupt
    lines = printed.getvalue().splitlines()
    return time.monotonic() - began_s, f"{lines[0]} {lines[-1]}"


def _git(clone: Path, *arguments: str) -> list[str]:
    return subprocess.run(["git", *arguments], cwd=clone, check=True, capture_output=True, text=True).stdout.split()


if __name__ == "__main__":
    sys.exit(main())
