"""Copy files and directories between this machine and Zoe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from zoe_cli.commands.files.copy_record import CopyRecord
from zoe_cli.commands.files.local_tree import LocalTree, TreeBatch
from zoe_cli.commands.words.file_places import FilePlace
from zoe_cli.context import on_terminal
from zoe_cli.exits import Exit
from zoe_cli.output import note
from zoe_cli.text import printable
from zoe_client.calls.files import Files, Progress, local_name, no_progress, remote_name
from zoe_client.errors import NotAllowed, NotFound, Refused
from zoe_client.wire import FileEntry
from zoe_client.words.file_paths import InvalidPath


class Copier:
    """Copies files and directories between this machine and the places of files; names omitted files."""

    def __init__(self, files: Files, recursive: bool, server: str = "", *, everything: bool = False) -> None:
        self._files = files
        self._recursive = recursive
        self._server = server
        self._everything = everything
        self.left_out = 0
        self._record: CopyRecord | None = None

    def close(self) -> None:
        """Exit with an error if a file could not be read; all others are copied."""
        if self.left_out:
            raise typer.Exit(Exit.NOT_ALLOWED)

    def upload(self, source: Path, to: FilePlace, many: bool, contents: bool = False) -> None:
        """Copy a file or directory into a directory, or to a path. contents: of a directory, into one that exists."""
        if not source.exists():
            raise typer.BadParameter(f"cannot read {source}: No such file or directory")
        name = remote_name(source.absolute() if source.name else source.resolve())
        contents = contents and source.is_dir()
        nests = not many and not contents and self._is_directory(to)
        target = to.below(name) if many or nests else to
        if source.is_dir():
            self._check_recursive(str(source))
            with self._recorded(f"up {source.resolve()} {to.root} {to.path} {many}", target.path) as path:
                _note_nesting(nests and path == target.path, str(source), f"{FilePlace(target.root, path)}")
                self._upload_directory(source, FilePlace(target.root, path))
        elif not source.is_file():
            raise typer.BadParameter(f"{source} is not a file")
        else:
            if target.needs_directory:
                self._files.make_directory(target.needs_directory, target.root)
            self._upload_file(source, target)

    def download(self, place: FilePlace, target: Path, many: bool, contents: bool = False) -> None:
        """Copy a file or directory into a directory of this machine, or to a path. contents: as in upload."""
        entry, key = self._files.find(place.path, place.root), f"down {place} {target.absolute()} {many}"
        contents = contents and entry.kind == "directory"
        nests = not many and not contents and target.is_dir()
        if many or nests:
            target.mkdir(parents=True, exist_ok=True)
            target = target / local_name(entry) if entry.name else target
        if entry.kind == "directory":
            self._check_recursive(str(place))
            with self._recorded(key, str(target.absolute())) as path:
                _note_nesting(nests and path == str(target.absolute()), str(place), path)
                self._download_directory(place, Path(path))
        elif not target.parent.is_dir():
            raise typer.BadParameter(f"{target.parent} is not a directory")
        else:
            self._download_file(place, target)

    def fetch(self, place: FilePlace, target: Path) -> bool:
        """Copy one file; return False if it cannot be read, or its path is invalid."""
        try:
            self._download_file(place, target)
        except Refused as refused:
            if not isinstance(refused, NotAllowed) and refused.problem.code != "invalid_path":
                raise
            self._leave_out(place, refused)
            return False
        return True

    def _upload_directory(self, source: Path, target: FilePlace) -> None:
        tree = LocalTree(source.resolve(), everything=self._everything)
        batch = TreeBatch(self._files, target, self._record, progress_bar)
        present: dict[str, dict[str, int]] = {}
        is_empty = True
        for item in tree.items():
            is_empty = False
            below = target.below(item.path)
            if item.is_directory:
                batch.add_directory(item)
                continue
            if below.parent.path not in present:
                present[below.parent.path] = self._sizes(below.parent)
            size = present[below.parent.path].get(below.path.rpartition("/")[2])
            if self._is_done(below.path, item.version, size):
                continue
            if batch.takes(item):
                batch.add(item)
            else:
                self._make_parent(batch, below)
                self._upload_file(item.source, below)
                self._note_done(below.path, item.version)
        batch.send()
        if is_empty and target.path:
            self._files.make_directory(target.below("any").needs_directory, target.root)
        tree.tell()

    def _make_parent(self, batch: TreeBatch, below: FilePlace) -> None:
        """Make the directory of a file that goes alone."""
        if below.needs_directory not in batch.made:
            self._files.make_directory(below.needs_directory, below.root)
            batch.made.add(below.needs_directory)

    def _download_directory(self, place: FilePlace, target: Path) -> None:
        try:
            target.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):  # in an object store, an object and a directory may share a name
            self.left_out += 1
            note(f"left out: {place}: {target} is a file")
            return
        try:
            for entry in self._files.list(place.path, place.root):
                self._download_entry(entry, place.below(entry.name), target)
        except NotAllowed as refused:
            self._leave_out(place, refused)

    def _download_entry(self, entry: FileEntry, place: FilePlace, directory: Path) -> None:
        if entry.kind == "other":
            note(f"left out: {place} is not a file")
            return
        if entry.kind == "directory" and entry.link:  # it may point to a parent directory
            note(f"left out: {place} is a link to a directory: copy it by its own path")
            return
        try:
            target = directory / local_name(entry)
        except InvalidPath as refused:  # an object store allows names that are invalid for files
            self._leave_out(place, refused)
            return
        if entry.kind == "directory":
            self._download_directory(place, target)
        else:
            present = target.stat().st_size if target.is_file() else None
            version = f"{entry.size_bytes} {entry.modified_at_s}"
            if not self._is_done(place.path, version, present) and self.fetch(place, target):
                self._note_done(place.path, version)

    @contextmanager
    def _recorded(self, key: str, target: str) -> Iterator[str]:
        """Yield the target of this directory copy, or that of the interrupted one which it goes on with."""
        record = self._record = CopyRecord(f"{self._server} {key}", target)
        complete = False
        try:
            yield record.target
            complete = True
        finally:
            record.close(complete)
            self._record = None

    def _is_done(self, path: str, version: str, present: int | None) -> bool:
        """Return whether an interrupted copy has copied a file. present: its size at the target, if it is there."""
        size = int(version.partition(" ")[0])
        return self._record is not None and present == size and self._record.is_done(path, version)

    def _note_done(self, path: str, version: str) -> None:
        if self._record is not None:
            self._record.add(path, version)

    def _sizes(self, directory: FilePlace) -> dict[str, int]:
        """Return the files in a directory of which an interrupted copy may have copied some."""
        if self._record is None or not self._record.is_resumed:
            return {}
        try:
            return {entry.name: entry.size_bytes for entry in self._files.list(directory.path, directory.root)}
        except NotFound:
            return {}

    def _leave_out(self, place: FilePlace, refused: Exception) -> None:
        self.left_out += 1
        note(f"left out: {place}: {refused}")

    def _upload_file(self, source: Path, target: FilePlace) -> None:
        with progress_bar(str(source)) as progress:
            self._files.upload(source, target.path, target.root, progress)

    def _download_file(self, place: FilePlace, target: Path) -> None:
        with progress_bar(str(place)) as progress:
            self._files.download(place.path, target, place.root, progress)

    def _is_directory(self, place: FilePlace) -> bool:
        try:
            return self._files.find(place.path, place.root).kind == "directory"
        except NotFound:
            return False

    def _check_recursive(self, shown: str) -> None:
        if not self._recursive:
            raise typer.BadParameter(f"{shown} is a directory: copy it with -r")


def _note_nesting(nests: bool, source: str, target: str) -> None:
    """Say that a directory goes into an existing one, which a repeated copy would find."""
    if nests:
        note(f"note: the target exists, so {source} becomes {target}; with a / after it, its contents are copied")


@contextmanager
def progress_bar(name: str) -> Iterator[Progress]:
    """Show the progress if standard error is a terminal."""
    if not on_terminal():
        yield no_progress
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(escape(printable(name)), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
