"""Directory of the cache: a file for each entry, and an index of sizes and last uses, for all workers of a proxy.

The index (SQLite) enforces the size: a fill reserves its bytes there before it writes any, and evicts the least
recently used entries, at most `EVICTED_MAX` at a time. Files appear by a rename, so readers never see a partial one. A
process that is killed at any point leaves at most a reservation, which ages like an entry, and a file that the next
start removes. A failure here (a full disk, a lost directory, a damaged index) causes a miss, never an error.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from storage_filters.cache.entry import DamagedEntryError, Entry, EntryWriter, file_bytes

EVICTED_MAX = 64
"""Most entries that one fill evicts; if this frees too little, the object is not cached this time."""
TOUCH_S = 10.0
"""Each process records the last use of an entry at most this often, in seconds."""
_TOUCHED_MAX = 4096
_TRY_AGAIN_S = 5.0
_BUSY_S = 0.5
_FILLING = ".new"
_INDEX, _LOCK = "index", "lock"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entries (name TEXT PRIMARY KEY, bytes INTEGER NOT NULL, used REAL NOT NULL) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entries_by_use ON entries (used, name, bytes);
CREATE TABLE IF NOT EXISTS totals (one INTEGER PRIMARY KEY CHECK (one = 1), bytes INTEGER, entries INTEGER);
INSERT OR IGNORE INTO totals SELECT 1, coalesce(sum(bytes), 0), count(*) FROM entries;
CREATE TRIGGER IF NOT EXISTS more AFTER INSERT ON entries BEGIN
  UPDATE totals SET bytes = bytes + new.bytes, entries = entries + 1;
END;
CREATE TRIGGER IF NOT EXISTS fewer AFTER DELETE ON entries BEGIN
  UPDATE totals SET bytes = bytes - old.bytes, entries = entries - 1;
END;
"""
_FAILURES = (OSError, sqlite3.Error)


class UnusableCacheError(ValueError):
    """A directory that cannot hold a cache; the message says why."""


class CacheFiles:
    """Cache entries, by names that are file names. evicted: is called with the number of entries that made room."""

    def __init__(
        self,
        path: Path,
        bytes_max: int,
        entries_max: int = 100_000,
        evicted: Callable[[int], None] = lambda _: None,
        warn: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Open the directory, creating it if it is missing. Raises UnusableCacheError."""
        self._path = path
        self._bytes_max = bytes_max
        self._entries_max = entries_max
        self._evicted = evicted
        self._warn = warn
        self._directory = -1
        self._index: sqlite3.Connection | None = None
        self._owner = 0
        self._index_file = 0
        self._open_at_s = self._fill_at_s = 0.0
        self._touched: dict[str, float] = {}
        try:
            self._open_or_begin_anew()
        except _FAILURES as error:
            raise UnusableCacheError(f"{path} cannot be used as the cache's directory: {error}") from None
        self.close()  # the processes that a server forks open it again

    def close(self) -> None:
        """Close the files of this process."""
        if self._index is not None and self._owner == os.getpid():
            self._index.close()
        if self._directory >= 0:
            os.close(self._directory)
        self._index, self._directory = None, -1

    def entry(self, name: str) -> Entry | None:
        """Return an entry that the caller closes; None without an intact one."""
        if not self._ready():
            return None
        try:
            file = self._file(name, os.O_RDONLY)
        except OSError:
            return None
        try:
            return Entry(file)
        except (DamagedEntryError, OSError) as error:
            file.close()
            self._warn(f"{self._path / name} is removed: {error}")
            self.remove(name)
            return None

    def touch(self, name: str) -> None:
        """Record that an entry was used now."""
        now_s = time.monotonic()
        if now_s - self._touched.get(name, -TOUCH_S) < TOUCH_S:
            return
        if len(self._touched) >= _TOUCHED_MAX:
            self._touched.clear()
        self._touched[name] = now_s
        with suppress(*_FAILURES), self._change() as index:
            index.execute("UPDATE entries SET used = ? WHERE name = ?", (time.time(), name))

    def remove(self, name: str) -> None:
        """Remove an entry, if it is there."""
        with suppress(*_FAILURES), self._change() as index:
            self._unlink(name)
            index.execute("DELETE FROM entries WHERE name = ?", (name,))

    def fill(self, name: str, about: Mapping[str, Any], length: int) -> Fill | None:
        """Begin an entry; None if another process or request fills it, or there is no room."""
        size = file_bytes(about, length)
        if size > self._bytes_max or time.monotonic() < self._fill_at_s or not self._ready(look=True):
            return None
        file = None
        try:
            if (file := self._file_to_fill(name + _FILLING)) is None:
                return None
            if self._reserve(name, size):
                return Fill(self, name, file, EntryWriter(file, about, length))
            self._drop(file, name)
        except _FAILURES as error:
            self.pause_fills(error)
            if file is not None:
                self._drop(file, name)
        return None

    def totals(self) -> tuple[int, int]:
        """Return bytes and number of entries, including those in the making."""
        with self._change() as index:
            bytes_, entries = index.execute("SELECT bytes, entries FROM totals").fetchone()
            return int(bytes_), int(entries)

    def publish(self, name: str, file: IO[bytes]) -> None:
        """Turn a filled file into the entry. Raises OSError or sqlite3.Error."""
        with self._change() as index:
            kept = index.execute("UPDATE entries SET used = ? WHERE name = ?", (time.time(), name)).rowcount
            if kept:
                os.replace(name + _FILLING, name, src_dir_fd=self._directory, dst_dir_fd=self._directory)
            else:  # it was evicted before it was filled
                self._unlink(name + _FILLING)
        file.close()

    def give_up(self, name: str, file: IO[bytes]) -> None:
        """Remove a partial file and its reservation."""
        with suppress(*_FAILURES), self._change() as index:
            index.execute("DELETE FROM entries WHERE name = ?", (name,))
        self._drop(file, name)

    def pause_fills(self, error: Exception) -> None:
        """Stop filling for some seconds; existing entries stay readable."""
        self._warn(f"nothing is added to {self._path} for {_TRY_AGAIN_S:g} s: {error}")
        self._fill_at_s = time.monotonic() + _TRY_AGAIN_S

    def _drop(self, file: IO[bytes], name: str) -> None:
        with suppress(OSError):
            self._unlink(name + _FILLING)  # while it is locked: no other process fills this file
        with suppress(OSError):
            file.close()

    def _reserve(self, name: str, size: int) -> bool:
        removed = 0
        with self._change() as index:
            index.execute("DELETE FROM entries WHERE name = ?", (name,))
            self._unlink(name)
            victims = index.execute("SELECT name, bytes FROM entries ORDER BY used LIMIT ?", (EVICTED_MAX,)).fetchall()
            bytes_, entries = index.execute("SELECT bytes, entries FROM totals").fetchone()
            for victim, of_it in victims:
                if bytes_ + size <= self._bytes_max and entries < self._entries_max:
                    break
                self._unlink(victim)
                index.execute("DELETE FROM entries WHERE name = ?", (victim,))
                bytes_, entries, removed = bytes_ - of_it, entries - 1, removed + 1
            room = bytes_ + size <= self._bytes_max and entries < self._entries_max
            if room:
                index.execute("INSERT INTO entries VALUES (?, ?, ?)", (name, size, time.time()))
        if removed:
            self._evicted(removed)
        return bool(room)

    def _file_to_fill(self, name: str) -> IO[bytes] | None:
        """Return an empty file that only this process fills; None if another process fills it."""
        file = self._file(name, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # the former holder of the lock may have renamed or removed the file meanwhile
            there = os.stat(name, dir_fd=self._directory, follow_symlinks=False)
            if os.path.samestat(there, os.fstat(file.fileno())):
                file.truncate(0)
                return file
        except (BlockingIOError, FileNotFoundError):
            pass
        file.close()
        return None

    def _file(self, name: str, flags: int) -> IO[bytes]:
        descriptor = os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600, dir_fd=self._directory)
        return os.fdopen(descriptor, "rb" if flags == os.O_RDONLY else "r+b")

    def _unlink(self, name: str) -> None:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self._directory)

    @contextmanager
    def _change(self) -> Iterator[sqlite3.Connection]:
        """Lock the index against other processes. Raises OSError or sqlite3.Error."""
        if not self._ready() or self._index is None:
            raise OSError("the cache is not available")
        index = self._index
        try:
            index.execute("BEGIN IMMEDIATE")
            try:
                yield index
            except BaseException:
                index.execute("ROLLBACK")
                raise
            index.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            if not isinstance(error, sqlite3.OperationalError):
                self._begin_anew(error)
            raise

    def _ready(self, look: bool = False) -> bool:
        """Return whether the directory is open in this process. look: check its path too, since it may have been
        removed.
        """
        if self._directory >= 0 and self._owner == os.getpid() and not (look and self._is_lost()):
            return True
        if time.monotonic() < self._open_at_s:
            return False
        self.close()
        try:
            self._open_or_begin_anew()
        except (*_FAILURES, UnusableCacheError) as error:
            self._open_at_s = time.monotonic() + _TRY_AGAIN_S
            self._warn(f"the cache {self._path} is disabled for {_TRY_AGAIN_S:g} s: {error}")
            self.close()
            return False
        return True

    def _is_lost(self) -> bool:
        try:
            there = self._path.stat(follow_symlinks=False)
            index = os.stat(_INDEX, dir_fd=self._directory, follow_symlinks=False)
        except OSError:
            return True
        return not os.path.samestat(there, os.fstat(self._directory)) or index.st_ino != self._index_file

    def _begin_anew(self, error: Exception) -> None:
        """Close the directory, and remove an invalid index; all processes notice that."""
        if isinstance(error, sqlite3.DatabaseError) and not isinstance(error, sqlite3.OperationalError):
            self._warn(f"the index of {self._path} begins anew: {error}")
            for name in (_INDEX, f"{_INDEX}-wal", f"{_INDEX}-shm"):
                with suppress(OSError):
                    self._unlink(name)
        self.close()

    def _open_or_begin_anew(self) -> None:
        try:
            self._open()
        except sqlite3.DatabaseError as error:
            self._begin_anew(error)
            self._open()

    def _open(self) -> None:
        with suppress(FileExistsError):
            self._path.mkdir(0o700)
        self._directory = os.open(self._path, os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._owner = os.getpid()
        status = os.fstat(self._directory)
        # A server without workers that root starts stays root, whatever user it is to run as.
        if os.geteuid() not in (0, status.st_uid) or stat.S_IMODE(status.st_mode) & 0o077:
            raise UnusableCacheError(f"{self._path} must belong to the server's user alone: owner, and mode 0700")
        with closing(self._file(_INDEX, os.O_RDWR | os.O_CREAT)) as file:  # no link
            self._index_file = os.fstat(file.fileno()).st_ino
        self._index = sqlite3.connect(
            self._path / _INDEX, timeout=_BUSY_S, isolation_level=None, check_same_thread=False
        )
        self._index.execute("PRAGMA journal_mode = WAL")
        self._index.execute("PRAGMA synchronous = OFF")  # after a crash of the machine, entries prove themselves
        self._index.executescript(_SCHEMA)
        self._sweep()

    def _sweep(self) -> None:
        """Remove files without an entry, unless another process is doing so."""
        assert self._index is not None
        with closing(self._file(_LOCK, os.O_RDWR | os.O_CREAT)) as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            for name in os.listdir(self._directory):  # noqa: PTH208 - of the directory that is open
                if name == _LOCK or name.startswith(_INDEX):
                    continue
                if name.endswith(_FILLING):
                    if (file := self._file_to_fill(name)) is not None:
                        self._unlink(name)
                        file.close()
                # An entry is in the index before its file is there.
                elif not self._index.execute("SELECT 1 FROM entries WHERE name = ?", (name,)).fetchone():
                    self._unlink(name)


class Fill:
    """An entry in the making. Disk errors end it; they appear in the log only."""

    def __init__(self, files: CacheFiles, name: str, file: IO[bytes], writer: EntryWriter) -> None:
        self._files = files
        self._name = name
        self._file: IO[bytes] | None = file
        self._writer = writer

    def write(self, chunk: bytes) -> None:
        """Write the next bytes; the last ones complete the entry."""
        if self._file is None:
            return
        try:
            self._writer.write(chunk)
        except (OSError, ValueError) as error:
            self._files.pause_fills(error)
            self.end()
            return
        if self._writer.complete:
            self.end()

    def end(self) -> None:
        """Publish the entry if it is complete, and drop it otherwise. May be called again."""
        file, self._file = self._file, None
        if file is None:
            return
        try:
            if self._writer.complete:
                self._writer.finish()
                self._files.publish(self._name, file)
                return
        except (*_FAILURES, ValueError) as error:
            self._files.pause_fills(error)
        self._files.give_up(self._name, file)
