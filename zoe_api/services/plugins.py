"""Plugins that policies can name: installed here, and usable by the master."""

from __future__ import annotations

from dataclasses import replace

from zoe_lib.domain.cluster.policy import Policy, problems
from zoe_lib.messaging.client import MasterClient, MasterRefused, MasterUnreachable
from zoe_lib.plugins import Plugin, PluginKind, installed_plugins

_NOT_THERE = "it is not installed for the master, or was not when the master started"


def plugins_of(master: MasterClient) -> list[Plugin]:
    """Return the installed plugins, with the master's problems while it answers."""
    try:
        answer = master.ask("plugins")["found"]
    except (MasterUnreachable, MasterRefused):
        return list(installed_plugins())
    problems_there = {(entry["kind"], entry["name"]): entry["problem"] for entry in answer}
    return [
        p if p.is_own or p.problem else replace(p, problem=problems_there.get((p.kind, p.name), _NOT_THERE))
        for p in installed_plugins()
    ]


def policy_problems(policy: Policy, master: MasterClient) -> list[str]:
    """Return all errors of a policy, in words; the master is asked only for plugins of other distributions."""
    found = problems(policy)
    if not found:
        return found
    usable = [plugin for plugin in plugins_of(master) if not plugin.problem]
    names = {kind: {plugin.name for plugin in usable if plugin.kind is kind} for kind in PluginKind}
    return problems(policy, names[PluginKind.FILTER], names[PluginKind.WEIGHER])
