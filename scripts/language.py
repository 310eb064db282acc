"""How plain the language is: `python -m scripts.language [FOLDER...]` prints the share of marked sentences.

Sentences of docstrings, comments, texts of errors and help, and pages are counted apart. A marked one has a relative
clause where English has a noun ("what waits" for queued executions, "who asks" for the caller), or no actor
("is told"). `--list` prints each with its line. The command fails where a share is `SHARE_MAX` or more.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHARE_MAX = 0.01
FEW = 100
"""A group of fewer sentences may have one marked one."""
MARKED = re.compile(
    r"""
    \b(?:whoever | whatever\ they | nobody | those\ that | what\ is\ \w+ | what\ \w+\ is | (?:is|are)\ told | told\ by
    | of\ others | by\ which | to\ whom | of\ whom | of\ what | in\ whose | which\ of
    | who\ (?:asks|reads|sees|may|has|writes|is)
    | what\ (?:waits|runs|ended|comes|stands|asks|holds|was|did|has|it|they|others))\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?:;])\s+|\n\s*\n|\n\s*[-*#|]")
_CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a file, with the kind of text and the line on which that text begins (from 1)."""

    path: Path
    line: int
    kind: str
    text: str

    @property
    def is_marked(self) -> bool:
        """Whether it has one of the marked habits."""
        return MARKED.search(self.text) is not None


def main() -> int:
    """Print the shares, and with `--list` the marked sentences; return 1 if a share is too large."""
    folders = [argument for argument in sys.argv[1:] if not argument.startswith("--")]
    seen, marked = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for path in _tracked(folders):
        for sentence in sentences(path):
            group = (str(path).partition("/")[0], sentence.kind)
            seen[group] += 1
            marked[group] += sentence.is_marked
            if sentence.is_marked and "--list" in sys.argv:
                print(f"{path}:{sentence.line}: {sentence.kind}: {' '.join(sentence.text.split())}")
    failed = [group for group in seen if marked[group] > SHARE_MAX * max(seen[group], FEW)]
    for group in sorted(failed if "--quiet" in sys.argv else seen):
        share = marked[group] / seen[group]
        print(f"{' '.join(group):32} {seen[group]:6} sentences, {marked[group]:5} marked, {share:.1%}")
    return int(bool(failed))


def _tracked(folders: list[str]) -> Iterator[Path]:
    listed = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, check=True, capture_output=True, text=True)
    yield from (Path(name) for name in listed.stdout.splitlines() if name.endswith((".py", ".md")))


def sentences(path: Path) -> Iterator[Sentence]:
    """Yield the sentences of a file of Python or Markdown, its path relative to the repository."""
    source = (ROOT / path).read_text("utf-8")
    for line, kind, text in _pages(source) if path.suffix == ".md" else _texts(source):
        for part in _SENTENCE_END.split(_CODE.sub("`code`", text)):
            if " " in part.strip():
                yield Sentence(path, line, kind, part.strip())


def _pages(source: str) -> Iterator[tuple[int, str, str]]:
    yield 1, "pages", source


def _texts(source: str) -> Iterator[tuple[int, str, str]]:
    tree = ast.parse(source)
    docstrings = set[ast.expr]()
    for node in ast.walk(tree):
        for statement in getattr(node, "body", ()) if not isinstance(node, ast.Lambda | ast.IfExp) else ():
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                docstrings.add(statement.value)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, "docstrings" if node in docstrings else "texts", node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], "comments", token.string.lstrip("# ")


if __name__ == "__main__":
    sys.exit(main())
