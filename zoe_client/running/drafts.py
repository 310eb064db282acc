"""Build descriptions from command lines."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from zoe_client.documents.additions import literal
from zoe_client.documents.quantities import bytes_of, size_text
from zoe_client.documents.scripts import (
    CORES,
    INDEX,
    INTERPRETERS,
    MEMORY,
    Command,
    command_component,
    script_results,
    script_words,
    title_of,
)
from zoe_client.running.carried import CarriedFiles, placed
from zoe_client.running.options import ScriptOptions
from zoe_client.running.spark_sizes import MIB, SparkOptions, executor_bytes, worker_bytes

SPARK_MEMORY, SPARK_WORKERS = "2GiB", 2
SPARK_MEMORY_MIN = 2**30
# Short names of images; all other values are images.
_SHORT_NAMES = {"tiny": "zoe/tiny", "python": "zoe/python", "spark": "zoe/spark"}
_DRIVER_HEAP, _DRIVER_OVERHEAD = 2**30, 768 * MIB
_MODULES = (".py", ".zip", ".egg")
NO_SPARK_OPTIONS = SparkOptions()
_CLUSTER = ("--master", "spark://{host:spark-master}:{port:spark-master.rpc}")


@dataclass(frozen=True, slots=True)
class CommandOptions:
    """Options of a command; None leaves the default."""

    image: str | None = None
    workers: int | None = None
    memory: str | None = None
    cores: float | None = None
    files: tuple[Path, ...] = ()
    packages: tuple[str, ...] = ()
    sources: tuple[dict[str, str], ...] = ()
    name: str | None = None
    """Name of the execution, and so of the application, whose characters are fewer."""
    array: bool = False
    """Whether `{index}` in words is the array index."""


def command_options(how: ScriptOptions) -> CommandOptions:
    """Return the options of `Client.script`; TypeError for unknown ones."""
    given = {**how, "files": tuple(map(Path, how.get("files", ()))), "packages": tuple(how.get("packages", ()))}
    given["array"] = given.pop("in_array", False)
    return CommandOptions(**given)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Draft:
    """The description of a command, in which `{files}/NAME` stands for each of its local files."""

    document: dict[str, Any]
    carried: CarriedFiles

    @property
    def fits(self) -> bool:
        """Return whether all files fit into the description."""
        return len(self.carried.embedded()) == len(self.carried.files)

    def embedded(self) -> dict[str, Any]:
        """Return the description with its small files; others are in the workspace, by their names."""
        texts = self.carried.embedded()
        document = self.placed({name: name for name in self.carried.files if name not in texts})
        if texts:
            document["components"][0] = {**document["components"][0], "files": texts}
        return document

    def placed(self, places: Mapping[str, str]) -> dict[str, Any]:
        """Return the description with these files at paths of the workspace."""
        full = {name: f"{{workspace}}/{path}" for name, path in places.items()}
        first, *others = self.document["components"]
        command = [placed(word, full) for word in first["command"]]
        return {**self.document, "components": [{**first, "command": command}, *others]}


def command_draft(line: Sequence[str], wishes: CommandOptions) -> Draft:
    """Return the description of a command, or of a script and its arguments, that runs in the workspace."""
    carried, results = _embedded_files(wishes), list[str]()
    if wishes.image is None:
        if (suffix := Path(line[0]).suffix) not in INTERPRETERS:
            raise ValueError(f"{line[0]!r} is no script ({', '.join(INTERPRETERS)}): name the image of a command")
        path = carried.add(Path(line[0]))
        image = INTERPRETERS[suffix].image
        words = script_words(suffix, path, [*map(carried.word, line[1:])], wishes.array)
        results = script_results(suffix, path, wishes.array)
    else:
        image, words = _image(wishes.image), [*map(carried.word, line)]
        if image in _SHORT_NAMES.values() and words[0] == "python":
            words[0] = "python3"  # Debian only has this name
    component = command_component(
        Command(
            image,
            words,
            wishes.memory or MEMORY,
            CORES if wishes.cores is None else wishes.cores,
            wishes.workers or 1,
            packages=wishes.packages,
            sources=wishes.sources,
        )
    )
    draft = _draft(line, [component], carried, wishes.name)
    return replace(draft, document={**draft.document, "results": results}) if results else draft


def spark_draft(line: Sequence[str], wishes: CommandOptions, spark: SparkOptions = NO_SPARK_OPTIONS) -> Draft:
    """Return the description of a Spark program on a cluster of its own, or without workers in one process."""
    carried, cores = _embedded_files(wishes), CORES if wishes.cores is None else wishes.cores
    image, memory = _image(wishes.image or "spark"), wishes.memory or SPARK_MEMORY
    workers = SPARK_WORKERS if wishes.workers is None else wishes.workers
    if not workers and spark.executor_bytes is not None:
        raise ValueError("without workers there are no executors: write --driver-memory for --executor-memory")
    wanted = spark.executor_bytes if workers else spark.driver_bytes
    if wanted is not None:
        memory = size_text(max(worker_bytes(wanted), SPARK_MEMORY_MIN))
    heap = f"{(wanted or _executor_bytes(memory)) // MIB}m"
    driver_heap = spark.driver_bytes or _DRIVER_HEAP
    modules = [f"{{files}}/{name}" for name in carried.files if name.endswith(_MODULES)]
    driver = {
        "name": "driver",
        "image": image,
        "startup_order": 1 if workers else 0,
        "ends_application": True,
        "work_dir": "{workspace}",
        "command": [
            *("spark-submit", *(_CLUSTER if workers else ("--master", f"local[{math.ceil(cores)}]"))),
            *(("--driver-memory", f"{driver_heap // MIB}m", "--executor-memory") if workers else ("--driver-memory",)),
            heap,
            *("--conf", "spark.driver.host={host:self}", "--conf", "spark.ui.port={port:ui}"),
            *(word for text in spark.properties for word in ("--conf", literal(text))),
            *(("--py-files", ",".join(modules)) if modules else ()),
            carried.add(Path(line[0])),
            *map(carried.word, line[1:]),
        ],
        "environment": {
            "HOME": "{workspace}",
            "SPARK_LOCAL_HOSTNAME": "{host:self}",
            "SPARK_LOCAL_IP": "{host:self}",
            "SPARK_LOCAL_DIRS": "{scratch}",
        },
        "resources": _driver_resources(driver_heap) if workers else {"memory": memory, "cores": cores},
        "ports": [{"name": "ui", "number": 4040, "protocol": "http", "proxied": True}],
        "progress": {"spark": "ui"},
    }
    draft = _draft(line, [driver], carried, wishes.name)
    if not workers:
        return draft
    parameters: dict[str, Any] = {"core_workers": 1, "elastic_workers": workers - 1, "worker_memory": memory}
    parameters |= {} if wishes.cores is None else {"worker_cores": wishes.cores}
    parameters |= {} if image == _image("spark") else {"image": image}
    frameworks = [{"framework": "spark", "parameters": parameters}]
    return replace(draft, document={**draft.document, "frameworks": frameworks})


def _embedded_files(wishes: CommandOptions) -> CarriedFiles:
    carried = CarriedFiles(INDEX if wishes.array else None)
    for path in wishes.files:
        carried.add(path)
    return carried


def _executor_bytes(worker_memory: str) -> int:
    """Return the memory that the framework leaves to the executor of a worker, in bytes."""
    try:
        memory_bytes = bytes_of(worker_memory)
    except ValueError as error:
        raise ValueError(f"memory {worker_memory}: {error}") from None
    if memory_bytes < SPARK_MEMORY_MIN:
        raise ValueError(f"memory {worker_memory}: a worker needs at least 1GiB")
    return executor_bytes(memory_bytes)


def _driver_resources(heap: int) -> dict[str, Any]:
    """A driver mostly waits for its workers."""
    return {"memory": size_text(heap + _DRIVER_OVERHEAD), "cores": 0.5, "limits": {"cores": 2}}


def _draft(line: Sequence[str], components: list[dict[str, Any]], carried: CarriedFiles, name: str | None) -> Draft:
    return Draft({"version": 4, "name": _title(line, name), "components": components}, carried)


def _title(line: Sequence[str], name: str | None) -> str:
    """Return the given name, else the base name of the script, else of the program."""
    if name is not None and (title := re.sub(r"[^A-Za-z0-9 ._@+-]+", "-", name)[:128].strip(" ._@+-")):
        return title
    named = next((word for word in line if Path(word).suffix in INTERPRETERS), line[0])
    return title_of(named)


def _image(name: str) -> str:
    return _SHORT_NAMES.get(name, name)
