"""Local files that go with a command: embedded in its description, or copied to the workspace."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from zoe_client.documents.additions import literal
from zoe_client.words.amounts import size

EMBEDDED_BYTES_MAX = 256 * 2**10
"""Limit of the description format, less what a description needs beside its files."""
EMBEDDED_MAX = 64
BYTES_MAX = 64 * 2**20
"""Of all files that go with one run; larger ones are copied first, by a command that resumes."""
FILES_MAX = 1000
_OF_IMAGE = ("/bin/", "/dev/", "/etc/", "/lib", "/opt/", "/proc/", "/sbin/", "/sys/", "/usr/")
_EVERYWHERE = frozenset({"", ".", "..", "/", "/tmp"})  # noqa: S108 - a word of a command
_FILES = frozenset(
    {".R", ".ipynb", ".jl", ".py", ".sh"}
    | {".avro", ".csv", ".db", ".h5", ".hdf5", ".json", ".jsonl", ".ndjson", ".npy", ".npz", ".orc", ".parquet", ".pkl"}
    | {".bz2", ".gz", ".sql", ".sqlite", ".tar", ".tgz", ".toml", ".tsv", ".txt", ".xlsx", ".xml", ".xz", ".yaml"}
    | {".yml", ".zip", ".zst"}
)
"""Suffixes of words that name files."""
_RELATIVE = re.compile(r"(?!\w+:)[^-/{\s][^{\s]*")
_DEPTH_MAX, _PART_MAX, _SUFFIX_MAX = 8, 100, 20
_PLACEHOLDER = re.compile(r"\{files\}/([A-Za-z0-9._@/-]+)")


class CannotCarry(ValueError):  # noqa: N818 - the name is the fact
    """A local file cannot go with a run; the message has the reason, and what to do first."""


@dataclass(frozen=True, slots=True)
class CarriedFile:
    """A local file. `text`: its content if a description can have it."""

    path: Path
    size: int
    text: str | None


class CarriedFiles:
    """The files of one component, by their names below a common directory: relative paths, or base names of files
    elsewhere.

    `template`: the only template that command words may contain, such as `{index}` of an array.
    """

    def __init__(self, template: str | None = None) -> None:
        self._template = template
        self._paths: dict[str, Path] = {}
        self.files: dict[str, CarriedFile] = {}
        self.stay: dict[str, None] = {}
        """Words of commands that name local directories and links to nothing, which do not go with a run."""
        self.missing: dict[str, None] = {}
        """Words of commands that look like files, and name none here."""

    def add(self, path: Path) -> str:
        """Add a file, and return its place for use in a command; CannotCarry."""
        name = self._name_of(path)
        if name not in self.files:
            if len(self.files) >= FILES_MAX:
                raise CannotCarry(
                    f"these are more than {FILES_MAX} files: copy them with `zoe cp -r` first, and name the copies"
                )
            try:
                self.files[name] = _read(path)
            except OSError as error:
                raise CannotCarry(f"cannot read {path}: {error.strerror}") from None
        return f"{{files}}/{name}"

    def word(self, word: str) -> str:
        """Return a command word for the description: a local file is replaced by its place, unless images have it too,
        such as /bin/sh; CannotCarry.
        """
        path = Path(word)
        of_image = f"{word}/".startswith(_OF_IMAGE) or word in _EVERYWHERE
        if _is_file(path) and not of_image:
            return self.add(path)
        if not of_image and _is_other(path):
            self.stay[word] = None
        elif path.suffix in _FILES and _RELATIVE.fullmatch(word):
            self.missing[word] = None
        return literal(word, self._template)

    def embedded(self) -> dict[str, str]:
        """Return the texts by name that fit into a description: of the first files that do."""
        texts: dict[str, str] = {}
        free = EMBEDDED_BYTES_MAX
        for name, file in self.files.items():
            if file.text is not None and file.size <= free and len(texts) < EMBEDDED_MAX:
                texts[name] = file.text
                free -= file.size
        return texts

    def too_many(self) -> dict[str, CarriedFile]:
        """Return the files that must be in the workspace before: the largest ones, until the rest goes with a run."""
        rest = sum(file.size for file in self.files.values())
        found: dict[str, CarriedFile] = {}
        for name, file in sorted(self.files.items(), key=lambda item: -item[1].size):
            if rest <= BYTES_MAX:
                break
            found[name] = file
            rest -= file.size
        return found

    def _name_of(self, path: Path) -> str:
        """Return the name of a file, with a number if it is taken: different names may become one."""
        name, found = _name(path), path.resolve()
        if any(above in self._paths for above in _above(name)):  # another file's directory has this name
            name = name.rpartition("/")[2]
        names = itertools.chain((name,), (_with_number(name, number) for number in itertools.count(2)))
        return next(name for name in names if self._may_have(name, found))

    def _may_have(self, name: str, found: Path) -> bool:
        """Reserve the name for a file and return True, unless another file or directory has it."""
        if any(name in _above(other) for other in self._paths):
            return False
        return self._paths.setdefault(name, found) == found


def placed(word: str, places: dict[str, str]) -> str:
    """Return a command word in which these files have another place than `{files}`."""
    return _PLACEHOLDER.sub(lambda found: places.get(found[1], found[0]), word)


def copy_command(name: str, file: CarriedFile) -> str:
    """Return the command that copies a file to the place where a run looks for it."""
    return f"zoe cp {file.path} :{name}"


def copies_needed(files: dict[str, CarriedFile], whole_bytes: int) -> str:
    """Return the sentence on files that are too large, with the commands to do first."""
    total = size(whole_bytes)
    listed = ", ".join(f"{file.path} ({size(file.size)})" for file in files.values())
    commands = "\n".join(f"  {copy_command(name, file)}" for name, file in files.items())
    return (
        f"files of up to {size(BYTES_MAX)} in all go with a run, and these have {total}; copy first, then repeat the "
        f"command: {listed}\n{commands}"
    )


def _read(path: Path) -> CarriedFile:
    """Return a file, with its text if that is short, UTF-8, and without NUL."""
    with path.open("rb") as stream:
        data = stream.read(EMBEDDED_BYTES_MAX + 1)
        if len(data) > EMBEDDED_BYTES_MAX:
            return CarriedFile(path, path.stat().st_size, None)
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return CarriedFile(path, len(data), None)
    return CarriedFile(path, len(data), None if "\0" in text else text)


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def _is_other(path: Path) -> bool:
    try:
        return path.is_dir() or path.is_symlink()
    except (OSError, ValueError):
        return False


def _name(path: Path) -> str:
    """Return the path relative to this directory, or the base name; `_` replaces blanks and other characters that
    descriptions forbid.
    """
    inside = not path.is_absolute() and ".." not in path.parts and len(path.parts) <= _DEPTH_MAX
    return "/".join(_legal(part) for part in (path.parts if inside else (path.name,)))


def _above(name: str) -> set[str]:
    return {str(parent) for parent in PurePosixPath(name).parents}


def _with_number(name: str, number: int) -> str:
    directory, slash, last = name.rpartition("/")
    stem, end = last, f"-{number}"
    if (suffix := PurePosixPath(last).suffix) and len(suffix) < _SUFFIX_MAX:
        stem, end = last.removesuffix(suffix), end + suffix
    return f"{directory}{slash}{stem[: _PART_MAX - len(end)]}{end}"


def _legal(part: str) -> str:
    legal = re.sub(r"[^A-Za-z0-9._@-]", "_", part)
    return (legal if legal[0].isalnum() else f"_{legal.lstrip('_')}")[:_PART_MAX]
