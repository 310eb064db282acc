"""Descriptions from the forms of scripts, as `zoe run` makes them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from zoe_client.documents.additions import literal
from zoe_client.documents.diagnostics import Code, DescriptionError, Diagnostic
from zoe_client.documents.scripts import (
    INDEX,
    INTERPRETERS,
    WORKSPACE,
    Command,
    command_component,
    script_results,
    script_words,
    title_of,
)
from zoe_client.words.file_paths import InvalidPath, path_parts

SCRIPT_FIELDS = ("file", "arguments", "workers", "indices")
"""Fields that together make the command. file: its path in the workspace, or `shared:PATH`; arguments: words as in a
shell; workers: number of instances; indices: of an array, or empty.
"""
_SHARED = "shared:"
_NOTEBOOK = ".ipynb"


def script_document(document: Mapping[str, Any], suffix: str, values: Mapping[str, object]) -> dict[str, Any]:
    """Return the description with the component that runs the script; DescriptionError names the field that is
    wrong.
    """
    array = bool(values["indices"])
    given = values["file"]
    file = f"script{suffix}" if given is None else str(given)
    path = _service_path(file, suffix)
    words = script_words(suffix, path, _words(str(values["arguments"] or ""), suffix, array), array)
    workers = int(str(values["workers"] or 1))
    component = command_component(Command(INTERPRETERS[suffix].image, words, count=workers, array=array))
    kept = {key: entry for key, entry in document.items() if key != "results"}
    name = document["name"] if given is None else title_of(file.removeprefix(_SHARED))
    made = {**kept, "name": name, "components": [component]}
    results = script_results(suffix, path, array)
    return {**made, "results": results} if results else made


def _service_path(file: str, suffix: str) -> str:
    """Return the path of a file as a template that services find."""
    if not file.strip():
        raise _refusal("file", "choose a script", "choose one of your files, or upload one from your computer")
    root, path = ("{shared}", file.removeprefix(_SHARED)) if file.startswith(_SHARED) else (WORKSPACE, file)
    if PurePosixPath(path).suffix != suffix:
        others = ", ".join(INTERPRETERS)
        raise _refusal("file", f"{file} does not end with {suffix}", f"there is a form for each of {others}")
    try:
        names = [part.decode() for part in path_parts(path)]
    except (InvalidPath, UnicodeDecodeError) as error:
        message = "its name is not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        raise _refusal("file", message, "rename the file") from None
    return "/".join((root, *map(literal, names)))


def _words(arguments: str, suffix: str, array: bool) -> list[str]:
    try:
        words = shlex.split(arguments)
    except ValueError as error:
        raise _refusal("arguments", str(error).lower(), "quote words with blanks: 'two words'") from None
    if words and suffix == _NOTEBOOK:
        raise _refusal("arguments", "a notebook has no arguments", "give it environment variables")
    return [literal(word, INDEX if array else None) for word in words]


def _refusal(field: str, message: str, hint: str) -> DescriptionError:
    return DescriptionError([Diagnostic(f"/{field}", Code.BAD_SETTING, message, hint)])
