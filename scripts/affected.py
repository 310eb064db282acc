"""Find the tests that a change can affect, by what each file imports and names."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable
from functools import cached_property, partial
from pathlib import Path, PurePosixPath
from zlib import crc32

from scripts import direct_needs
from scripts.changed_parts import PROJECT, RULES_OF_CHECKS
from scripts.direct_needs import ARROW, LOCATES, DirectNeeds
from scripts.parsed_needs import ParsedNeeds

# A change of these can change the result of any test.
REACH_EVERYTHING = (
    ".pytest.ini",
    "conftest.py",
    PROJECT,
    "pytest.ini",
    "requirements/zoe.lock",
    "scripts/pytest_main.py",
    "scripts/pytest_records.py",
    "scripts/with_parent.py",
    "setup.cfg",
    "tests/conftest.py",
    "tox.ini",
)
TREE = "(which files there are)"
"""Stands for the names of all files: changed if one is added, removed or renamed."""
# These look over a folder, and find modules without an import or a name.
LOOK_OVER = {
    "tests/unit/test_layout.py": (TREE,),
    "tests/unit/zoe_client/test_former_names.py": ("zoe_client/wire/", "zoe_lib/sdk/", "zoe_lib/wire/"),
    "tests/unit/zoe_client/test_plain_errors.py": ("zoe_client/wire/",),
    "tests/unit/zoe_embedded/test_log_files.py": ("zoe_embedded/",),
}
PARSED = "build/affected.json"
"""Where a clone keeps what was parsed."""
CODE_FOLDERS = frozenset({"benchmarks", "scripts", "tests"})


class NotComparable(Exception):  # noqa: N818 - the name is the fact
    """Git cannot compare with that commit; the message says what to do."""


SHALLOW = "this shallow clone: `git fetch --unshallow` gets all commits"


def changed_files(root: Path, base: str) -> set[str]:
    """Return the paths, relative to the root, that differ from the commit `base`; untracked files count."""
    return _differing(root, base)


def added_or_removed(root: Path, base: str) -> set[str]:
    """Return those of the changed files that one of the two does not have; a renamed file counts with both names."""
    return _differing(root, base, "--diff-filter=AD")


def _differing(root: Path, base: str, *options: str) -> set[str]:
    differing = _paths(root, "diff", "--name-only", "--no-renames", *options, "-z", _commit(root, base), "--")
    return {*differing, *_paths(root, "ls-files", "--others", "--exclude-standard", "-z")}


def base_of(root: Path) -> str:
    """Return the commit where the present work began: the merge base with upstream or main.

    On main without uncommitted changes, that is HEAD itself, so use the last commit's parent: there is always a change.
    """
    head = _words(root, "rev-parse", "HEAD")
    for branch in _where_work_began(root):
        found = _words(root, "merge-base", "HEAD", branch)
        if found and (found != head or changed_files(root, found[0])):
            return found[0]
        if not found and _words(root, "rev-parse", "--verify", "--quiet", branch) and _is_shallow(root):
            raise NotComparable(f"the commit where this branch left {branch} is not in {SHALLOW}")
    return "HEAD~1"


def _where_work_began(root: Path) -> list[str]:
    """Return the branches to compare with, the first one first; what was pushed of a branch is still its own work."""
    main = ["origin/HEAD", "origin/main", "main"]
    branch, upstream = (_words(root, "rev-parse", "--abbrev-ref", name) for name in ("HEAD", "@{upstream}"))
    own = bool(branch and upstream) and upstream[0].endswith(f"/{branch[0]}")
    return [*main, "@{upstream}"] if own else ["@{upstream}", *main]


def _commit(root: Path, name: str) -> str:
    """Return the hash of the one commit that a name stands for."""
    if not _words(root, "rev-parse", "--git-dir"):
        raise NotComparable(f"{root} is no git repository, so there is nothing to compare with: clone Zoe with git")
    found = _words(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}") if name else []
    if len(found) != 1:
        where = SHALLOW if _is_shallow(root) else "this clone: BASE=COMMIT names one commit, as git log shows it"
        raise NotComparable(f"there is no commit {name!r} in {where}")
    return found[0]


def _is_shallow(root: Path) -> bool:
    return _words(root, "rev-parse", "--is-shallow-repository") == ["true"]


class ImportGraph:
    """The files of a source tree that a Python file needs directly.

    A file needs the modules that it imports, the packages around them, the conftest.py files above it, and what its
    string constants name: a module (for `python -m`) or a path (for data files). Imports inside functions count too.
    """

    def __init__(self, root: Path, known: Path | None = None, changed: Iterable[str] = ()) -> None:
        """Read the tree at `root`; the file `known` keeps what was parsed for the next time.

        Texts name folders that the change removed as well.
        """
        self._root, self._known = root, known
        self._paths = {path for path in _tracked(root) if (root / path).is_file()}
        here_or_gone = {*self._paths, *changed}
        self._tops = {path.split("/", 1)[0] for path in here_or_gone}
        # A bare word such as "scripts" does not stand for these folders; for other folders, this is how code finds its
        # data.
        self._code = {top for top in self._tops if f"{top}/__init__.py" in here_or_gone} | CODE_FOLDERS

    def affected(self, changed: Iterable[str], candidates: str) -> list[str]:
        """Return the test files below the folder `candidates` that the changed files can affect, the nearest first.

        Near are those that fewer files stand between; among equally near ones, neighbours in a folder are spread.
        """
        tests = {p for p in self._paths if p.startswith(f"{candidates}/") and PurePosixPath(p).match("test_*.py")}
        changed = set(changed)
        steps = self._steps(changed)
        direct = {one for path in changed for one in _mirrored(path, candidates)}
        direct |= {test for test, places in LOOK_OVER.items() if any(path.startswith(places) for path in changed)}
        steps |= dict.fromkeys(direct, 0)
        if changed.intersection(REACH_EVERYTHING):
            steps = dict.fromkeys(tests, len(self._paths)) | steps  # those without a way come last
        return sorted(tests & steps.keys(), key=lambda test: (steps[test], crc32(os.fsencode(test))))

    def needs(self, path: str) -> set[str]:
        """Return everything that a Python file needs, directly or indirectly, itself included."""
        found, waiting = {path}, [path]
        while waiting:
            more = self._needs.get(waiting.pop(), set()) - found
            found |= more
            waiting.extend(more)
        return found

    def _steps(self, changed: set[str]) -> dict[str, int]:
        """Return by how many steps each file that the changed ones reach is away from them."""
        users: dict[str, set[str]] = {}
        for path, needed in self._needs.items():
            for one in needed:
                users.setdefault(one, set()).add(path)
        # Code finds a data file by the name of a folder around it, or from the location of a module in such a folder.
        folders = {str(parent) for path in changed for parent in PurePosixPath(path).parents}
        data = {path for path in changed if not path.endswith(".py")}
        near = changed | folders | {one for path in data for one in self._neighbours(path, users)}
        steps: dict[str, int] = {}
        step = 0
        while near:
            steps |= dict.fromkeys(near, step)
            near = {user for one in near for user in users.get(one, ())} - steps.keys()
            step += 1
        return steps

    def _neighbours(self, path: str, users: dict[str, set[str]]) -> set[str]:
        """Return the modules near a data file by whose location code may find it."""
        folders = {str(folder) for folder in _inner_folders(path)}
        found = {one for one in self._needs if str(PurePosixPath(one).parent) in folders}
        if not path.endswith(".md") or path.startswith("tests/"):
            return found
        # A text in a package is mostly for people: it takes a module that reads locations, its own or a neighbour's.
        locate = users.get(LOCATES, set())
        return locate & found.union(*(users.get(one, set()) for one in found))

    @cached_property
    def _needs(self) -> dict[str, set[str]]:
        # What a text may name depends on the folders at the top; and what is found in a file, on these rules.
        rules = Path(direct_needs.__file__).read_text("utf-8")
        parsed = ParsedNeeds(self._known, [rules, *sorted(self._tops), *sorted(self._code)])
        direct = DirectNeeds(self._tops, self._code)
        needs: dict[str, set[str]] = {PROJECT: {RULES_OF_CHECKS}}
        for path in self._paths:
            if path.endswith(".py"):
                found = parsed.of(path, (self._root / path).read_bytes(), partial(direct.of, path))
                needs[path] = {one for one in found if ARROW not in one}
                for node, _, one in (edge.partition(ARROW) for edge in found - needs[path]):
                    needs.setdefault(node, set()).add(one)
        parsed.save()
        return needs


def _mirrored(path: str, candidates: str) -> set[str]:
    """Return where the unit test of a file stands, if it has one: it is tried, however it finds the file."""
    file = PurePosixPath(path.removeprefix("tests/"))
    file = file.parent if file.name in ("__init__.py", "*.py") else file
    names = {file.stem, file.stem.lstrip("_")}
    return {str(PurePosixPath(candidates, file.parent, f"test_{name}.py")) for name in names}


def _inner_folders(path: str) -> list[PurePosixPath]:
    """Return the two folders around a file by which code is likely to find it, except those that contain everything."""
    folders = list(PurePosixPath(path).parents)[:2]
    return [folder for folder in folders if folder.parts and folder.parts not in (("tests",), ("tests", "unit"))]


def _tracked(root: Path) -> list[str]:
    return _paths(root, "ls-files", "--cached", "--others", "--exclude-standard", "-z")


def _paths(root: Path, *arguments: str) -> list[str]:
    done = _git(root, *arguments)
    if done.returncode != 0:
        raise NotComparable(done.stderr.strip())
    return [path for path in done.stdout.split("\0") if path]


def _words(root: Path, *arguments: str) -> list[str]:
    """Return what git prints; nothing if it does not know such a commit."""
    done = _git(root, *arguments)
    return done.stdout.split() if done.returncode == 0 else []


def _git(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run git; names of files are bytes, which need not be UTF-8."""
    try:
        return subprocess.run(
            ["git", *arguments], cwd=root, check=False, capture_output=True, encoding="utf-8", errors="surrogateescape"
        )
    except FileNotFoundError:
        raise NotComparable("git, which says what has changed, is not installed: install it") from None
