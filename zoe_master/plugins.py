"""Plugins of other distributions: loaded once, when the master or the simulator starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

import structlog

from zoe_lib.domain.cluster.policy import Policy
from zoe_lib.domain.values.frozen import value
from zoe_lib.plugins import Plugin, PluginKind, installed_plugins
from zoe_master.backends.factory import BackendFactory
from zoe_master.scheduler.placement.filters import FILTERS
from zoe_master.scheduler.placement.plugin_calls import guarded_filter, guarded_weigher
from zoe_master.scheduler.placement.weighers import WEIGHERS

log = structlog.get_logger(__name__)


_GUARDS: Mapping[PluginKind, Callable[[str, Any], object]] = {
    PluginKind.FILTER: guarded_filter,
    PluginKind.WEIGHER: guarded_weigher,
    PluginKind.BACKEND: lambda _name, function: function,
}


class PluginRefused(Exception):  # noqa: N818 - the name is the fact
    """The policy names a filter or weigher that cannot be used here; the message says which and why."""


@value(frozen=True, slots=True)
class Plugins:
    """All plugins of other distributions, with their problems, and the back-ends by name."""

    found: Sequence[Plugin] = ()
    backends: Mapping[str, BackendFactory] = field(default_factory=dict)

    @property
    def unusable(self) -> Sequence[Plugin]:
        """Return the plugins that cannot be used."""
        return [plugin for plugin in self.found if plugin.problem]

    def check(self, policy: Policy) -> None:
        """Raise PluginRefused if the policy names a filter or weigher that cannot be used."""
        missing = [
            f"the policy names {kind} {name!r}, which cannot be used: {self._problem_of(kind, name)}"
            for kind, name in unknown_names(policy)
        ]
        if missing:
            raise PluginRefused("; ".join(missing))

    def _problem_of(self, kind: PluginKind, name: str) -> str:
        problems = [f"{p.origin}: {p.problem}" for p in self.unusable if (p.kind, p.name) == (kind, name)]
        return "; ".join(problems) or "no installed distribution has it"


def load_plugins() -> Plugins:
    """Load all installed plugins, and register filters and weighers with the scheduler. Failures are logged."""
    registries: Mapping[PluginKind, dict[str, Any]] = {
        PluginKind.FILTER: FILTERS,
        PluginKind.WEIGHER: WEIGHERS,
        PluginKind.BACKEND: {},
    }
    tried: list[Plugin] = []
    for plugin in installed_plugins():
        if plugin.is_own:
            continue
        function, problem = (None, plugin.problem) if plugin.problem else _load_plugin(plugin)
        tried.append(replace(plugin, problem=problem))
        if problem:
            log.warning("a plugin cannot be used", kind=plugin.kind, name=plugin.name, of=plugin.origin, why=problem)
        else:
            registries[plugin.kind][plugin.name] = _GUARDS[plugin.kind](plugin.name, function)
            log.info("a plugin is loaded", kind=plugin.kind, name=plugin.name, of=plugin.origin)
    return Plugins(tuple(tried), registries[PluginKind.BACKEND])


def unknown_names(policy: Policy) -> list[tuple[PluginKind, str]]:
    """Return the filters and weighers of a policy that the scheduler does not have."""
    return [
        *((PluginKind.FILTER, name) for name in policy.filters if name not in FILTERS),
        *((PluginKind.WEIGHER, name) for name in policy.weighers if name not in WEIGHERS),
    ]


def _load_plugin(plugin: Plugin) -> tuple[object, str]:
    """Return the function, or None and the problem."""
    assert plugin.entry is not None
    try:
        function = plugin.entry.load()
    except Exception as error:  # a plugin may raise anything; the master continues without it
        return None, f"{plugin.entry.value} cannot be loaded: {type(error).__name__}: {error}"
    return (function, "") if callable(function) else (None, f"{plugin.entry.value} is not a function")
