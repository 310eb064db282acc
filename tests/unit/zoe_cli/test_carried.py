"""Names of embedded local files."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from zoe_cli.commands.files.carried import CarriedFiles


@pytest.mark.parametrize("names", list(permutations(["a_b", "a b/c", "c"])))
def test_no_file_has_the_name_of_a_directory_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in names:
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(name)
    carried = CarriedFiles()
    words = [carried.word(name) for name in names]
    assert len(set(words)) == len(carried.texts) == len(names)
    target = tmp_path / "there"
    for name, text in carried.texts.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text)
    assert [(target / word.removeprefix("{files}/")).read_text() for word in words] == list(names)
    assert [carried.word(name) for name in names] == words
