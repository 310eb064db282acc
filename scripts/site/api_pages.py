"""Pages with the docstrings of public classes; Sphinx's autodoc fills them in."""

from __future__ import annotations

from zoe_client import errors

SDK = (
    ("Clients", ("zoe_client.client.Client", "zoe_client.asynchronous.AsyncClient")),
    (
        "Parts of a client",
        (
            *("zoe_client.calls.administration.Administration", "zoe_client.calls.arrays.Arrays"),
            *("zoe_client.calls.files.Files", "zoe_client.calls.schedules.Schedules"),
            *("zoe_client.calls.schedules.StoredApplications", "zoe_client.calls.workflows.Workflows"),
        ),
    ),
    ("Handles and maps", ("zoe_client.running.handles.ExecutionHandle", "zoe_client.running.mapping.MapRun")),
    ("Options", ("zoe_client.running.options.SubmitOptions", "zoe_client.running.options.MapOptions")),
)
_SDK_HEAD = """# Python SDK reference

The classes of `zoe_client`, from their docstrings. [The Python SDK](../use/sdk.md) explains them with examples.
"""
PROTOCOLS = (
    ("Back-end", ("zoe_master.backends.base.Backend", "zoe_master.backends.base.TotalUsageBackend")),
    ("Placement", ("zoe_master.scheduler.placement.request.Request", "zoe_lib.domain.cluster.cluster.Node")),
    ("Storage controller", ("storage_bridge.base.StorageController",)),
    ("Execution store", ("zoe_lib.store.base.ExecutionStore", "zoe_lib.store.base.Subscription")),
    ("Filters of objects", ("storage_filters.transforms.stream_filters.StreamFilter",)),
    ("Clock", ("zoe_lib.clock.Clock",)),
)
_PROTOCOLS_HEAD = """# Interfaces of plug-ins

The Protocols that back-ends, stores and controllers implement, and the values that filters and weighers get.
[Extending Zoe](../build/extending.md) has recipes; `tests/contract` tests each implementation.
"""


def pages() -> dict[str, str]:
    """Return the texts of the pages by their paths below docs/."""
    return {
        "reference/sdk.md": _SDK_HEAD + _sections((*SDK, ("Errors", _errors()))),
        "reference/protocols.md": _PROTOCOLS_HEAD + _sections(PROTOCOLS),
    }


def _errors() -> tuple[str, ...]:
    """Return the names of the classes of errors, in the order of their module."""
    classes = [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, Exception)]
    return tuple(f"{each.__module__}.{each.__name__}" for each in classes)


def _sections(groups: tuple[tuple[str, tuple[str, ...]], ...]) -> str:
    return "".join(f"\n## {title}\n" + "".join(map(_section, names)) for title, names in groups)


def _section(name: str) -> str:
    options = "".join(f"   :{option}:\n" for option in ("members", "inherited-members: object, dict, Generic"))
    return f"\n### {name.rsplit('.', 1)[-1]}\n\n```{{eval-rst}}\n.. autoclass:: {name}\n{options}```\n"
