"""The modules that a proxy has, by the SHA-256 of their content, in a directory that all of its workers read.

    <sha256>.wasm    as the storage controller sent it
    <sha256>.code    compiled: the SHA-256 of the rest, and the rest

A file whose digest differs from its name counts as missing, and is fetched again. Compiled code runs unchecked, so it
is used only if its digest is right; otherwise the module is compiled anew.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import wasmtime

from storage_filters.transforms.modules.engine import Module, check_module, compile_module, engine

SHA256 = re.compile(r"[0-9a-f]{64}")
_LOADED_MAX = 256
"""Most compiled modules that a process keeps in memory."""
WANTED_MAX = 64
"""Most modules that a proxy requests at a time."""


def modules_directory(rates_file: str) -> Path:
    """Return the path of the directory, beside the file of the rates."""
    return Path(rates_file).with_suffix(".modules")


class MissingModuleError(Exception):
    """A module, or part of it, is missing at this proxy."""


class ModuleFiles:
    """Directory of modules, for its writer and for readers. elsewhere: runs slow work so that other requests get their
    turn.
    """

    def __init__(self, directory: Path, elsewhere: Callable[[Callable[[], Any]], Any] = lambda work: work()) -> None:
        self.directory = directory
        self._elsewhere = elsewhere
        self._loaded: dict[str, Module] = {}
        self._whole: dict[str, tuple[int, int, int]] = {}  # files with a verified digest, and their state at that time

    def load(self, sha256: str) -> Module:
        """Return a module, ready to run. Raises MissingModuleError, or InvalidModuleError if this version refuses
        it.
        """
        found = self._loaded.pop(sha256, None)
        if found is None:
            found = self._load_compiled(sha256)
            while len(self._loaded) >= _LOADED_MAX:
                del self._loaded[next(iter(self._loaded))]
        self._loaded[sha256] = found  # most recently used last
        return found

    def keep(self, content: bytes) -> str:
        """Store a module and its compiled code; return its digest. Raises InvalidModuleError."""
        sha256 = hashlib.sha256(content).hexdigest()
        self.directory.mkdir(mode=0o700, exist_ok=True)
        made = self._compile(sha256, content)
        _write(self.directory / f"{sha256}.wasm", content)
        self._loaded[sha256] = made
        return sha256

    def forget(self) -> None:
        """Forget the loaded modules, so that each is loaded again at its next use."""
        self._loaded.clear()

    def has_modules(self) -> bool:
        """Return whether any module was ever stored."""
        return next(self.directory.glob("*.wasm"), None) is not None

    def missing(self, wanted: Iterable[str]) -> list[str]:
        """Return the modules to request, at most 64: missing or damaged ones, and ones that readers have asked for."""
        asked = self._requested()
        names = dict.fromkeys((*wanted, *asked))
        found = [name for name in names if SHA256.fullmatch(name) and not self._is_intact(name)]
        for text in asked.difference(found):
            (self.directory / f"{text}.wanted").unlink(missing_ok=True)
        return found[:WANTED_MAX]

    def ask(self, sha256: str) -> None:
        """Ask the worker with the controller's connection for the module of a stored object."""
        if len(self._requested()) < WANTED_MAX:
            self.directory.mkdir(mode=0o700, exist_ok=True)
            (self.directory / f"{sha256}.wanted").touch(0o600)

    def _requested(self) -> set[str]:
        return {path.stem for path in self.directory.glob("*.wanted")} if self.directory.is_dir() else set()

    def _is_intact(self, sha256: str) -> bool:
        try:
            now = (self.directory / f"{sha256}.wasm").stat()
        except OSError:
            return False
        version = now.st_mtime_ns, now.st_ino, now.st_size
        if self._whole.get(sha256) != version and self._content(sha256) is not None:
            self._whole[sha256] = version
        return self._whole.get(sha256) == version

    def _content(self, sha256: str) -> bytes | None:
        try:
            content = (self.directory / f"{sha256}.wasm").read_bytes()
        except OSError:
            return None
        return content if hashlib.sha256(content).hexdigest() == sha256 else None

    def _load_compiled(self, sha256: str) -> Module:
        engine()  # by this thread, whose CPU its epochs count
        try:
            kept = (self.directory / f"{sha256}.code").read_bytes()
            if hashlib.sha256(kept[32:]).digest() == kept[:32]:
                return check_module(wasmtime.Module.deserialize(engine(), kept[32:]))
        except (OSError, wasmtime.WasmtimeError):  # missing, or of another version
            pass
        content = self._content(sha256)
        if content is None:
            raise MissingModuleError(sha256)
        return self._compile(sha256, content)

    def _compile(self, sha256: str, content: bytes) -> Module:
        engine()
        made: Module = self._elsewhere(lambda: compile_module(content))
        code = bytes(made.code.serialize())
        with suppress(OSError):  # the next process compiles it again
            _write(self.directory / f"{sha256}.code", hashlib.sha256(code).digest() + code)
        return made


def _write(path: Path, content: bytes) -> None:
    beside = path.with_name(f"{path.name}-{os.getpid()}")
    beside.write_bytes(content)
    beside.replace(path)
