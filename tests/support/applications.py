"""Small applications and executions for tests."""

from __future__ import annotations

from zoe_lib.domain.applications.application import Application, Component, Port, Probe, ProbeKind
from zoe_lib.domain.executions.execution import Execution
from zoe_lib.domain.values.resources import Resources

GIB = 2**30


def component(name: str = "worker", essential: int = 1, total: int | None = None, **changes: object) -> Component:
    """A component of one core and one GiB per instance."""
    values: dict[str, object] = {
        "name": name,
        "image": "zoe/test",
        "reservation": Resources(1000, GIB),
        "command": ("run", "{host:self}"),
        "environment": (("KEY", "value"),),
        "essential_count": essential,
        "total_count": essential if total is None else total,
        "ports": (Port("rpc", 7077),),
        "readiness": Probe(ProbeKind.TCP, "rpc"),
    }
    return Component(**{**values, **changes})  # type: ignore[arg-type]


def application(*components: Component, name: str = "sums", **changes: object) -> Application:
    """An application of these components; of a master, one core and two elastic workers when none are given."""
    chosen = components or (component("master", ends_application=True), component("worker", 1, 3, startup_order=1))
    return Application(name=name, components=chosen, **changes)  # type: ignore[arg-type]


def execution(number: int = 1, **changes: object) -> Execution:
    """A fresh execution, submitted `number` seconds after the beginning of time."""
    values: dict[str, object] = {
        "id": f"execution-{number:04}",
        "name": f"sums {number}",
        "tenant": "iostack",
        "user": "ada",
        "application": application(),
        "submitted_at_s": float(number),
    }
    return Execution(**{**values, **changes})  # type: ignore[arg-type]
