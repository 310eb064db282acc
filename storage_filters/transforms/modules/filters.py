"""Modules in the chain of filters: for stored objects, forward and backward, and for reads only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from storage_filters.transforms.modules.engine import FORWARD, REVERSE, TRANSFORM, Module
from storage_filters.transforms.modules.memory import MemoryShare, unbounded_share
from storage_filters.transforms.modules.run import ModuleFaultError, ModuleMemoryError, ModuleRun, Pause, run
from storage_filters.transforms.stream_filters import (
    PIECE_BYTES,
    DamagedObjectError,
    FilterAway,
    FilterRefusedError,
    Span,
)

LAG_BYTES_MAX = 32 * 2**20
"""Most bytes between the input of a module and its read-back."""
MODULE = "MODULE"


@dataclass(frozen=True, slots=True)
class NamedModule:
    """A module as a rule sets it. sha256: of its file, in hexadecimal. parameters: names in lower case. share: makes
    the memory share of a run.
    """

    name: str
    sha256: str
    module: Module
    parameters: Mapping[str, str]
    pause: Pause
    share: Callable[[], MemoryShare] = unbounded_share


class ModuleFilter:
    """Filter that runs `forward` when an object is stored, and `reverse` when it is read.

    While it stores, the filter reads its output back and compares it with the input: a module that does not reproduce
    every byte stores nothing. metadata: of the request, for `forward`; `reverse` sees only the parameters, so that an
    object stays readable whatever happens to its metadata.
    """

    def __init__(self, named: NamedModule, metadata: Mapping[str, str] | None = None) -> None:
        self._named = named
        self._metadata = metadata or {}

    def forward(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the bytes to store. Raises FilterRefusedError."""
        named, reads_back = self._named, self._named.share()
        try:
            back = _Check(ModuleRun(named.module, REVERSE, named.parameters, reads_back))
            seen = {**self._metadata, **named.parameters}
            for piece, written in run(named.module, FORWARD, seen, chunks, named.pause, named.share()):
                back.put(piece)
                if written:
                    back.check_output(written)
                    yield written
            back.end()
        except ModuleMemoryError as error:
            raise FilterAway(f"the filter {named.name} cannot run now: {error}") from None
        except ModuleFaultError as error:
            raise FilterRefusedError(f"the filter {named.name} cannot store this object: {error}") from None
        finally:
            reads_back.close()

    def reverse(self, chunks: Iterable[bytes], first: int, to_end: bool) -> Iterator[bytes]:
        """Yield the original bytes. Raises DamagedObjectError."""
        assert (first, to_end) == (0, True)
        named = self._named
        try:
            for _, written in run(named.module, REVERSE, named.parameters, chunks, named.pause, named.share()):
                if written:
                    yield written
        except ModuleMemoryError as error:
            raise FilterAway(f"the filter {named.name} cannot run now: {error}") from None
        except ModuleFaultError as error:
            raise DamagedObjectError(f"the filter {named.name} cannot read it back: {error}") from None

    def span(self, first: int, end: int | None) -> Span:  # noqa: ARG002
        """Return the whole object: a module starts at the beginning."""
        return Span(0, None, first)

    def record(self) -> Mapping[str, Any]:
        """Return the exact version of the module, and its parameters."""
        named = self._named
        return {"filter": MODULE, "name": named.name, "module": named.sha256, "with": dict(named.parameters)}


class ReadModule:
    """Filter that runs `transform` when an object is read. metadata: of the object."""

    def __init__(self, named: NamedModule, metadata: Mapping[str, str]) -> None:
        self._named = named
        self._metadata = {**metadata, **named.parameters}

    @property
    def same_size(self) -> bool:
        """Return whether the module declares that it keeps the size."""
        return self._named.module.same_size

    @property
    def identity(self) -> tuple[str, Mapping[str, str]]:
        """Return everything that the output depends on, besides the bytes."""
        return self._named.sha256, self._metadata

    def transform(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the transformed bytes. Raises FilterRefusedError."""
        named = self._named
        try:
            for _, written in run(named.module, TRANSFORM, self._metadata, chunks, named.pause, named.share()):
                if written:
                    yield written
        except ModuleMemoryError as error:
            raise FilterAway(f"the filter {named.name} cannot run now: {error}") from None
        except ModuleFaultError as error:
            raise FilterRefusedError(f"the filter {named.name} cannot read this object: {error}") from None


class _Check:
    """Reads the output of a module back, and compares it with the input. Raises ModuleFaultError."""

    def __init__(self, back: ModuleRun) -> None:
        self._back = back
        self._expected = bytearray()
        self._held: bytes | None = None

    def put(self, piece: bytes) -> None:
        self._expected += piece
        if len(self._expected) > LAG_BYTES_MAX:
            raise ModuleFaultError(f"it holds back more than {LAG_BYTES_MAX} bytes")

    def check_output(self, written: bytes) -> None:
        for piece in _slices(written):
            if self._held is not None:
                self._compare(self._back.piece(self._held, last=False))
            self._held = piece

    def end(self) -> None:
        self._compare(self._back.piece(self._held or b"", last=True))
        if self._expected:
            raise ModuleFaultError(f"its reverse does not return the last {len(self._expected)} bytes")

    def _compare(self, got: bytes) -> None:
        if not self._expected.startswith(got):
            raise ModuleFaultError("its reverse does not return the original bytes")
        del self._expected[: len(got)]


def _slices(content: bytes) -> Iterator[bytes]:
    return (content[start : start + PIECE_BYTES] for start in range(0, len(content), PIECE_BYTES))
