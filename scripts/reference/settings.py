"""Generate docs/reference/settings.md from `zoe_lib.settings.config`."""

from __future__ import annotations

import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from scripts.reference.tables import page, table
from zoe_lib.settings.backend import ImageSettings, NodeSettings
from zoe_lib.settings.config import Settings
from zoe_lib.settings.sign_in_settings import LdapSettings, OidcSettings, RoleRule
from zoe_lib.settings.storage import StorageServiceSettings

HEAD = ("setting", "type", "default", "meaning")
INTRODUCTION = """\
Every process reads the same settings. Each is an environment variable, `ZOE_` and the name in capitals, or a key of the
TOML file that `ZOE_CONFIG` names; the environment wins over the file. Lists and tables in variables are JSON
(`ZOE_LOCAL_NODES='[{"name": "a", "cores": 4, "memory_bytes": 8589934592}]'`). An unknown key in the file is an error.
"""
ORDINARY_TYPES: dict[object, str] = {
    str: "text",
    int: "integer",
    float: "number",
    bool: "true or false",
    Path: "path",
    SecretStr: "text (secret)",
    type(None): "none",
    NodeSettings: "node",
    ImageSettings: "image",
    StorageServiceSettings: "service",
    OidcSettings: "provider",
    LdapSettings: "directory",
    RoleRule: "rule",
}


def settings_page() -> str:
    """Return the page."""
    return page(
        "Settings",
        "`zoe_lib/settings/`",
        INTRODUCTION,
        "## Basic settings\n",
        "What most installations set.\n",
        table(HEAD, _rows_of(Settings, Settings.basic)),
        "## Advanced settings\n",
        "Their defaults are right for most installations.\n",
        table(HEAD, _rows_of(Settings, [name for name in Settings.model_fields if name not in Settings.basic])),
        "## A node of `local_nodes`\n",
        table(HEAD, _rows(NodeSettings)),
        "## An image of `local_images`\n",
        table(HEAD, _rows(ImageSettings)),
        "## A service of `storage_services`\n",
        table(HEAD, _rows(StorageServiceSettings)),
        "## A provider of `oidc`\n",
        table(HEAD, _rows(OidcSettings)),
        "## A directory of `ldap`\n",
        table(HEAD, _rows(LdapSettings)),
        "## A rule of `sign_in_roles`\n",
        table(HEAD, _rows(RoleRule)),
    )


def _rows(model: type[BaseModel]) -> Iterator[tuple[str, str, str, str]]:
    return _rows_of(model, model.model_fields)


def _rows_of(model: type[BaseModel], names: Iterable[str]) -> Iterator[tuple[str, str, str, str]]:
    for name in names:
        field = model.model_fields[name]
        yield f"`{name}`", _type_text(field.annotation) + _bounds(field), _default(field), field.description or ""


def _type_text(annotation: Any) -> str:
    if annotation in ORDINARY_TYPES:
        return ORDINARY_TYPES[annotation]
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in arguments)
    if origin in (Union, types.UnionType):
        return " or ".join(map(_type_text, arguments))
    if origin is list:
        return f"list of {_type_text(arguments[0])}"
    if origin is dict:
        return f"table of {_type_text(arguments[1])}"
    raise TypeError(f"no words for the type {annotation}")


def _bounds(field: FieldInfo) -> str:
    signs = ((Gt, ">", "gt"), (Ge, "at least", "ge"), (Lt, "<", "lt"), (Le, "at most", "le"))
    found = [
        f"{sign} {getattr(entry, attribute):g}"
        for entry in field.metadata
        for kind, sign, attribute in signs
        if isinstance(entry, kind)
    ]
    return f", {' and '.join(found)}" if found else ""


def _default(field: FieldInfo) -> str:
    if field.is_required():
        return "required"
    if field.default_factory is not None:
        return "computed"
    value = field.default
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or value in ([], {}):
        return "none"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return f"`{value}`"
