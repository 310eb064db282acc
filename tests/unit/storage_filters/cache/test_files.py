"""The cache's directory: bounded, whole or not there, and never the reason for an error."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage_filters.cache.entry import BLOCK_BYTES, DamagedEntryError, Entry, file_bytes
from storage_filters.cache.files import EVICTED_MAX, CacheFiles, UnusableCacheError

ABOUT = {"version": ["etag", "3", "now"], "headers": {}}
NAMES = [f"{number:064x}" for number in range(200)]


@pytest.fixture
def warned() -> list[str]:
    return []


@pytest.fixture
def files(tmp_path: Path, warned: list[str]) -> Iterator[CacheFiles]:
    with closing(CacheFiles(tmp_path / "cache", 10**6, warn=warned.append)) as made:
        yield made


def keep(files: CacheFiles, name: str, content: bytes) -> bool:
    fill = files.fill(name, ABOUT, len(content))
    if fill is None:
        return False
    for start in range(0, len(content), 50_000):
        fill.write(content[start : start + 50_000])
    fill.end()
    return True


def read(files: CacheFiles, name: str, first: int = 0, end: int | None = None) -> bytes | None:
    if (entry := files.entry(name)) is None:
        return None
    with closing(entry):
        return b"".join(entry.read(first, entry.length if end is None else end))


@pytest.mark.parametrize("length", [1, BLOCK_BYTES - 1, BLOCK_BYTES, BLOCK_BYTES + 1, 3 * BLOCK_BYTES])
def test_filled_entry_is_read_whole_and_in_ranges(files: CacheFiles, length: int) -> None:
    content = os.urandom(length)
    assert keep(files, NAMES[0], content)
    assert read(files, NAMES[0]) == content
    for first in (0, 1, length // 2, length - 1):
        for end in (first + 1, length):
            assert read(files, NAMES[0], first, end) == content[first:end]
    entry = files.entry(NAMES[0])
    assert entry is not None
    assert entry.about == ABOUT
    entry.close()
    assert files.totals() == (file_bytes(ABOUT, length), 1)


@given(length=st.integers(1, 200_000), data=st.data())
@settings(max_examples=60, deadline=None)
def test_a_changed_or_cut_file_is_noticed_before_a_wrong_byte(
    tmp_path_factory: pytest.TempPathFactory, length: int, data: st.DataObject
) -> None:
    content = os.urandom(length)
    path = tmp_path_factory.mktemp("d") / "cache"
    with closing(CacheFiles(path, 10**6)) as files:
        keep(files, NAMES[0], content)
        file = path / NAMES[0]
        whole = bytearray(file.read_bytes())
        place = data.draw(st.integers(0, len(whole) - 1))
        if data.draw(st.booleans()):
            whole[place] ^= 1 << data.draw(st.integers(0, 7))
            file.write_bytes(whole)
        else:
            file.write_bytes(whole[:place])
        got: list[bytes] = []
        entry = files.entry(NAMES[0])
        if entry is None:
            assert not file.exists()
            return
        with closing(entry), pytest.raises(DamagedEntryError):
            got.extend(entry.read(0, length))
        assert content.startswith(b"".join(got))


def test_it_keeps_within_its_bytes_and_forgets_what_was_used_longest_ago(tmp_path: Path) -> None:
    size = file_bytes(ABOUT, 1000)
    evicted: list[int] = []
    with closing(CacheFiles(tmp_path / "cache", 10 * size, evicted=evicted.append)) as files:
        for number in range(10):
            keep(files, NAMES[number], b"x" * 1000)
            time.sleep(0.002)
        files.touch(NAMES[0])
        keep(files, NAMES[10], b"y" * 1000)
        assert files.totals() == (10 * size, 10)
        assert read(files, NAMES[1]) is None
        assert read(files, NAMES[0]) == b"x" * 1000
        assert evicted == [1]
        assert not keep(files, NAMES[11], b"z" * 10 * size)  # more than all of it
        assert sum(1 for file in (tmp_path / "cache").iterdir() if len(file.name) == 64) == 10


def test_a_fill_removes_a_bounded_number_of_entries(tmp_path: Path) -> None:
    small = file_bytes(ABOUT, 10)
    with closing(CacheFiles(tmp_path / "cache", 150 * small)) as files:
        for name in NAMES[:150]:
            assert keep(files, name, b"x" * 10)
        large = 100 * small
        assert not keep(files, NAMES[199], b"y" * large)  # this time there was no room yet
        assert files.totals()[1] == 150 - EVICTED_MAX
        assert keep(files, NAMES[199], b"y" * large)
        assert files.totals()[0] <= 150 * small


def test_its_number_of_entries_is_bounded(tmp_path: Path) -> None:
    with closing(CacheFiles(tmp_path / "cache", 10**6, entries_max=3)) as files:
        for name in NAMES[:8]:
            assert keep(files, name, b"x")
        assert files.totals()[1] == 3


def test_one_of_several_fills_an_entry(files: CacheFiles, tmp_path: Path) -> None:
    first = files.fill(NAMES[0], ABOUT, 3)
    assert first is not None
    assert files.fill(NAMES[0], ABOUT, 3) is None
    with closing(CacheFiles(tmp_path / "cache", 10**6)) as another:  # of another worker
        assert another.fill(NAMES[0], ABOUT, 3) is None
        first.write(b"abc")
        assert read(another, NAMES[0]) == b"abc"
        assert keep(another, NAMES[0], b"abcd")
    assert read(files, NAMES[0]) == b"abcd"


def test_unfinished_entry_is_not_found(files: CacheFiles, tmp_path: Path) -> None:
    fill = files.fill(NAMES[0], ABOUT, 3)
    assert fill is not None
    fill.write(b"ab")
    fill.end()  # the client went away
    fill.write(b"c")
    assert read(files, NAMES[0]) is None
    assert files.totals() == (0, 0)
    more = files.fill(NAMES[0], ABOUT, 3)
    assert more is not None
    more.write(b"abcd")
    assert read(files, NAMES[0]) is None
    assert sorted(file.name[:5] for file in (tmp_path / "cache").iterdir() if len(file.name) >= 64) == []


def test_an_entry_that_is_evicted_while_it_is_filled_stays_out(tmp_path: Path) -> None:
    with closing(CacheFiles(tmp_path / "cache", 3 * file_bytes(ABOUT, 100))) as files:
        fill = files.fill(NAMES[0], ABOUT, 100)
        assert fill is not None
        for name in NAMES[1:6]:
            time.sleep(0.002)
            assert keep(files, name, b"y" * 100)
        fill.write(b"x" * 100)
        assert read(files, NAMES[0]) is None
        assert files.totals()[1] == 3
        assert len([file for file in (tmp_path / "cache").iterdir() if len(file.name) >= 64]) == 3


_KILLED = """
import os, sys, time
from pathlib import Path
from storage_filters.cache.files import CacheFiles
files = CacheFiles(Path(sys.argv[1]), 10**6)
kept = files.fill("a" * 64, {}, 3); kept.write(b"abc")
fill = files.fill("b" * 64, {}, 3); fill.write(b"ab")
print("here", flush=True)
time.sleep(60)
"""


def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    with subprocess.Popen([sys.executable, "-c", _KILLED, str(path)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        with closing(CacheFiles(path, 10**6)) as files:
            assert files.fill("b" * 64, ABOUT, 3) is None  # it is still being filled
        process.send_signal(signal.SIGKILL)
    (path / NAMES[7]).write_bytes(b"of nobody")
    with closing(CacheFiles(path, 10**6)) as files:
        assert read(files, "a" * 64) == b"abc"
        assert sorted(file.name[:2] for file in path.iterdir() if len(file.name) >= 64) == ["aa"]
        assert keep(files, "b" * 64, b"abc")


def test_a_full_disk_costs_the_entry_and_no_hit(files: CacheFiles, warned: list[str], tmp_path: Path) -> None:
    keep(files, NAMES[0], b"abc")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
        keep(files, NAMES[1], b"x" * 300_000)
        assert read(files, NAMES[0]) == b"abc"
        assert read(files, NAMES[1]) is None
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, before)
    assert not keep(files, NAMES[1], b"x")  # not for some seconds
    assert [file for file in (tmp_path / "cache").iterdir() if file.name.endswith(".new")] == []
    assert any("nothing is added" in sentence for sentence in warned)


def test_a_lost_directory_is_made_again(files: CacheFiles, tmp_path: Path) -> None:
    keep(files, NAMES[0], b"abc")
    shutil.rmtree(tmp_path / "cache")
    assert read(files, NAMES[0]) is None
    assert keep(files, NAMES[0], b"new")
    assert read(files, NAMES[0]) == b"new"
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700


def test_a_damaged_index_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    with closing(CacheFiles(path, 10**6)) as files:
        keep(files, NAMES[0], b"abc")
    for name in ("index-wal", "index-shm"):
        (path / name).unlink(missing_ok=True)
    (path / "index").write_bytes(os.urandom(10_000))
    with closing(CacheFiles(path, 10**6)) as files:
        assert read(files, NAMES[0]) is None
        assert keep(files, NAMES[0], b"new")
        assert files.totals()[1] == 1


def test_links_and_open_directories_are_refused(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(UnusableCacheError):
        CacheFiles(tmp_path / "link", 10**6)
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    with pytest.raises(UnusableCacheError, match="mode 0700"):
        CacheFiles(tmp_path / "open", 10**6)
    with pytest.raises(UnusableCacheError):
        CacheFiles(tmp_path / "missing" / "cache", 10**6)


def test_links_in_the_directory_are_not_followed(files: CacheFiles, tmp_path: Path) -> None:
    keep(files, NAMES[0], b"abc")
    secret = tmp_path / "secret"
    shutil.copy(tmp_path / "cache" / NAMES[0], secret)
    (tmp_path / "cache" / NAMES[1]).symlink_to(secret)
    assert files.entry(NAMES[1]) is None
    (tmp_path / "cache" / f"{NAMES[2]}.new").symlink_to(secret)
    assert files.fill(NAMES[2], ABOUT, 3) is None
    with secret.open("rb") as file:
        assert b"".join(Entry(file).read(0, 3)) == b"abc"


def test_several_processes_share_one_bound(tmp_path: Path) -> None:
    path = tmp_path / "cache"
    source = """
import sys
from pathlib import Path
from storage_filters.cache.files import CacheFiles
files = CacheFiles(Path(sys.argv[1]), 20_000)
for number in range(200):
    fill = files.fill(f"{number % 60:064x}", {}, 1000)
    if fill is not None:
        fill.write(b"x" * 1000)
"""
    processes = [subprocess.Popen([sys.executable, "-c", source, str(path)]) for _ in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    with closing(CacheFiles(path, 20_000)) as files:
        kept = [file for file in path.iterdir() if len(file.name) == 64]
        bytes_, entries = files.totals()
        assert sum(file.stat().st_size for file in kept) == bytes_ <= 20_000
        assert len(kept) == entries > 10
