"""Which files of a directory `.gitignore` and `.zoeignore` leave out, and which are likely secrets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_REPOSITORY = ".git"
FILES = (".gitignore", ".zoeignore")
"""The second one wins."""
_BYTES_MAX = 1 << 20
_KEY_BYTES_MAX = 65_536
_ENVIRONMENT = re.compile(r"\.env(\..+)?|\.netrc|\.pgpass|credentials(\.json)?", re.IGNORECASE)
_HARMLESS = (".env.example", ".env.sample", ".env.template")
_KEY_NAMES = re.compile(r"id_(rsa|dsa|ecdsa|ed25519)|.+\.(pem|key|p12|pfx)", re.IGNORECASE)
_KEY = re.compile(rb"-----BEGIN [A-Z ]*PRIVATE KEY-----")


class IgnoreRules:
    """The rules that hold below a directory: of its own files, then of the directories above it, as in git.

    Those above hold only if they do not leave out the directory itself, which the user has named.
    """

    def __init__(self, top: Path) -> None:
        top, *above = _up_to_repository(top.resolve())
        self._rules = [rule for directory in reversed(above) for rule in _rules_in(directory)]
        named = [top, *above[:-1]]
        if any(self.ignores(directory, is_directory=True) for directory in named):
            self._rules = []
        self._rules += _rules_in(top)

    def below(self, directory: Path) -> IgnoreRules:
        """Return the rules for the contents of a directory in this one."""
        inner = IgnoreRules.__new__(IgnoreRules)
        inner._rules = [*self._rules, *_rules_in(directory)]
        return inner

    def ignores(self, path: Path, *, is_directory: bool) -> bool:
        """Return whether a path is left out; that of a directory holds for all in it. A repository itself is, as in
        git.
        """
        if path.name == _REPOSITORY:
            return True
        for directory, spec in reversed(self._rules):
            if directory == path or directory not in path.parents:
                continue  # the rules of a directory do not hold for itself
            text = path.relative_to(directory).as_posix() + ("/" if is_directory else "")
            decided = spec.check_file(text).include
            if decided is not None:
                return decided
        return False


def looks_secret(path: Path, size: int) -> bool:
    """Return whether a file is likely to have passwords or a private key: by its name, or a key by its text."""
    if _ENVIRONMENT.fullmatch(path.name):
        return path.name not in _HARMLESS
    if size > _KEY_BYTES_MAX or not _KEY_NAMES.fullmatch(path.name):
        return False
    try:
        return bool(_KEY.search(path.read_bytes())) or path.suffix in (".p12", ".pfx")
    except OSError:
        return False


def _up_to_repository(directory: Path) -> Iterator[Path]:
    """Yield the directory, and those above it up to that of the git repository, if there is one."""
    above = [directory, *directory.parents]
    end = next((place for place, one in enumerate(above) if (one / ".git").exists()), 0)
    yield from above[: end + 1]


def _rules_in(directory: Path) -> Iterator[tuple[Path, GitIgnoreSpec]]:
    lines = [line for name in FILES for line in _lines(directory / name)]
    if lines:
        from pathspec import GitIgnoreSpec

        yield directory, GitIgnoreSpec.from_lines(lines)


def _lines(file: Path) -> list[str]:
    try:
        with file.open("rb") as stream:
            return stream.read(_BYTES_MAX).decode("utf-8", errors="surrogateescape").splitlines()
    except (FileNotFoundError, NotADirectoryError):
        return []
