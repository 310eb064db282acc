"""The files of a local directory that are to be copied, and requests that send many small ones at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from zoe_cli.commands.files.copy_record import CopyRecord
from zoe_cli.commands.files.ignored import FILES, IgnoreRules, looks_secret
from zoe_cli.commands.words.file_places import FilePlace
from zoe_cli.output import note
from zoe_cli.text import printable
from zoe_cli.units import count_with_noun
from zoe_client.calls.files import Files, Progress, remote_name
from zoe_client.calls.trees import TREE_BYTES_MAX, TREE_FILES_MAX, TreeFile
from zoe_client.vocabulary import STORE_ROOT

_SMALL_BYTES_MAX = 4 << 20
"""Larger files go alone, so that an interrupted one continues."""
_TOLD_MAX = 5


@dataclass(frozen=True, slots=True)
class Item:
    """A file or directory of a tree. `path`: below the target, as text; `version`: size and time of a file."""

    source: Path
    path: str
    size: int = 0
    version: str = ""
    is_directory: bool = False


class LocalTree:
    """A directory of this machine, without what `.gitignore` and `.zoeignore` leave out unless `everything`."""

    def __init__(self, source: Path, *, everything: bool) -> None:
        self._source = source
        self._everything = everything
        self._left_out: list[str] = []
        self._secret: list[str] = []

    def items(self) -> Iterator[Item]:
        """Yield files, and directories without files, in the order of their names."""
        yield from self._below(self._source, "", None if self._everything else IgnoreRules(self._source))

    def tell(self) -> None:
        """Report omitted names, and copied files that look like secrets."""
        if self._left_out:
            count = count_with_noun(len(self._left_out), "name")
            note(f"left out by {' and '.join(FILES)}: {count} ({_some(self._left_out)}); --all copies them, too")
        if self._secret:
            note(f"warning: these look like passwords or private keys, and were copied: {_some(self._secret)}")

    def _below(self, directory: Path, above: str, rules: IgnoreRules | None) -> Iterator[Item]:
        found = False
        for path in sorted(directory.iterdir()):
            found = True
            is_directory = path.is_dir() and not path.is_symlink()
            if rules is not None and rules.ignores(path, is_directory=is_directory):
                self._left_out.append(str(path.relative_to(self._source)))
                continue
            below = f"{above}/{remote_name(path)}" if above else remote_name(path)
            if is_directory:
                yield from self._below(path, below, None if rules is None else rules.below(path))
            elif path.is_file():
                seen = path.stat()
                if looks_secret(path, seen.st_size):
                    self._secret.append(str(path.relative_to(self._source)))
                yield Item(path, below, seen.st_size, f"{seen.st_size} {seen.st_mtime_ns}")
            else:
                note(f"left out: {printable(str(path))} is not a file")
        if not found and above:
            yield Item(directory, above, is_directory=True)


def _some(names: list[str]) -> str:
    more = len(names) - _TOLD_MAX
    return ", ".join(map(printable, names[:_TOLD_MAX])) + (f" and {more} more" if more > 0 else "")


class TreeBatch:
    """Small files that go with one request, and one entry of the audit log."""

    def __init__(
        self,
        files: Files,
        target: FilePlace,
        record: CopyRecord | None,
        bar: Callable[[str], AbstractContextManager[Progress]],
    ) -> None:
        self._files = files
        self._target = target
        self._record = record
        self._bar = bar
        self._items: list[Item] = []
        self._bytes = 0
        self.made: set[str] = set()
        """Directories made for files that go alone."""

    def takes(self, item: Item) -> bool:
        """Return whether a file goes with others: it is small, and does not go to the object store."""
        return item.size <= _SMALL_BYTES_MAX and not self._target.root.startswith(STORE_ROOT)

    def add_directory(self, item: Item) -> None:
        """Add an empty directory; the object store has none below a container."""
        if not self._target.root.startswith(STORE_ROOT):
            self.add(item)

    def add(self, item: Item) -> None:
        """Add a file, and send the batch when it is full."""
        if self._bytes + item.size > TREE_BYTES_MAX or len(self._items) >= TREE_FILES_MAX:
            self.send()
        self._items.append(item)
        self._bytes += item.size

    def send(self) -> None:
        """Send the added files, and record them."""
        if not self._items:
            return
        sent = [
            TreeFile(item.path, directory=True) if item.is_directory else TreeFile(item.path, item.source, item.size)
            for item in self._items
        ]
        with self._bar(f"{len(sent)} small files") as progress:
            self._files.write_tree(sent, self._target.path, self._target.root, progress)
        for item in self._items:
            if self._record is not None and not item.is_directory:
                self._record.add(self._target.below(item.path).path, item.version)
        self._items, self._bytes = [], 0
