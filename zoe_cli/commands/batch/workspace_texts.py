"""Read short texts in the workspace for a script."""

from __future__ import annotations

import tempfile
from pathlib import Path

import typer

from zoe_cli.context import options
from zoe_client.errors import NotFound, ZoeError
from zoe_job.submission.sourced_files import BYTES_MAX


class WorkspaceTexts:
    """Reads files of the workspace through the API; sends no more requests after a temporary failure."""

    def __init__(self, context: typer.Context) -> None:
        self._context = context
        self._away = False

    def read(self, path: str) -> str | None:
        """Return the text of a file; None if it does not exist, is too long, or cannot be read now."""
        if self._away:
            return None
        with options(self._context).client() as client, tempfile.TemporaryDirectory() as directory:
            target = Path(directory, "text")
            try:
                entry = client.files.find(path)
                if entry.kind != "file" or entry.size_bytes > BYTES_MAX:
                    return None
                client.files.download(path, target)
                return target.read_text()
            except (NotFound, UnicodeDecodeError):
                return None
            except ZoeError:
                self._away = True
                return None
