"""Names of embedded local files."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from zoe_client.running import carried as module
from zoe_client.running.carried import CannotCarry, CarriedFiles, placed


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
    assert len(set(words)) == len(carried.embedded()) == len(names)
    target = tmp_path / "there"
    for name, text in carried.embedded().items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text)
    assert [(target / word.removeprefix("{files}/")).read_text() for word in words] == list(names)
    assert [carried.word(name) for name in names] == words


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_text_is_embedded_as_far_as_it_fits(here: Path) -> None:
    (here / "a.txt").write_text("x" * 200_000)
    (here / "b.txt").write_text("x" * 100_000)
    (here / "c.txt").write_text("x")
    (here / "binary").write_bytes(b"\xff")
    (here / "nul").write_bytes(b"a\0")
    carried = CarriedFiles()
    words = [carried.word(name) for name in ("a.txt", "b.txt", "c.txt", "binary", "nul", "/bin/sh", "{x}", "none")]
    assert words[:2] == ["{files}/a.txt", "{files}/b.txt"]
    assert words[-3:] == ["/bin/sh", "{{x}}", "none"], "images have programs of their own"
    assert sorted(carried.embedded()) == ["a.txt", "c.txt"]
    assert len(carried.files) == 5
    assert carried.too_many() == {}


def test_directories_and_links_to_nothing_stay_and_are_known(here: Path) -> None:
    (here / "data").mkdir()
    (here / "broken").symlink_to("nowhere")
    carried = CarriedFiles()
    words = ["data", "broken", ".", "/tmp", "/etc", "none", "data"]
    assert [carried.word(word) for word in words] == words
    assert list(carried.stay) == ["data", "broken"]


def test_scripts_that_are_missing_are_known(here: Path) -> None:
    carried = CarriedFiles()
    for word in ("absent.py", "-m", "--file=x.py", "/opt/x.py", "python x.py", "{index}.py", "in.csv", "sub/b.sh"):
        carried.word(word)
    for word in ("s3://bucket/in.csv", "/data/in.csv", "swift:in.csv", "example.org", "v1.2", "a.b"):
        carried.word(word)
    assert list(carried.missing) == ["absent.py", "in.csv", "sub/b.sh"]
    assert carried.files == {}


def test_beyond_the_bound_the_largest_files_must_be_there_before(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BYTES_MAX", 10)
    for name, count in (("small", 4), ("large", 9), ("middle", 6)):
        (here / name).write_bytes(b"x" * count)
    carried = CarriedFiles()
    for name in ("small", "large", "middle"):
        carried.add(Path(name))
    assert list(carried.too_many()) == ["large"]
    said = module.copies_needed(carried.too_many(), 19)
    assert "zoe cp large :large" in said
    assert "10 B in all go with a run, and these have 19 B" in said
    monkeypatch.setattr(module, "FILES_MAX", 3)
    (here / "more").write_text("")
    with pytest.raises(CannotCarry, match="more than 3 files"):
        carried.add(Path("more"))
    with pytest.raises(CannotCarry, match="cannot read missing"):
        CarriedFiles().add(Path("missing"))


def test_only_placeholders_of_files_get_a_place() -> None:
    places = {"a.py": "{workspace}/x/a.py", "lib/b": "{workspace}/x/lib/b"}
    assert placed("{files}/a.py,{files}/lib/b", places) == "{workspace}/x/a.py,{workspace}/x/lib/b"
    assert placed("{{files}}/a.py {files}/other", places) == "{{files}}/a.py {files}/other"
