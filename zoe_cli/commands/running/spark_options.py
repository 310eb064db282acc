"""Options of `zoe spark-submit`, and those of Spark's own spark-submit."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from zoe_client.running.spark_sizes import OWN_PROPERTIES, SparkOptions, checked_properties, heap_bytes

_PANEL = "Options of Spark"

Program = Annotated[
    list[str],
    typer.Argument(
        metavar="PROGRAM",
        help="Spark program in Python, and its arguments; local files go with it, up to 64 MiB in all.",
    ),
]
Image = Annotated[str | None, typer.Option(help="Image with Spark (default: zoe/spark).")]
Workers = Annotated[
    int | None,
    typer.Option(min=0, max=1000, help="Number of workers [2]; 0: the program runs in one process."),
]

Executors = Annotated[
    int | None,
    typer.Option("--num-executors", min=0, max=1000, help="As --workers.", rich_help_panel=_PANEL),
]
ExecutorMemory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Heap of each executor, such as 2g; --memory gets what it needs beside.",
        rich_help_panel=_PANEL,
    ),
]
ExecutorCores = Annotated[
    float | None, typer.Option("--executor-cores", min=0.001, help="As --cores.", rich_help_panel=_PANEL)
]
DriverMemory = Annotated[
    str | None, typer.Option(metavar="SIZE", help="Heap of the driver [1g].", rich_help_panel=_PANEL)
]
Properties = Annotated[
    list[str] | None,
    typer.Option("--conf", metavar="NAME=VALUE", help="Property of Spark; may be repeated.", rich_help_panel=_PANEL),
]
Modules = Annotated[
    str | None,
    typer.Option(
        "--py-files",
        metavar="FILES",
        help="Local Python files, separated by commas; each is copied as by --file.",
        rich_help_panel=_PANEL,
    ),
]

_CLUSTER = "Zoe starts a cluster for the program and gives its address; leave it out"
OTHERS = {
    "--master": _CLUSTER,
    "--deploy-mode": _CLUSTER,
    "--class": "only programs in Python; write a description for a jar (`zoe catalogue spark-submit`)",
    "--jars": "send each with --file, and name it with --conf spark.jars=NAME",
    "--packages": "write --conf spark.jars.packages=COORDINATES",
    "--files": "write --file for each",
    "--archives": "write --file for each",
    "--total-executor-cores": "write --num-executors and --executor-cores",
    "--queue": "Zoe has no queues by name; write --name, and ask an admin for limits and priorities",
}
"""Options of Spark that Zoe does not take, and what to write instead."""


@dataclass(frozen=True, slots=True)
class GivenSparkOptions:
    """The options as they are given, beside the values of Zoe's own."""

    executors: int | None
    executor_memory: str | None
    executor_cores: float | None
    driver_memory: str | None
    properties: Sequence[str]
    modules: str | None

    def files(self) -> list[Path]:
        """Return the files of --py-files."""
        return [Path(name) for name in (self.modules or "").split(",") if name]

    def read(self) -> tuple[SparkOptions, int | None, float | None]:
        """Return the options for a draft, the number of workers, and the cores of each; ValueError."""
        properties = checked_properties(self.properties)
        given = {
            "num-executors": self.executors,
            "executor-memory": self.executor_memory,
            "executor-cores": self.executor_cores,
            "driver-memory": self.driver_memory,
        }
        for name, option in OWN_PROPERTIES.items():
            value = properties.pop(name, None)
            if value is not None and given[option] is not None:
                raise ValueError(f"--{option} and --conf {name}: give one of them")
            given[option] = value if given[option] is None else given[option]
        executors, cores = _number("num-executors", given), _number("executor-cores", given)
        options = SparkOptions(
            _heap("executor-memory", given["executor-memory"]),
            _heap("driver-memory", given["driver-memory"]),
            tuple(f"{name}={value}" for name, value in properties.items()),
        )
        return options, None if executors is None else int(executors), cores


def _number(option: str, given: Mapping[str, object]) -> float | None:
    if (value := given[option]) is None:
        return None
    if not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,3})?", str(value)):
        raise ValueError(f"--{option} {value}: write a number")
    return float(str(value))


def _heap(option: str, value: object) -> int | None:
    if value is None:
        return None
    try:
        return heap_bytes(str(value))
    except ValueError as error:
        raise ValueError(f"--{option} {value}: {error}") from None


def check_both(**values: tuple[object, object]) -> None:
    """Raise ValueError where an option of Zoe and the same one of Spark are given."""
    sparks = {"workers": "num-executors", "cores": "executor-cores", "memory": "executor-memory"}
    for name, (own, spark) in values.items():
        if own is not None and spark is not None:
            raise ValueError(f"--{name} and --{sparks[name]}: give one of them")
