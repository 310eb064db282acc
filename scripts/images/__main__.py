"""Build the images of app_descriptions/images with the `docker` command, and print their sizes.

Arguments: names of images; without any, all are built, in order. If no registry can be reached, root bootstraps
Debian's base with debootstrap. Up-to-date images are skipped. ZOE_DEBIAN_MIRROR may name a dated mirror.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

from scripts.images.build import build, up_to_date
from scripts.images.engine import BuildError, Engine, say
from scripts.images.recipes import RECIPES, with_bases

MIB = 2**20


def main(names: Sequence[str]) -> int:
    """Build the named images and their bases; return 2 for an unknown name, 1 if an image cannot be built."""
    unknown = [name for name in names if name not in RECIPES]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join(RECIPES)}", file=sys.stderr)
        return 2
    engine, chosen = Engine(), with_bases(names or list(RECIPES))
    try:
        engine.require()
        for position, name in enumerate(chosen, 1):
            _build_one(engine, name, f"{position}/{len(chosen)}")
    except BuildError as error:
        print(error, file=sys.stderr)
        return 1
    _report(engine, chosen)
    return 0


def _build_one(engine: Engine, name: str, position: str) -> None:
    if up_to_date(engine, name):
        say(f"{position} zoe/{name}: up to date")
        return
    say(f"{position} zoe/{name}: building")
    began_s = time.monotonic()
    build(engine, name)
    say(f"{position} zoe/{name}: {time.monotonic() - began_s:.0f} s")


def _report(engine: Engine, names: Sequence[str]) -> None:
    """Print the size of each image, and the size that it adds to its base."""
    print(f"{'image':<20}{'MiB':>6}{'own':>6}")
    for name in names:
        size, base = engine.size_bytes(f"zoe/{name}"), RECIPES[name].base
        own = size - (engine.size_bytes(f"zoe/{base}") if base else 0)
        print(f"zoe/{name:<16}{size / MIB:6.0f}{own / MIB:6.0f}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
