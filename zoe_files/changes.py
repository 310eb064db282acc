"""Make, rename and delete files and directories."""

from __future__ import annotations

import os
import shutil
import stat

from zoe_client.words.file_paths import joined_path
from zoe_files.beneath import Parts, Root, move
from zoe_files.listing import UPLOADS
from zoe_files.refusal import FileRefused, refuse_os_errors, wrong_kind


def make_directory(root: Root, parts: Parts) -> bool:
    """Make a directory and its missing parents; False if it exists already; FileRefused."""
    made = False
    for depth in range(1, len(parts) + 1):
        with root.parent(parts[:depth]) as (directory, name):
            try:
                with refuse_os_errors(joined_path(parts[:depth])):
                    os.mkdir(name, dir_fd=directory)
                made = True
            except FileRefused as refused:
                if refused.code != "file_exists":
                    raise
                made = False
    with root.directory(parts):
        return made


def rename(root: Root, parts: Parts, to: Parts) -> None:
    """Rename a file or directory; the new name must be free; FileRefused."""
    for path in (parts, to):
        check_changeable(path)
    with root.parent(parts) as (from_directory, name), root.parent(to) as (to_directory, to_name):
        shown = joined_path(parts)
        with refuse_os_errors(shown):
            os.stat(name, dir_fd=from_directory, follow_symlinks=False)
        with refuse_os_errors(joined_path(to)):
            move(from_directory, name, to_directory, to_name)


def delete(root: Root, parts: Parts, *, recursive: bool) -> None:
    """Remove a file, a link or a directory, which must be empty unless `recursive`; FileRefused."""
    check_changeable(parts)
    shown = joined_path(parts)
    with root.parent(parts) as (directory, name), refuse_os_errors(shown):
        if not stat.S_ISDIR(os.stat(name, dir_fd=directory, follow_symlinks=False).st_mode):
            os.unlink(name, dir_fd=directory)
        elif recursive:
            shutil.rmtree(os.fsdecode(name), dir_fd=directory)
        else:
            os.rmdir(name, dir_fd=directory)


def check_changeable(parts: Parts) -> None:
    """Refuse changes to the directories of unfinished uploads."""
    if parts and parts[0].startswith(UPLOADS):
        raise wrong_kind(f"{joined_path(parts[:1])} holds unfinished uploads")
