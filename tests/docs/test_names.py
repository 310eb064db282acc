"""The glossary is short, says each word once, and public classes are named with its words."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Iterator
from pathlib import Path

from tests.docs.documents import DOCS, ROOT

WORDS_MAX = 119
EXCEPTIONS_MAX = 20
NAMED_BY_THE_GLOSSARY = ("zoe_client/vocabulary.py", "zoe_lib/domain", "zoe_master", "storage_bridge")

EXCEPTIONS = {
    "AppendixDialect": "the API in the appendix of Crystal's deliverable",
    "Cgroup": "the kernel's term",
    "CgroupParent": "the kernel's term",
    "CgroupSpec": "the kernel's term",
    "ChangeTracker": "a common name for a record of changes",
    "Endpoint": "the field's term: where a process listens",
    "Environment": "Python's term: the packages that a program sees",
    "EnvironmentSweeper": "Python's term, as above",
    "Explanation": "what `zoe explain` shows",
    "FlowNetwork": "graph theory's term",
    "LaterDialect": "the API of Crystal's later code",
    "SimulatedClock": "a clock, which needs no definition",
    "RpcHandlers": "the field's term: remote procedure calls",
    "RpcServer": "the field's term: remote procedure calls",
    "Scope": "the schema of this name in the API",
    "SparkConfig": "Spark's own term",
    "TextEnum": "a kind of StrEnum of the standard library",
    "VirtualTime": "the term of the papers on fair sojourn protocols",
}


def _words() -> set[str]:
    text = (DOCS / "use/glossary.md").read_text("utf-8")
    return {word.lower() for word in re.findall(r"^\| \*\*([^*]+)\*\*", text, re.MULTILINE)}


def _is_named_with(words: set[str], name: str) -> bool:
    """A word of the name begins as a word of the glossary does: `Weighing` as weigher, `Places` as place."""
    parts = [part.lower() for part in re.findall(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]+", name)]
    pairs = [f"{first} {second}".removesuffix("s") for first, second in itertools.pairwise(parts)]
    stems = tuple(word[: max(4, len(word) - 2)] for word in words if " " not in word)
    return any(pair in words for pair in pairs) or any(
        part in words or (len(part) >= 4 and part.startswith(stems)) for part in parts
    )


def _public_classes() -> Iterator[tuple[Path, ast.ClassDef]]:
    for package in NAMED_BY_THE_GLOSSARY:
        place = ROOT / package
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            for node in ast.parse(path.read_text("utf-8")).body:
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    yield path, node


def _unnamed(words: set[str]) -> dict[str, Path]:
    """Classes whose name has no word of the glossary. A class may be named by its base: an event, an error."""
    found = {}
    for path, node in _public_classes():
        names = [node.name, *(ast.unparse(base).replace("Exception", "Error") for base in node.bases)]
        if not any(_is_named_with(words, name) for name in names):
            found[node.name] = path.relative_to(ROOT)
    return found


def test_the_glossary_is_short_and_says_each_word_once() -> None:
    text = (DOCS / "use/glossary.md").read_text("utf-8")
    words = re.findall(r"^\| \*\*([^*]+)\*\*", text, re.MULTILINE)
    assert len(words) == len(set(words)) <= WORDS_MAX


def test_public_classes_are_named_with_words_of_the_glossary() -> None:
    unnamed = _unnamed(_words())
    assert {name: str(path) for name, path in unnamed.items() if name not in EXCEPTIONS} == {}


def test_exceptions_are_few_and_needed() -> None:
    assert set(EXCEPTIONS) <= set(_unnamed(_words()))
    assert len(EXCEPTIONS) <= EXCEPTIONS_MAX


def test_a_word_of_ones_own_is_found() -> None:
    words = _words()
    assert not _is_named_with(words, "Gizmo")
    assert not _is_named_with(words - {"service", "state"}, "ServiceGizmo")
    assert _is_named_with(words, "ServiceGizmo")
