"""Components of which some cannot run: single requests, and mixtures of them by seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from zoe_lib.domain.applications.application import Application, Component, Volume
from zoe_lib.domain.values.resources import Resources

MIB = 2**20
TOO_LITTLE: Sequence[dict[str, Any]] = (
    {"reservation": Resources(50, MIB)},
    {"reservation": Resources(50, 6 * MIB - 1)},
    {"reservation": Resources(50, 6 * MIB)},
    {"reservation": Resources(50, MIB), "memory_limit_bytes": 8 * MIB},
    {"reservation": Resources(50, 4 * MIB), "memory_limit_bytes": 8 * MIB},
    {"reservation": Resources(50, 4 * MIB), "memory_limit_bytes": 5 * MIB},
    {"reservation": Resources(1, 32 * MIB), "cores_limit_milli": 1},
    {"reservation": Resources(1, 32 * MIB), "cores_limit_milli": 9},
    {"reservation": Resources(1, 32 * MIB), "cores_limit_milli": 10},
)
"""Minimums of a container engine, and values below them."""
BASE = Component("c", "shell", Resources(50, 32 * MIB), command=("true",), stop_grace_s=1.0)


@dataclass(frozen=True)
class Wishes:
    """Requests of components; the first image is one that runs by a command of the component.

    `amounts`: changes of a component's reservation, and of its limits.
    """

    images: Sequence[str]
    host_paths: Sequence[str]
    targets: Sequence[str]
    amounts: Sequence[dict[str, Any]] = ()

    def components(self, mixtures: int = 12) -> Iterator[Component]:
        """Yield one for each request, then mixtures."""
        yield replace(BASE, image=self.images[0])
        singles = list(self._changes())
        for changes in singles:
            yield _with(replace(BASE, image=self.images[0]), changes)
        chance = random.Random(16)
        for _ in range(mixtures):
            made = replace(BASE, image=chance.choice(self.images))
            for changes in chance.sample(singles, 3):
                made = _with(made, changes)
            yield made

    def _changes(self) -> Iterator[dict[str, Any]]:
        for image in self.images:
            yield {"image": image}
            yield {"image": image, "command": ()}
        for path in self.host_paths:
            yield {"volumes": (Volume("/seen", host_path=path),)}
        for target in self.targets:
            yield {"volumes": (Volume(target, name="data"),)}
        yield from self.amounts
        yield {"read_only_root": True}
        yield {"read_only_root": True, "volumes": (Volume("/tmp", name="data"),)}
        yield {"environment": (("PLACE", "{workspace}"),)}
        yield {"command": ("echo", "{workspace}")}
        yield {"environment": (("PLACE", "{{workspace}}"),)}


def _with(component: Component, changes: dict[str, Any]) -> Component:
    targets = {volume.target for volume in changes.get("volumes", ())}
    kept = tuple(volume for volume in component.volumes if volume.target not in targets)
    if "volumes" in changes:
        changes = {**changes, "volumes": (*kept, *changes["volumes"])}
    return replace(component, **changes)


def application(component: Component) -> Application:
    """The component by itself."""
    return Application("one", (component,))
