"""Parse places of files: `:PATH`, `shared:PATH`, and places in the object store."""

from __future__ import annotations

import re
from dataclasses import dataclass

import typer

from zoe_client.vocabulary import STORE_ROOT, WorkspaceKind
from zoe_client.words.file_paths import InvalidPath, joined_path, path_parts

FORMS = (
    "`:PATH` (your workspace), `shared:PATH` (the tenant's), `swift2d://CONTAINER.SERVICE/PATH` or "
    "`store:SERVICE:CONTAINER/PATH` (the object store)"
)
_PREFIXES = {":": WorkspaceKind.WORKSPACE, "workspace:": WorkspaceKind.WORKSPACE, "shared:": WorkspaceKind.SHARED}
_STORE = re.compile(rf"{STORE_ROOT}(?P<service>[\w.-]+):(?P<path>.*)", re.DOTALL)
# As in descriptions.
_SWIFT = re.compile(r"swift2d://(?P<container>[^/]+)\.(?P<service>[^/.]+)(?P<path>(/.*)?)", re.DOTALL)
_S3 = re.compile(r"s3a://(?P<container>[^/]+)(?P<path>(/.*)?)", re.DOTALL)
_S3_SERVICE = "s3a"


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A path in a workspace, or in the tenant's account of an object store. `root`: as in the API."""

    root: str
    path: str

    def __str__(self) -> str:
        return f"{'' if self.root == WorkspaceKind.WORKSPACE else self.root}:{self.path}"

    @property
    def needs_directory(self) -> str:
        """Return the directory that a file of this path needs; for an object, its container."""
        return self.path.partition("/")[0] if self.root.startswith(STORE_ROOT) else self.parent.path

    @property
    def parent(self) -> FilePlace:
        """Return the directory of this place."""
        return FilePlace(self.root, self.path.rpartition("/")[0])

    def below(self, name: str) -> FilePlace:
        """Return the place of this name in this directory."""
        return FilePlace(self.root, f"{self.path}/{name}" if self.path else name)


def read_place(text: str) -> FilePlace | None:
    """Return the place in a text; None if it is a local path. BadParameter if it is invalid."""
    found = _root_and_path(text)
    if found is None:
        return None
    root, path = found
    try:
        return FilePlace(root, joined_path(path_parts(path)))
    except InvalidPath as error:
        raise typer.BadParameter(f"{text}: {error}") from None


def _root_and_path(text: str) -> tuple[str, str] | None:
    for prefix, root in _PREFIXES.items():
        if text.startswith(prefix):
            return root, text.removeprefix(prefix)
    if found := _STORE.fullmatch(text):
        return f"{STORE_ROOT}{found['service']}", found["path"]
    if found := _SWIFT.fullmatch(text):
        return f"{STORE_ROOT}{found['service']}", found["container"] + found["path"]
    if found := _S3.fullmatch(text):
        return f"{STORE_ROOT}{_S3_SERVICE}", found["container"] + found["path"]
    if text.startswith(("swift2d://", "s3a://", STORE_ROOT)):
        raise typer.BadParameter(f"{text} is not swift2d://CONTAINER.SERVICE/PATH, s3a://BUCKET/PATH, {FORMS}")
    return None
