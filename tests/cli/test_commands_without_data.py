"""Commands of the pages for users, run at a new server in an empty directory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Zoe
from tests.cli.server import Server
from tests.docs.documents import DOCS
from tests.docs.test_page_commands import lines_of, words_of
from zoe_cli.exits import Exit
from zoe_cli.main import command

_VARIABLE = re.compile(r"\$\{?\w+\}?")
_NOT_RUN = (["events", "-f"], ["notify", "test"], ["policy", "set"], ["login"])
"""These wait: for events, a master, or a browser."""


def _commands() -> Iterator[list[str]]:
    """Yield the words of one call of each command that the pages name, without `zoe`."""
    seen = set[tuple[str, ...]]()
    for page in sorted([*DOCS.glob("start/*.md"), *DOCS.glob("use/*.md")]):
        for line in lines_of(page):
            words = words_of(_VARIABLE.sub("x1m7xhnzn3f4144", line))[1:]
            name = tuple(words[: 2 if hasattr(command().commands.get(words[0]), "commands") else 1])
            if name not in seen and words[:2] not in _NOT_RUN and words[:1] not in _NOT_RUN:
                seen.add(name)
                yield words


def test_each_command_without_its_data_ends_with_a_sentence(
    server: Server, zoe: Zoe, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ends = {" ".join(words): zoe(*words) for words in _commands()}
    assert len(ends) > 40
    assert [words for words, end in ends.items() if not (end.err if end.code else end.out + end.err).strip()] == []
    no_hint = [
        words
        for words, end in ends.items()
        if end.code == Exit.NOT_FOUND and not re.search("hint: |; see |`zoe ", end.err)
    ]
    assert no_hint == []


def test_an_empty_list_has_a_note(server: Server, zoe: Zoe) -> None:
    assert "no schedules yet: `zoe schedule add` makes one" in zoe("schedule", "ls").err
    assert zoe("schedule", "ls", "-o", "json").err == ""
    found = zoe("ls", "--name", "absent", "--user", "nosuch").err
    assert "no executions that you may see match: user nosuch, name absent" in found
