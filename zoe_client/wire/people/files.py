"""Files of workspaces."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from zoe_client.wire.base import Wire

_PATH = "Bytes that are not UTF-8, unprintable characters and `%` are written `%XX`."


class FileEntry(Wire):
    """A file, a directory, or another thing with a name."""

    name: str = Field(description=_PATH)
    kind: Literal["file", "directory", "other"] = Field(
        description="`other`: a pipe, a device, or a link that leads out of the workspace or nowhere."
    )
    size_bytes: int
    modified_at_s: float
    link: bool = Field(description="Whether the name is a symbolic link.")


class FileList(Wire):
    """The entry at a path and, for a directory, a page of its entries by name."""

    entry: FileEntry
    entries: list[FileEntry]
    next: str | None = Field(description="Send it as `after` for the next page; null on the last one.")


class ResultFile(Wire):
    """A file that matches a pattern of `results`."""

    path: str = Field(description=_PATH)
    size_bytes: int
    modified_at_s: float


class ResultList(Wire):
    """Results of an execution, in its owner's workspace. Files of earlier executions may be among them."""

    files: list[ResultFile]
    unmatched: list[str] = Field(description="Patterns that no file matches.")
    complete: bool = Field(description="False if there are more files than are examined or listed.")


class WrittenTree(Wire):
    """The files of a request that wrote many."""

    files: int
    size_bytes: int


class DirectoryRequest(Wire):
    """A directory to make, with those above it."""

    path: str = Field(description=_PATH)


class RenameRequest(Wire):
    """A file or directory, and its new path, which must be free."""

    path: str = Field(description=_PATH)
    to: str = Field(description=_PATH)
