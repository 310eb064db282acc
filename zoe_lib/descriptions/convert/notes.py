"""What a conversion tells people: what could not carry over, and which defaults stand in."""

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
    """What stands in for reservations that old descriptions may leave out: set by the installation."""

    memory_bytes: int = 2 * GIB
    cores: float = 0.1


@dataclass(slots=True)
class Notes:
    """The remarks of one conversion, each once, in order."""

    found: dict[Note, None] = field(default_factory=dict)

    def add(self, pointer: str, message: str) -> None:
        """Keep a remark."""
        self.found[Note(pointer, message)] = None
