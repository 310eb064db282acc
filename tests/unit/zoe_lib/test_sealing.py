"""Secrets are readable with the key, for their owner, and in no other way."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.needs import need_root
from zoe_lib.sealing import KEY_FILE, CannotOpen, Seal, derived_key

KEY = bytes(range(32))


@given(st.text(min_size=1), st.lists(st.text(), max_size=3))
def test_sealed_secret_is_unreadable_and_decrypts_unchanged(secret: str, belongs_to: list[str]) -> None:
    seal = Seal(KEY)
    sealed = seal.encrypt(secret, *belongs_to)
    assert seal.decrypt(sealed, *belongs_to) == secret
    assert sealed != seal.encrypt(secret, *belongs_to)
    assert len(secret) < 8 or secret.encode() not in sealed
    with pytest.raises(CannotOpen):
        seal.decrypt(sealed, *belongs_to, "more")


@given(st.data())
def test_a_secret_with_any_bit_changed_cannot_be_opened(data: st.DataObject) -> None:
    sealed = bytearray(Seal(KEY).encrypt("secret", "acme", "zoe"))
    sealed[data.draw(st.integers(0, len(sealed) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    with pytest.raises(CannotOpen):
        Seal(KEY).decrypt(bytes(sealed), "acme", "zoe")


@pytest.mark.parametrize("change", [lambda s: b"", lambda s: s[:-1], lambda s: s + b"x"], ids=["none", "less", "more"])
def test_damaged_or_foreign_seal_cannot_be_opened(change: Callable[[bytes], bytes]) -> None:
    sealed = Seal(KEY).encrypt("secret", "acme", "zoe")
    with pytest.raises(CannotOpen):
        Seal(KEY).decrypt(change(sealed), "acme", "zoe")
    with pytest.raises(CannotOpen):
        Seal(bytes(32)).decrypt(sealed, "acme", "zoe")


def test_a_key_is_made_once_whoever_comes_first_and_is_the_owners_alone(tmp_path: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        seals = list(pool.map(lambda _: Seal.from_keys_dir(tmp_path), range(4)))
    sealed = seals[0].encrypt("secret")
    assert {seal.decrypt(sealed) for seal in seals} == {"secret"}
    assert [path.name for path in tmp_path.iterdir()] == [KEY_FILE]
    assert stat.S_IMODE((tmp_path / KEY_FILE).stat().st_mode) == 0o600


def test_a_key_that_root_makes_belongs_to_the_owner_of_the_directory(tmp_path: Path) -> None:
    need_root()
    os.chown(tmp_path, 65534, 65534)
    Seal.from_keys_dir(tmp_path)
    assert (tmp_path / KEY_FILE).owner() == tmp_path.owner() == "nobody"


def test_a_derived_key_is_always_the_same_for_its_purpose_and_none_other(tmp_path: Path) -> None:
    first = derived_key(tmp_path, "one")
    assert first == derived_key(tmp_path, "one")
    assert len({first, derived_key(tmp_path, "two"), bytes.fromhex((tmp_path / KEY_FILE).read_text())}) == 3
