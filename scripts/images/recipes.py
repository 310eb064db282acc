"""The inputs of each image, besides its folder below app_descriptions/images."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scripts.images.debian import Sources
from scripts.images.gathering import (
    Authorities,
    Busybox,
    Files,
    ImageInput,
    PythonPackages,
    QueryPushdown,
    SparkPackages,
    StocatorJars,
    Zoe,
    ZoeClient,
)


@dataclass(frozen=True, slots=True)
class Recipe:
    """`base` is Zoe's image below it; without one it is built on `from_debian`, or on nothing."""

    base: str | None = None
    from_debian: bool = False
    gathered: tuple[ImageInput, ...] = ()
    other_names: tuple[str, ...] = ()


_JAVA_OF_SPARK = ("spark/make-java", "spark/zoe-java", "spark/load_classes.py")
# In the order in which they are built.
RECIPES: dict[str, Recipe] = {
    "tiny": Recipe(gathered=(Busybox(),)),
    "base": Recipe(from_debian=True, gathered=(Authorities(), Sources()), other_names=("python",)),
    "spark": Recipe("base", gathered=(SparkPackages(), StocatorJars(), QueryPushdown(), Files(*_JAVA_OF_SPARK))),
    "jupyter": Recipe("spark", gathered=(PythonPackages("jupyter.lock"),)),
    "jupyter-spark": Recipe("jupyter", gathered=(ZoeClient(),)),
    "notebook": Recipe("base", gathered=(PythonPackages("notebook.lock"), ZoeClient())),
    "mpi": Recipe("base", gathered=(Files("programs/mpi_pi.c", "programs/mpi_ring.c"),)),
    "torch": Recipe("base", gathered=(Files("programs/torch_fit.py"),)),
    "r": Recipe("base"),
    "jupyter-r": Recipe("r", gathered=(PythonPackages("jupyter-lab.lock"),)),
    "gateway": Recipe("base"),
    "server": Recipe("base", gathered=(PythonPackages("server.lock"),)),
    "zoe": Recipe("server", gathered=(Zoe(),)),
}


def with_bases(names: Iterable[str]) -> list[str]:
    """Return these images and their bases, in the order in which they are built."""
    wanted = set(names)
    for name in reversed(RECIPES):
        base = RECIPES[name].base
        if name in wanted and base is not None:
            wanted.add(base)
    return [name for name in RECIPES if name in wanted]
