"""Plugins: filters, weighers and back-ends of other distributions, by their metadata.

Nothing is imported here, so that the API knows the names without the code of the master.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from functools import cache
from importlib.metadata import EntryPoint, entry_points, version

from zoe_lib.domain.cluster.policy import FILTERS, WEIGHERS
from zoe_lib.domain.values.frozen import value

OWN_DISTRIBUTION = "zoe-analytics"
BACKENDS = frozenset({"docker", "local", "podman", "swarm"})


class PluginKind(StrEnum):
    """Kinds of plugins."""

    FILTER = "filter"
    WEIGHER = "weigher"
    BACKEND = "backend"

    @property
    def group(self) -> str:
        """Return the group of entry points."""
        return f"zoe.{self}s"


_OWN = {PluginKind.FILTER: FILTERS, PluginKind.WEIGHER: WEIGHERS, PluginKind.BACKEND: BACKENDS}


@value(frozen=True, slots=True)
class Plugin:
    """A filter, weigher or back-end, and its distribution.

    `problem` says why it cannot be used. `entry` leads to its code; None for Zoe's own.
    """

    kind: PluginKind
    name: str
    distribution: str
    version: str
    problem: str = ""
    entry: EntryPoint | None = None

    @property
    def is_own(self) -> bool:
        """Return whether it is Zoe's own."""
        return self.entry is None

    @property
    def origin(self) -> str:
        """Return the distribution with its version."""
        return f"{self.distribution} {self.version}".strip()


@cache
def installed_plugins() -> tuple[Plugin, ...]:
    """Return all installed plugins, Zoe's own first; read once in a process."""
    zoe = version(OWN_DISTRIBUTION)
    own = [Plugin(kind, name, OWN_DISTRIBUTION, zoe) for kind, names in _OWN.items() for name in sorted(names)]
    return (*own, *(plugin for kind in PluginKind for plugin in _foreign_plugins(kind)))


def usable_names(kind: PluginKind) -> frozenset[str]:
    """Return the names of a kind with exactly one plugin."""
    return frozenset(plugin.name for plugin in installed_plugins() if plugin.kind is kind and not plugin.problem)


def _foreign_plugins(kind: PluginKind) -> list[Plugin]:
    entries = sorted(entry_points(group=kind.group), key=lambda entry: (entry.name, _distribution(entry)))
    counts = Counter(entry.name for entry in entries)
    found: list[Plugin] = []
    for entry in entries:
        problem = ""
        if entry.name in _OWN[kind]:
            problem = f"Zoe has a {kind} of this name; Zoe's own is used"
        elif counts[entry.name] > 1:
            others = ", ".join(_distribution(other) for other in entries if other.name == entry.name)
            problem = f"several distributions have a {kind} of this name: {others}; uninstall all but one"
        found.append(
            Plugin(kind, entry.name, _distribution(entry), entry.dist.version if entry.dist else "", problem, entry)
        )
    return found


def _distribution(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else ""
