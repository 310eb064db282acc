"""Effects of a restore besides the database, and accepted backups."""

from __future__ import annotations

import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from zoe_lib.sealing import new_key
from zoe_lib.store.backup.restore import write_key
from zoe_lib.store.errors import StoreError

KEY = new_key().encode()


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """As on a full disk, a write beyond that fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_key_that_cannot_be_written_leaves_nothing_and_the_next_try_succeeds(tmp_path: Path) -> None:
    keys_dir = tmp_path / "keys"
    with files_of_at_most(10), pytest.raises(StoreError) as refused:
        write_key(KEY, keys_dir / "credentials.key")
    assert str(refused.value) == f"cannot write {keys_dir}: File too large"
    assert list(keys_dir.iterdir()) == []
    write_key(KEY, keys_dir / "credentials.key")
    assert [path.name for path in keys_dir.iterdir()] == ["credentials.key"]
    assert (keys_dir / "credentials.key").read_bytes() == KEY
    assert stat.S_IMODE((keys_dir / "credentials.key").stat().st_mode) == 0o600


def test_a_directory_of_keys_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=f"^cannot write {tmp_path}/file/keys: Not a directory$"):
        write_key(KEY, tmp_path / "file" / "keys" / "credentials.key")
