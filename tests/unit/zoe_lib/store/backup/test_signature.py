"""Signatures of backups, by a real ssh-keygen."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.unit.zoe_lib.store.backup.test_file import GOOD, write
from zoe_lib.store.backup.file import open_backup
from zoe_lib.store.backup.signature import check_key, sign, signature_of
from zoe_lib.store.errors import StoreError


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`ann` and `eve`, and `signers`, which knows Ann."""
    place = tmp_path_factory.mktemp("keys")
    for name in ("ann", "eve"):
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", place / name]
        subprocess.run(command, check=True)
    (place / "signers").write_text(f"ann@example.org {(place / 'ann.pub').read_text()}")
    return place


@pytest.fixture
def backup(tmp_path: Path) -> Path:
    write(tmp_path / "b", json.dumps(GOOD).encode())
    return tmp_path / "b"


def refused(backup: Path, signers: Path | None) -> str:
    with pytest.raises(StoreError) as refusal, open_backup(backup, signers):
        pass
    return str(refusal.value)


def test_a_restore_says_who_signed_it(keys: Path, backup: Path) -> None:
    sign(backup, keys / "ann")
    with open_backup(backup, keys / "signers") as opened:
        assert opened.signed == "signed by ann@example.org"
        assert opened.manifest.rows("tokens") == 1


def test_backup_signed_by_none_of_the_signers_is_refused(keys: Path, backup: Path, tmp_path: Path) -> None:
    assert "is not signed" in refused(backup, keys / "signers")
    sign(backup, keys / "eve")
    assert "not signed by any of" in refused(backup, keys / "signers")
    assert "cannot read the signers" in refused(backup, tmp_path / "absent")


@pytest.mark.parametrize("at", [0, 40, -1])
def test_a_changed_byte_is_refused(keys: Path, backup: Path, at: int) -> None:
    sign(backup, keys / "ann")
    content = bytearray(backup.read_bytes())
    content[at] ^= 1
    backup.write_bytes(content)
    assert "is not what ann@example.org signed" in refused(backup, keys / "signers")


def test_a_signature_that_nobody_asks_for_is_named(keys: Path, backup: Path) -> None:
    with open_backup(backup) as opened:
        assert opened.signed == ""
    sign(backup, keys / "ann")
    with open_backup(backup) as opened:
        assert opened.signed.startswith("b.sig was not checked")


def test_a_key_that_cannot_sign_is_refused_before(keys: Path, backup: Path) -> None:
    with pytest.raises(StoreError, match="does not exist"):
        check_key(backup, keys / "absent")
    check_key(backup, keys / "ann")
    (keys / "open").write_bytes((keys / "ann").read_bytes())
    (keys / "open").chmod(0o644)
    with pytest.raises(StoreError, match=r"without a signature: .*UNPROTECTED"):
        sign(backup, keys / "open")
    signature_of(backup).write_text("")
    with pytest.raises(StoreError, match="exists already"):
        check_key(backup, keys / "ann")


def test_a_link_in_the_place_of_the_signature_is_not_followed(keys: Path, backup: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    signature_of(backup).symlink_to(elsewhere)
    with pytest.raises(StoreError, match="exists already"):
        check_key(backup, keys / "ann")
    with pytest.raises(StoreError, match=r"without a signature: .*File exists"):
        sign(backup, keys / "ann")
    assert not elsewhere.exists()


def test_without_ssh_keygen_it_is_said(keys: Path, backup: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(StoreError, match="need ssh-keygen, of the package openssh-client"):
        sign(backup, keys / "ann")
