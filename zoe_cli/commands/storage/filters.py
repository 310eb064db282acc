"""storage filter: uploaded modules that filter the objects of a tenant."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Annotated

import typer

from zoe_cli.context import options
from zoe_cli.output import emit, note
from zoe_cli.registry import add
from zoe_cli.rows import Rows
from zoe_cli.units import clock
from zoe_client.wire import StorageFilterRequest, StorageFilterVersionView, StorageFilterView

app = typer.Typer(help="Filters of objects that you upload, as WebAssembly modules.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the filter.")]
Tenant = Annotated[str | None, typer.Option(help="Tenant of the filter, for admins (default: yours).")]
Shared = Annotated[bool, typer.Option("--shared", help="A filter for all tenants, for admins.")]


def add_filter(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The module (.wasm).")],
    name: Annotated[str | None, typer.Option(help="Its name in rules (default: the name of the file).")] = None,
    tenant: Tenant = None,
    shared: Shared = False,
) -> None:
    """Upload a filter, or a new version of yours. Rules keep their version until an admin moves them."""
    try:
        module = base64.b64encode(file.read_bytes()).decode()
    except OSError as error:
        raise typer.BadParameter(f"cannot read {file}: {error.strerror}") from None
    wanted = StorageFilterRequest(module=module, tenant=tenant, shared=shared)
    with options(context).client() as client:
        answer = client.upload_storage_filter(file.stem if name is None else name, wanted)
    emit(answer, options(context).output, _rows([answer]))
    if answer.rules:
        numbers = ", ".join(map(str, answer.rules))
        note(f"note: rules that use it: {numbers}. Those with an older version keep it: zoe storage policy move")


def list_filters(
    context: typer.Context,
    everyone: Annotated[bool, typer.Option("--everyone", help="List the filters of all tenants, for admins.")] = False,
    versions: Annotated[
        bool, typer.Option("--versions", help="List all stored versions, and why they are kept.")
    ] = False,
) -> None:
    """List the filters that rules for your tenant may use."""
    with options(context).client() as client:
        answer = client.storage_filters(everyone)
    emit(answer, options(context).output, _versions(answer.versions) if versions else _rows(answer.filters))


def remove_filter(
    context: typer.Context,
    name: Name,
    tenant: Tenant = None,
    shared: Shared = False,
    version: Annotated[
        str | None,
        typer.Option(metavar="SHA256", help="Only this version, which is kept for stored objects; for admins."),
    ] = None,
) -> None:
    """Remove a filter of yours that no rule uses. Objects stored through it remain readable."""
    with options(context).client() as client:
        if version is None:
            client.remove_storage_filter(name, tenant, shared)
        else:
            client.remove_storage_filter_version(name, version, tenant)
    emit({"removed": name}, options(context).output, Rows(("removed",), [(name,)]))


def _rows(filters: list[StorageFilterView]) -> Rows:
    rows = [
        (
            filter_.name,
            filter_.tenant or "all",
            filter_.runs,
            str(filter_.bytes),
            filter_.sha256[:12],
            filter_.author or "",
            clock(filter_.created_s),
            ", ".join(map(str, filter_.rules)),
        )
        for filter_ in filters
    ]
    return Rows(("name", "tenant", "runs", "bytes", "sha256", "by", "at", "rules"), rows)


def _versions(versions: list[StorageFilterVersionView]) -> Rows:
    rows = [
        (
            version.name,
            version.tenant or "all",
            version.sha256[:12],
            version.author or "",
            clock(version.created_s),
            _kept_for(version),
        )
        for version in versions
    ]
    return Rows(("name", "tenant", "sha256", "by", "at", "kept for"), rows)


def _kept_for(one: StorageFilterVersionView) -> str:
    rules = [f"rule {rule}" for rule in one.rules]
    return ", ".join([*["newest"] * one.newest, *rules, *["objects"] * one.objects])


add(app, "add", add_filter, ("zoe storage filter add mask.wasm", "zoe storage filter add mask.wasm --name hide"))
add(app, "ls", list_filters, ("zoe storage filter ls", "zoe storage filter ls --versions"))
add(app, "rm", remove_filter, ("zoe storage filter rm mask", "zoe storage filter rm mask --version 3f1c09ab77de"))
