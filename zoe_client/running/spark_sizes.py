"""Sizes and properties in Spark's notation, and the memory of the services that hold Spark's heaps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from zoe_client.documents.quantities import bytes_of

MIB = 2**20
_OVERHEAD_MIN = 512 * MIB
_UNITS = {"k": 2**10, "m": MIB, "g": 2**30, "t": 2**40}
_SPARKS = re.compile(r"([0-9]{1,12})([kmgt])b?", re.IGNORECASE)

OWN_PROPERTIES: Mapping[str, str] = MappingProxyType(
    {
        "spark.executor.instances": "num-executors",
        "spark.executor.memory": "executor-memory",
        "spark.executor.cores": "executor-cores",
        "spark.driver.memory": "driver-memory",
    }
)
"""Properties that decide what is reserved, with the options that set them."""
_SET_BY_ZOE = frozenset({"spark.master", "spark.submit.deployMode", "spark.driver.host", "spark.ui.port"})


@dataclass(frozen=True, slots=True)
class SparkOptions:
    """Options of Spark's own `spark-submit`; None leaves the default. Sizes are bytes of the heap."""

    executor_bytes: int | None = None
    driver_bytes: int | None = None
    properties: tuple[str, ...] = ()
    """Each `NAME=VALUE`."""


def heap_bytes(text: str) -> int:
    """Return the bytes of a size as Spark writes it, `2g` or `512m`, or as Zoe does; ValueError if it is none."""
    if match := _SPARKS.fullmatch(text.strip()):
        return int(match[1]) * _UNITS[match[2].lower()]
    return bytes_of(text)


def worker_bytes(executor_bytes: int) -> int:
    """Return the memory of a worker that leaves this much to its executor, in bytes, rounded up to a MiB.

    The inverse of the rule of the framework: a worker keeps a fifth for itself, and at least 512 MiB.
    """
    needed = max(executor_bytes + _OVERHEAD_MIN, -(-executor_bytes * 5 // 4))
    return -(-needed // MIB) * MIB


def executor_bytes(memory_bytes: int) -> int:
    """Return the memory that a worker leaves to its executor, in bytes."""
    return memory_bytes - max(_OVERHEAD_MIN, memory_bytes // 5)


def checked_properties(given: Iterable[str]) -> dict[str, str]:
    """Return properties by name; ValueError for a text without `=`, and for those that Zoe sets."""
    properties = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"--conf {text}: write NAME=VALUE")
        if name in _SET_BY_ZOE:
            raise ValueError(f"--conf {name}: Zoe starts the cluster and sets this itself; leave it out")
        properties[name] = value
    return properties
