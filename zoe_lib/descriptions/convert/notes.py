"""Notes of a conversion: parts that were left out, and defaults that were used."""

from __future__ import annotations

from dataclasses import dataclass, field

from zoe_lib.descriptions.bounds import GIB


@dataclass(frozen=True, slots=True)
class Note:
    """One remark; `pointer` is a JSON pointer into the old document."""

    pointer: str
    message: str

    def __str__(self) -> str:
        return f"{self.pointer or '(document)'}: {self.message}"


@dataclass(frozen=True, slots=True)
class ConversionDefaults:
    """Defaults for reservations that old descriptions may omit; the installation sets them."""

    memory_bytes: int = 2 * GIB
    cores: float = 0.1


@dataclass(slots=True)
class Notes:
    """The remarks of one conversion, each once, in order."""

    found: dict[Note, None] = field(default_factory=dict)

    def add(self, pointer: str, message: str) -> None:
        """Add a remark."""
        self.found[Note(pointer, message)] = None
