"""Fill the templates of workflows in a description: `{param:NAME}`, `{matrix:NAME}`, `{input:NAME}`, `{result:NAME}`.
`{each:NAME}` is checked, and stays for the array that runs the step.

All other templates stay for the back-end. An argument of a command that is `{input:NAME}` alone becomes one argument
for each path; elsewhere several paths are separated by commas.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from zoe_client.documents.diagnostics import Code, Diagnostic, did_you_mean, pointer
from zoe_lib.domain.applications.templates import escape
from zoe_lib.workflows.values import Value

_TOKEN = re.compile(r"\{\{|\}\}|\{(param|matrix|input|result|each):([^{}]*)\}")
_WITH_TEMPLATES = ("command", "environment", "work_dir")
_Path = tuple[str | int, ...]


@dataclass(slots=True)
class Filler:
    """Fills the templates of one step. `inputs` and `results` are paths with templates of the back-end.

    `foreign`: names of inputs of the object store, which `{input:NAME}` may also mean. `each`: the name of an entry.
    """

    values: Mapping[str, Mapping[str, Value]]
    inputs: Mapping[str, Sequence[str]]
    results: Mapping[str, str]
    foreign: frozenset[str] = frozenset()
    found: list[Diagnostic] = field(default_factory=list)
    each: str | None = None

    def fill(self, document: Any, path: _Path = ()) -> Any:
        """Return a copy of a description with its templates filled; `found` collects the faults."""
        if isinstance(document, dict):
            return {k: v if k == "files" else self.fill(v, (*path, k)) for k, v in document.items()}
        if isinstance(document, list):
            return [entry for i, item in enumerate(document) for entry in self._items(item, (*path, i))]
        return self._text(document, path) if isinstance(document, str) else document

    def _items(self, item: Any, path: _Path) -> Iterator[Any]:
        whole = _TOKEN.fullmatch(item) if isinstance(item, str) and path[-2:-1] == ("command",) else None
        if whole is not None and whole[1] == "input" and len(self.inputs.get(whole[2], ())) > 1:
            yield from self.inputs[whole[2]]
        else:
            yield self.fill(item, path)

    def _text(self, text: str, path: _Path) -> Value:
        templated = any(part in _WITH_TEMPLATES for part in path)
        whole = _TOKEN.fullmatch(text)
        if whole is not None and whole[1] in self.values and not templated:
            value = self.values[whole[1]].get(whole[2])
            if value is not None:  # a number stays a number
                return value
        return _TOKEN.sub(lambda token: self._text_of_template(token, path, templated), text)

    def _text_of_template(self, token: re.Match[str], path: _Path, templated: bool) -> str:
        kind, name = token[1], token[2]
        if kind == "each":
            return self._entry(token, path, templated)
        if kind is None or (kind == "input" and name not in self.inputs and name in self.foreign):
            return token[0]
        if kind == "input" and name in self.inputs:
            return ",".join(self.inputs[name])
        if kind == "result" and name in self.results:
            return self.results[name]
        known = self.values.get(kind, self.inputs if kind == "input" else self.results)
        if kind in self.values and name in known:
            text = text_of(self.values[kind][name])
            return escape(text) if templated else text
        message = f"{token[0][:64]!r}: the step has no {_NOUNS[kind]} {name[:63]!r}"
        self.found.append(Diagnostic(pointer(*path), Code.BAD_TEMPLATE, message, did_you_mean(name, list(known))))
        return ""

    def _entry(self, token: re.Match[str], path: _Path, templated: bool) -> str:
        name = token[2].partition(".")[0]
        if name == self.each and templated:
            return token[0]
        if self.each is None:
            message = f"{token[0][:64]!r}: the step has no `for_each`, so there is no entry"
        elif name != self.each:
            message = f"{token[0][:64]!r}: an entry of this step is {self.each!r}"
        else:
            message = f"{token[0][:64]!r}: an entry fills commands, environments and working directories only"
        self.found.append(Diagnostic(pointer(*path), Code.BAD_TEMPLATE, message))
        return ""


_NOUNS = {"param": "parameter", "matrix": "value of a matrix", "input": "input", "result": "result"}


def text_of(value: Value) -> str:
    """Return a value as text."""
    return str(value).lower() if isinstance(value, bool) else str(value)
