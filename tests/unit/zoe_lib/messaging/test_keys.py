"""Keys of master and API, made together or kept apart."""

from __future__ import annotations

import shutil
from pathlib import Path

from zoe_lib.messaging.keys import API, MASTER, ensure_keys, load_keys, load_public


def test_a_side_without_the_others_secret_makes_no_new_pair(tmp_path: Path) -> None:
    both, only_api = tmp_path / "both", tmp_path / "api"
    ensure_keys(both)
    only_api.mkdir()
    for name in ("master.key", "api.key", "api.key_secret"):
        shutil.copy(both / name, only_api)
    ensure_keys(only_api)
    assert sorted(path.name for path in only_api.iterdir()) == ["api.key", "api.key_secret", "master.key"]
    assert load_public(only_api, MASTER) == load_keys(both, MASTER).public


def test_keys_given_from_elsewhere_need_no_writable_place(tmp_path: Path) -> None:
    ensure_keys(tmp_path / "keys")
    before = {path.name for path in (tmp_path / "keys").iterdir()}
    ensure_keys(tmp_path / "keys")
    assert {path.name for path in (tmp_path / "keys").iterdir()} == before
    assert before >= {f"{name}.key{half}" for name in (API, MASTER) for half in ("", "_secret")}


def test_half_a_pair_left_by_a_crash_is_made_again(tmp_path: Path) -> None:
    ensure_keys(tmp_path)
    (tmp_path / "master.key").unlink()
    ensure_keys(tmp_path)
    assert load_keys(tmp_path, MASTER).public == load_public(tmp_path, MASTER)
