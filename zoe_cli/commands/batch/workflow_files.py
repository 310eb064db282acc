"""Embed the local files that a workflow names: descriptions, and small files for its steps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from zoe_client.documents.bounds import DOCUMENT_BYTES_MAX
from zoe_client.documents.diagnostics import Code, DescriptionError, Diagnostic
from zoe_client.documents.load import load_json
from zoe_client.documents.yaml_document import LocatedDocument

_FILES_MAX = 64


def with_files(read: LocatedDocument, file: Path) -> LocatedDocument:
    """Return the document with descriptions in place of `application: app.json`, and with the texts of `files` given as
    a list of paths, relative to the workflow's file. DescriptionError lists all files that cannot be read.
    """
    document = read.document
    if not isinstance(document, dict) or not isinstance(document.get("steps"), list):
        return read
    base = Path() if str(file) == "-" else file.parent
    found: list[Diagnostic] = []
    steps = [_step(entry, base, read, f"/steps/{i}", found) for i, entry in enumerate(document["steps"])]
    if found:
        raise DescriptionError(found)
    return replace(read, document={**document, "steps": steps})


def _step(step: Any, base: Path, read: LocatedDocument, place: str, found: list[Diagnostic]) -> Any:
    if not isinstance(step, dict):
        return step
    changed = dict(step)
    try:
        if isinstance(step.get("application"), str):
            changed["application"] = load_json(_text(base / step["application"]))
        if isinstance(step.get("files"), list):
            changed["files"] = {Path(str(name)).name: _text(base / str(name)) for name in step["files"][:_FILES_MAX]}
    except DescriptionError as error:
        found += [_with_line(diagnostic, read, place) for diagnostic in error.diagnostics]
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        name = getattr(error, "filename", None) or "a file"
        found.append(_with_line(Diagnostic("", Code.BAD_FORMAT, f"cannot read {name}: {why}"), read, place))
    return changed


def _text(path: Path) -> str:
    with path.open("rb") as stream:
        return stream.read(DOCUMENT_BYTES_MAX + 1).decode("utf-8")


def _with_line(found: Diagnostic, read: LocatedDocument, place: str) -> Diagnostic:
    line = read.place(place)
    where = "" if line is None else f"line {line[0]}: "
    return replace(found, message=f"{where}{found.message}")
