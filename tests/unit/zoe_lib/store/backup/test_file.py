"""Accepted backups: the form is checked before anything is restored, and each refusal is a sentence."""

from __future__ import annotations

import json
import random
import zipfile
from pathlib import Path
from typing import Any

import pytest

from zoe_lib.sealing import KEY_FILE, new_key
from zoe_lib.store.backup.backup import back_up
from zoe_lib.store.backup.file import open_backup
from zoe_lib.store.backup.manifest import FORMAT, MANIFEST
from zoe_lib.store.errors import StoreError
from zoe_lib.store.postgres.revision import REVISION

GOOD: dict[str, Any] = {
    "format": FORMAT,
    "version": "0.9",
    "revision": REVISION,
    "at_s": 1.5,
    "journal_id": 7,
    "tables": [{"name": "tokens", "columns": ["id"], "rows": 1}],
    "numbers": {"journal.id": 7},
}
ROWS = b"one\n"


def write(
    path: Path, manifest: bytes, key: bytes | None = new_key().encode(), tables: tuple[str, ...] = ("tokens",)
) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for table in tables:
            made.writestr(f"tables/{table}", ROWS)
        if key is not None:
            made.writestr(KEY_FILE, key)
        made.writestr(MANIFEST, manifest)


def opened(path: Path) -> bytes:
    with open_backup(path) as backup, backup.rows("tokens") as rows:
        return rows.read()


def refused(path: Path) -> str:
    with pytest.raises(StoreError) as refusal:
        opened(path)
    assert "\n" not in str(refusal.value)
    return str(refusal.value)


@pytest.mark.parametrize("key", [None, new_key().encode(), (new_key() + new_key()).encode()])
def test_a_good_one_is_read(tmp_path: Path, key: bytes | None) -> None:
    write(tmp_path / "b", json.dumps(GOOD).encode(), key)
    assert opened(tmp_path / "b") == ROWS
    with open_backup(tmp_path / "b") as backup:
        assert backup.key == key
        assert backup.manifest.rows("tokens") == 1


@pytest.mark.parametrize(
    "manifest",
    [
        b"", b"{}", b"[]", b"null", b"7", b"{", b"\xff\xfe", b"[" * 200_000, b'{"a":' * 200_000, b" " * (2 << 20),
        b'{"format": 1, "revision": ' + b"9" * 5000 + b"}",
    ],
)  # fmt: skip
def test_a_manifest_of_another_form_is_refused(tmp_path: Path, manifest: bytes) -> None:
    write(tmp_path / "b", manifest)
    assert refused(tmp_path / "b").startswith(f"{tmp_path}/b is not a backup of Zoe: {MANIFEST} ")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("at_s", "now"), ("at_s", 1e300), ("at_s", float("nan")), ("at_s", -1), ("at_s", None),
        ("journal_id", -1), ("journal_id", 1 << 63), ("journal_id", 1.5), ("journal_id", True), ("journal_id", "7"),
        ("version", 9), ("tables", {}), ("tables", [7]), ("tables", [{}]), ("tables", None),
        ("tables", [{"name": "a/../b", "columns": ["id"], "rows": 1}]),
        ("tables", [{"name": "tokens", "columns": [1], "rows": 1}]),
        ("tables", [{"name": "tokens", "columns": ["id"], "rows": -1}]),
        ("numbers", []), ("numbers", {"journal": 7}), ("numbers", {"a.b.c": 7}), ("numbers", {"journal.id": "7"}),
    ],
)  # fmt: skip
def test_values_of_another_type_are_refused(tmp_path: Path, name: str, value: object) -> None:
    write(tmp_path / "b", json.dumps({**GOOD, name: value}).encode())
    said = refused(tmp_path / "b")
    assert said.startswith(f"{tmp_path}/b is not a backup of Zoe: {MANIFEST}: {name}")


@pytest.mark.parametrize("name", GOOD)
def test_a_missing_value_is_refused(tmp_path: Path, name: str) -> None:
    write(tmp_path / "b", json.dumps({key: value for key, value in GOOD.items() if key != name}).encode())
    assert f"is not a backup of Zoe: {MANIFEST}" in refused(tmp_path / "b")


def test_a_newer_one_is_refused_whatever_its_form_is(tmp_path: Path) -> None:
    for newer in ({"format": 2, "revision": REVISION}, {"format": FORMAT, "revision": "9999", "tables": 7}):
        write(tmp_path / "b", json.dumps(newer).encode())
        assert "is of a newer version of Zoe" in refused(tmp_path / "b")


def test_one_of_before_the_first_migration_is_refused_by_the_version_that_can_restore_it(tmp_path: Path) -> None:
    write(tmp_path / "b", json.dumps({"format": FORMAT, "revision": "0056"}).encode())
    assert "is of a version before 0.3.0 (revision 0056): restore it with Zoe 0.3.0, then upgrade" in refused(
        tmp_path / "b"
    )


@pytest.mark.parametrize("key", [b"", b"\n", b"abc", b"ff" * 31, b"zz" * 32, b"\xff" * 64, b"ff" * 10_000])
def test_a_key_of_another_form_is_refused(tmp_path: Path, key: bytes) -> None:
    write(tmp_path / "b", json.dumps(GOOD).encode(), key)
    assert refused(tmp_path / "b").startswith(f"{tmp_path}/b is not a backup of Zoe: {KEY_FILE} ")


def test_a_missing_member_is_refused(tmp_path: Path) -> None:
    write(tmp_path / "b", json.dumps(GOOD).encode(), tables=())
    assert refused(tmp_path / "b") == f"{tmp_path}/b is not a backup of Zoe: it has no tables/tokens"
    with zipfile.ZipFile(tmp_path / "empty", "w"):
        pass
    assert refused(tmp_path / "empty") == f"{tmp_path}/empty is not a backup of Zoe: it has no {MANIFEST}"


def test_a_damaged_byte_anywhere_is_a_sentence_or_does_no_harm(tmp_path: Path) -> None:
    write(tmp_path / "b", json.dumps(GOOD).encode())
    whole, found, chance = (tmp_path / "b").read_bytes(), set(), random.Random(18)
    for place in range(len(whole)):
        content = bytearray(whole)
        content[place] ^= chance.randrange(1, 256)
        (tmp_path / "b").write_bytes(content)
        try:
            assert opened(tmp_path / "b") == ROWS
        except StoreError as error:
            found.add(str(error))
    assert "the backup is damaged: tables/tokens" in found
    assert f"{tmp_path}/b is not a backup of Zoe: the backup is damaged: {MANIFEST}" in found
    assert not [sentence for sentence in found if "\n" in sentence]


@pytest.mark.parametrize(
    ("name", "said"), [("", "needs a file name"), ("there", "exists already"), ("none/x", "No such")]
)
def test_a_name_that_no_backup_can_have_is_refused_before_the_database_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("there").mkdir()
    with pytest.raises(StoreError, match=said):
        back_up("postgresql://nobody@127.0.0.1:9/none", Path(name), tmp_path / "key", "test", 1.0)
