"""The modules on a proxy's disk: a damaged one counts as missing, and compiled code is trusted by its digest only."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from storage_filters.transforms.modules.engine import InvalidModuleError
from storage_filters.transforms.modules.files import WANTED_MAX, MissingModuleError, ModuleFiles
from tests.support.modules import FLIPPING, READING, module

CONTENT = module(*FLIPPING)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    ModuleFiles(tmp_path / "modules").keep(CONTENT)
    return tmp_path / "modules"


def test_other_workers_load_what_one_kept(directory: Path) -> None:
    files = ModuleFiles(directory)
    assert files.missing([SHA256]) == []
    assert not files.load(SHA256).reads
    assert files.load(SHA256) is files.load(SHA256)


def _changed(path: Path, at: int) -> None:
    content = bytearray(path.read_bytes())
    content[at] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize("at", [0, 31, 32, 500, -1])
def test_damaged_code_does_not_run_and_is_compiled_again(directory: Path, at: int) -> None:
    good = (directory / f"{SHA256}.code").read_bytes()
    _changed(directory / f"{SHA256}.code", at)
    ModuleFiles(directory).load(SHA256)
    assert (directory / f"{SHA256}.code").read_bytes() == good


def test_code_of_another_version_is_compiled_again(directory: Path) -> None:
    other = b"compiled by another version"
    (directory / f"{SHA256}.code").write_bytes(hashlib.sha256(other).digest() + other)
    assert not ModuleFiles(directory).load(SHA256).reads


def test_a_damaged_module_is_missing_and_its_code_runs_on(directory: Path) -> None:
    _changed(directory / f"{SHA256}.wasm", 20)
    files = ModuleFiles(directory)
    assert files.missing([SHA256]) == [SHA256]
    assert not files.load(SHA256).reads
    (directory / f"{SHA256}.code").unlink()
    with pytest.raises(MissingModuleError):
        ModuleFiles(directory).load(SHA256)
    files.keep(CONTENT)
    assert files.missing([SHA256]) == []
    (directory / f"{SHA256}.wasm").write_bytes(b"")  # damaged after it was whole
    assert files.missing([SHA256]) == [SHA256]


def test_module_needed_by_stored_objects_is_asked_for_until_kept(tmp_path: Path) -> None:
    files = ModuleFiles(tmp_path / "modules")
    assert not files.has_modules()
    files.ask(SHA256)
    assert files.missing(()) == files.missing([SHA256]) == [SHA256]
    files.keep(CONTENT)
    assert files.has_modules()
    assert files.missing(()) == []
    assert not list(files.directory.glob("*.wanted"))


def test_wanted_modules_are_bounded_and_named_by_digest(tmp_path: Path) -> None:
    files = ModuleFiles(tmp_path / "modules")
    for number in range(2 * WANTED_MAX):
        files.ask(f"{number:064x}")
    assert len(files.missing(["../../etc/passwd", "A" * 64])) == WANTED_MAX


def test_invalid_module_is_not_kept(tmp_path: Path) -> None:
    files = ModuleFiles(tmp_path / "modules")
    with pytest.raises(InvalidModuleError):
        files.keep(b"\0asm and no more")
    assert not files.has_modules()


def test_many_modules_are_loaded_in_turn(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storage_filters.transforms.modules.files._LOADED_MAX", 1)
    files = ModuleFiles(directory)
    other = files.keep(module(*READING))
    assert [files.load(text).reads for text in (SHA256, other, SHA256, other)] == [False, True, False, True]
