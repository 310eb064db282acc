"""The module of the SDK that names the calls of both clients for asyncio."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from zoe_client.calls.administration import Administration
from zoe_client.calls.arrays import Arrays
from zoe_client.calls.schedules import Schedules, StoredApplications
from zoe_client.calls.waiting import Waiting
from zoe_client.calls.workflows import Workflows
from zoe_client.http.transport import Transport

_PARTS: tuple[type, ...] = (Administration, Arrays, Schedules, StoredApplications, Workflows)


def awaited_calls() -> str:
    """Return the source of `zoe_client/calls/asynchronous.py`."""
    owners = [entry for entry in reversed(Waiting.__mro__) if issubclass(entry, Transport) and entry is not Transport]
    classes = [
        *(_class(f"Async{part.__name__}(AsyncPart)", f"`{part.__name__}`, awaited.", [part]) for part in _PARTS),
        _class("AsyncCalls(AsyncTransport)", "The calls of `AsyncClient` itself.", owners),
    ]
    imported = [(owner.__module__, owner.__name__) for owner in (*_PARTS, *owners)]
    imported += [("zoe_client.calls.awaited", "AsyncPart, awaited, iterated")]
    imported += [("zoe_client.http.async_transport", "AsyncTransport")]
    modules = {module: ", ".join(name for of, name in imported if of == module) for module, _ in sorted(imported)}
    return (
        '"""The calls of both clients for asyncio. `make docs` writes this file; edit the classes that it names."""\n\n'
        "from __future__ import annotations\n\n"
        + "".join(f"from {module} import {names}\n" for module, names in modules.items())
        + "".join(f"\n\n{text}" for text in classes)
    )


def _class(head: str, text: str, owners: list[type]) -> str:
    lines = [line for owner in owners for line in _calls(owner)]
    return f'class {head}:\n    """{text}"""\n\n' + "".join(f"    {line}\n" for line in lines)


def _calls(owner: type) -> Iterator[str]:
    for name, method in vars(owner).items():
        if inspect.isfunction(method) and not name.startswith("_"):
            word = "iterated" if method.__annotations__["return"].startswith("Iterator[") else "awaited"
            yield f"{name} = {word}({owner.__name__}.{name})"
