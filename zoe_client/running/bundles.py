"""Copy the files of a run to the workspace: `.zoe-files/contents` has each content once, `.zoe-files/runs` each set."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from zoe_client.calls.files import Files, Progress, no_progress
from zoe_client.calls.trees import TreeFile
from zoe_client.errors import NotFound
from zoe_client.running.carried import CannotCarry, CarriedFile, copies_needed
from zoe_client.running.drafts import Draft

_DIRECTORY = ".zoe-files"
_READABLE = 0o500
"""Programs that write to their input would change it for later runs."""
_ID_LENGTH = 32


def carry(files: Files, draft: Draft, progress: Progress = no_progress) -> dict[str, object]:
    """Return the description of a command, whose files are in it or in the workspace; CannotCarry for files that are
    too large, unless they were copied.

    Only contents that the workspace does not have are sent. A set of files is kept for 30 days after its last use.
    """
    if draft.fits:
        return draft.embedded()
    stay = draft.carried.too_many()
    missing = {name: file for name, file in stay.items() if not _is_copied(files, name, file)}
    if missing:
        raise CannotCarry(copies_needed(missing, sum(file.size for file in draft.carried.files.values())))
    going = {name: file for name, file in draft.carried.files.items() if name not in stay}
    place = _send(files, going, progress) if going else ""
    return draft.placed({**{name: f"{place}/{name}" for name in going}, **{name: name for name in stay}})


def _is_copied(files: Files, name: str, file: CarriedFile) -> bool:
    """Return whether `zoe cp` has copied this version of a file."""
    try:
        entry = files.find(name)
    except NotFound:
        return False
    changed_s = file.path.stat().st_mtime
    return entry.kind == "file" and entry.size_bytes == file.size and entry.modified_at_s >= changed_s


def _send(files: Files, going: Mapping[str, CarriedFile], progress: Progress) -> str:
    """Copy a set of files, and return its directory in the workspace."""
    digests = {name: _digest(file.path) for name, file in going.items()}
    whole = hashlib.sha256("".join(f"{name}\n{digests[name]}\n" for name in sorted(going)).encode())
    place = f"runs/{whole.hexdigest()[:_ID_LENGTH]}"
    named = [TreeFile(f"{place}/{name}", link=f"contents/{digest}") for name, digest in digests.items()]
    used = TreeFile(f"{place}/.used")  # it makes the set as old as this use of it
    contents = {digests[name]: file for name, file in going.items()}
    present = _present(files)
    try:
        sent = {digest: file for digest, file in contents.items() if present.get(digest) != file.size}
        files.write_tree([*_contents(sent), *named, used], _DIRECTORY, progress=progress)
    except NotFound:  # contents without a set were removed meanwhile
        files.write_tree([*_contents(contents), *named, used], _DIRECTORY, progress=progress)
    return f"{_DIRECTORY}/{place}"


def _contents(files: Mapping[str, CarriedFile]) -> list[TreeFile]:
    return [
        TreeFile(f"contents/{digest}", file.path, file.size, mode=_READABLE, sha256=digest)
        for digest, file in files.items()
    ]


def _present(files: Files) -> dict[str, int]:
    try:
        return {entry.name: entry.size_bytes for entry in files.list(f"{_DIRECTORY}/contents")}
    except NotFound:
        return {}


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
