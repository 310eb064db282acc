"""Read YAML as strictly as JSON, and record the line of each part.

`2026-01-01` and `yes` are texts: only JSON's numbers, truth values and null are not, as in YAML 1.2. Aliases are
expanded within the limits of a document. Duplicate keys are refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from zoe_client.documents.bounds import DEPTH_MAX, DOCUMENT_BYTES_MAX
from zoe_client.documents.diagnostics import Code, DescriptionError, Diagnostic, pointer

_NODES_MAX = 50_000
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,18})(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}


_PLAIN = "plain"


class _Loader(yaml.SafeLoader):
    """Mark plain scalars without a tag, to be typed by YAML 1.2; PyYAML reads `2e-2` as text, by YAML 1.1."""

    def resolve(self, kind: type[yaml.Node], value: str, implicit: Any) -> str:
        if kind is yaml.ScalarNode and implicit[0]:
            return _PLAIN
        tag: str = super().resolve(kind, value, implicit)  # type: ignore[no-untyped-call]
        return tag


@dataclass(frozen=True, slots=True)
class LocatedDocument:
    """A document, and line and column of each of its parts by JSON pointer, from 1."""

    document: Any
    lines: Mapping[str, tuple[int, int]]

    def place(self, where: str) -> tuple[int, int] | None:
        """Return line and column of a part, or of its closest parent in the text."""
        while where not in self.lines:
            if not where:
                return None
            where = where.rpartition("/")[0]
        return self.lines[where]


def load_yaml(text: str) -> LocatedDocument:
    """Return the document in a YAML or JSON text; DescriptionError has line and column of the fault."""
    if len(text.encode("utf-8", "replace")) > DOCUMENT_BYTES_MAX:
        raise _fault(Code.TOO_BIG, f"the document is larger than {DOCUMENT_BYTES_MAX} bytes")
    try:
        root = yaml.compose(text.removeprefix("\ufeff"), Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        raise _fault(Code.BAD_FORMAT, f"not YAML: {error.problem}", error.problem_mark) from None
    except RecursionError:
        raise _fault(Code.TOO_BIG, f"deeper than {DEPTH_MAX}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise _fault(Code.BAD_FORMAT, f"not YAML: {str(error)[:200]}") from None
    if root is None:
        raise _fault(Code.BAD_FORMAT, "the document is empty")
    reader = _Reader()
    return LocatedDocument(reader.read(root, ()), reader.lines)


class _Reader:
    """Build values from nodes, and count them, since an alias may expand to many."""

    def __init__(self) -> None:
        self.lines: dict[str, tuple[int, int]] = {}
        self._nodes = 0

    def read(self, node: yaml.Node, path: tuple[str | int, ...]) -> Any:
        self._nodes += 1
        if self._nodes > _NODES_MAX or len(path) > DEPTH_MAX:
            raise _fault(
                Code.TOO_BIG,
                f"the document has more than {_NODES_MAX} values, or is deeper than {DEPTH_MAX}",
                node.start_mark,
            )
        self.lines.setdefault(pointer(*path), _place(node.start_mark))
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.read(entry, (*path, i)) for i, entry in enumerate(node.value)]
        return _scalar(node)

    def _mapping(self, node: yaml.MappingNode, path: tuple[str | int, ...]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for key_node, value in node.value:
            key = key_node.value
            if not isinstance(key_node, yaml.ScalarNode) or not isinstance(key, str) or key == "<<":
                raise _fault(Code.BAD_FORMAT, "keys must be strings; quote it", key_node.start_mark)
            if key in made:
                raise _fault(Code.DUPLICATE, f"key {key[:64]!r} occurs twice in one object", key_node.start_mark)
            self.lines.setdefault(pointer(*path, key), _place(key_node.start_mark))
            made[key] = self.read(value, (*path, key))
        return made


def _scalar(node: yaml.Node) -> Any:
    text: str = node.value
    if "\0" in text:
        raise _fault(Code.BAD_FORMAT, "a string contains a NUL character", node.start_mark)
    if not isinstance(node, yaml.ScalarNode) or node.style is not None or node.tag == "tag:yaml.org,2002:str":
        return text
    if text in _WORDS:
        return _WORDS[text]
    if not _NUMBER.fullmatch(text):
        return text
    return int(text) if text.lstrip("-").isdecimal() else float(text)


def _place(mark: yaml.Mark) -> tuple[int, int]:
    return mark.line + 1, mark.column + 1


def _fault(code: Code, message: str, mark: yaml.Mark | None = None) -> DescriptionError:
    place = "" if mark is None else "line {} column {}: ".format(*_place(mark))
    return DescriptionError([Diagnostic("", code, place + message)])
