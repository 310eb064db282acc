"""Rules for address templates: each must be known, and refer to an existing component and port."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from zoe_client.documents.diagnostics import Code, Diagnostic, did_you_mean, pointer
from zoe_client.documents.reading import mapping, objects, text
from zoe_lib.domain.applications.templates import (
    OF_ALL_INSTANCES,
    OF_STORAGE,
    Template,
    TemplateError,
    TemplateKind,
    references,
)

_SYNTAX_HINT = (
    "known templates: {host:self}, {host:COMPONENT}, {hosts:COMPONENT}, {port:NAME}, "
    "{addresses:COMPONENT.PORT}, {port:COMPONENT.NAME}, {scratch}, {files}, {workspace}, {shared}, {index}, "
    "{instance}, {execution}, {attempt}, {user}, {secrets}, {secret_file}, {input:NAME}, {columns:NAME}, "
    "{output:NAME}, and {scheduled} and {previous} in what a schedule runs; write '{{' and '}}' for literal braces"
)


@dataclass(frozen=True, slots=True)
class _Peer:
    """The parts of a component that templates may use."""

    ports: tuple[str, ...]
    has_core: bool
    has_secret: bool
    has_files: bool
    has_secrets: bool


@dataclass(frozen=True, slots=True)
class _Around:
    """The targets of templates: components, and the inputs and outputs of the storage section."""

    peers: Mapping[str, _Peer]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    each: str | None


def check_templates(
    components: list[tuple[int, dict[str, Any]]], storage: object, each: str | None = None
) -> Iterator[Diagnostic]:
    """Yield the findings of all templates in commands, environments and work directories. `each`: the name of an
    entry.
    """
    peers = {name: _peer(c) for _, c in components if (name := text(c, "name"))}
    around = _Around(peers, _names(storage, "inputs"), _names(storage, "outputs"), each)
    for index, component in components:
        own = _peer(component)
        for path, value in _texts(component):
            place = pointer("components", index, *path)
            yield from _check_text(place, value, own, around)


def _names(storage: object, key: str) -> tuple[str, ...]:
    found = objects(storage, key) if isinstance(storage, dict) else ()
    return tuple(name for _, entry in found if (name := text(entry, "name")))


def _peer(component: dict[str, Any]) -> _Peer:
    ports = tuple(name for _, port in objects(component, "ports") if (name := text(port, "name")))
    has_secret = any(isinstance(port.get("sign_in"), dict) for _, port in objects(component, "ports"))
    return _Peer(
        ports,
        component.get("essential_count", 1) != 0,
        has_secret,
        has_files=bool(mapping(component, "files")),
        has_secrets=bool(objects(component, "secrets")),
    )


def _texts(component: dict[str, Any]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    command = component.get("command")
    for index, argument in enumerate(command if isinstance(command, list) else []):
        if isinstance(argument, str):
            yield ("command", index), argument
    for name, value in mapping(component, "environment").items():
        if isinstance(value, str):
            yield ("environment", name), value
    if (work_dir := text(component, "work_dir")) is not None:
        yield ("work_dir",), work_dir


def _check_text(place: str, value: str, own: _Peer, around: _Around) -> Iterator[Diagnostic]:
    try:
        found = dict.fromkeys(references(value))
    except TemplateError as error:
        message = f"{str(error)[:120]} at character {error.offset + 1}"
        yield Diagnostic(place, Code.BAD_TEMPLATE, message, _SYNTAX_HINT)
        return
    for template in found:
        if template.kind in OF_STORAGE:
            yield from _check_data(place, template, around)
        elif template.kind is TemplateKind.EACH:
            if template.data != around.each:
                message = f"{template} has no value here: only a step of a workflow with `for_each` has entries"
                yield Diagnostic(place, Code.BAD_TEMPLATE, message)
        else:
            yield from _check_template(place, template, own, around.peers)


def _check_data(place: str, template: Template, around: _Around) -> Iterator[Diagnostic]:
    what, names = ("output", around.outputs) if template.kind is TemplateKind.OUTPUT else ("input", around.inputs)
    if template.data not in names:
        message = f"{template} refers to an {what} that the storage section does not have"
        yield Diagnostic(place, Code.UNKNOWN_REFERENCE, message, did_you_mean(template.data or "", names))


def _check_template(place: str, template: Template, own: _Peer, peers: Mapping[str, _Peer]) -> Iterator[Diagnostic]:
    peer = own if template.component is None else peers.get(template.component)
    if peer is None:
        message = f"{template} refers to a component that does not exist"
        yield Diagnostic(place, Code.UNKNOWN_REFERENCE, message, did_you_mean(template.component or "", list(peers)))
        return
    if template.port is not None and template.port not in peer.ports:
        message = f"{template} refers to a port that does not exist"
        yield Diagnostic(place, Code.UNKNOWN_REFERENCE, message, did_you_mean(template.port, peer.ports))
    if template.component is not None and not peer.has_core and template.kind not in OF_ALL_INSTANCES:
        message = f"{template} refers to a component without an essential instance, which may have no address"
        yield Diagnostic(place, Code.CONFLICT, message, "set its essential_count to 1")
    if template.kind is TemplateKind.SECRET_FILE and not own.has_secret:
        message = "no port of this component has `sign_in`, so it gets no secret"
        yield Diagnostic(place, Code.CONFLICT, message, "add `sign_in` to the port at which the proxy signs in")
    if template.kind is TemplateKind.FILES and not own.has_files:
        yield Diagnostic(place, Code.CONFLICT, "this component has no `files`", "add `files`")
    if template.kind is TemplateKind.SECRETS and not own.has_secrets:
        message = "this component requests no secrets, so it has no such directory"
        yield Diagnostic(place, Code.CONFLICT, message, "name them in `secrets`")
