"""Places of files as people write them: `:PATH` in one's workspace, `shared:PATH` in the tenant's."""

from __future__ import annotations

from dataclasses import dataclass

import typer

from zoe_client.file_paths import InvalidPath, joined_path, path_parts
from zoe_client.vocabulary import WorkspaceKind

_PREFIXES = {":": WorkspaceKind.WORKSPACE, "workspace:": WorkspaceKind.WORKSPACE, "shared:": WorkspaceKind.SHARED}


@dataclass(frozen=True, slots=True)
class FilePlace:
    """A path in a workspace."""

    root: WorkspaceKind
    path: str

    def __str__(self) -> str:
        return f"{'' if self.root is WorkspaceKind.WORKSPACE else self.root}:{self.path}"

    @property
    def parent(self) -> FilePlace:
        """Return the directory of this place."""
        return FilePlace(self.root, self.path.rpartition("/")[0])

    def below(self, name: str) -> FilePlace:
        """Return the place of this name in this directory."""
        return FilePlace(self.root, f"{self.path}/{name}" if self.path else name)


def read_place(text: str) -> FilePlace | None:
    """Return the place that a text means; None if it is a path of this machine. BadParameter."""
    for prefix, root in _PREFIXES.items():
        if text.startswith(prefix):
            try:
                return FilePlace(root, joined_path(path_parts(text.removeprefix(prefix))))
            except InvalidPath as error:
                raise typer.BadParameter(f"{text}: {error}") from None
    return None
