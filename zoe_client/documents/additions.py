"""Add variables, secrets and results to a description: options of `zoe run` and of `Client.run`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

SECRETS_VARIABLE = "ZOE_SECRETS"
"""Variable with the directory of the secrets that are files."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

Secrets = Mapping[str, str | None] | Sequence[str]
"""Names of stored secrets: `NAME` for a file, `NAME=VARIABLE` for a variable; or a mapping of name to variable."""


def with_additions(
    document: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
    secrets: Secrets = (),
    results: Sequence[str] = (),
    *,
    template: str | None = None,
    everywhere: bool = False,
) -> dict[str, Any]:
    """Return the description with these variables and secrets of its main component, and these results.

    The main component is the only one, or the only one that ends the application; `everywhere`: all components.
    Values are literal, but for `template`. `results`: files, patterns or folders in the workspace. ValueError.
    """
    changed = dict(document)
    wanted = _secret_entries(secrets)
    if environment or wanted:
        variables = {
            _variable(name): literal(_text(name, value), template) for name, value in (environment or {}).items()
        }
        if any("variable" not in entry for entry in wanted):
            variables = {SECRETS_VARIABLE: "{secrets}", **variables}
        components = list(document.get("components") or ())
        for place in range(len(components)) if everywhere else (_main_place(components),):
            components[place] = _with_both(components[place], variables, wanted)
        changed["components"] = components
    if results:
        paths = [*(document.get("results") or ()), *map(_result_path, results)]
        changed["results"] = list(dict.fromkeys(paths))
    return changed


def literal(word: str, template: str | None = None) -> str:
    """Return a word with all braces escaped, except those of this template."""
    parts = [word] if template is None else word.split(template)
    return (template or "").join(part.replace("{", "{{").replace("}", "}}") for part in parts)


def _secret_entries(secrets: Secrets) -> list[dict[str, str]]:
    if isinstance(secrets, str):
        raise ValueError(f"secrets are a list of names, such as [{secrets!r}]")
    pairs = list(secrets.items() if isinstance(secrets, Mapping) else map(_name_and_variable, secrets))
    for name, variable in pairs:
        if not name:
            raise ValueError("a secret has no name")
        if variable is not None:
            _variable(variable)
    return [{"name": name} if variable is None else {"name": name, "variable": variable} for name, variable in pairs]


def _name_and_variable(text: str) -> tuple[str, str | None]:
    name, equals, variable = text.partition("=")
    return name, variable if equals else None


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"variable {name} is {value!r}, and must be a string: {str(value)!r}")
    return value


def _variable(name: str) -> str:
    if not _VARIABLE.fullmatch(name):
        raise ValueError(f"{name!r} is not a name of a variable: use letters, digits and _")
    return name


def _main_place(components: Sequence[Any]) -> int:
    ending = [place for place, component in enumerate(components) if _ends(component)]
    if len(components) == 1 or len(ending) == 1:
        return ending[0] if ending else 0
    raise ValueError(
        "variables and secrets go to the component that ends the application, and this description has none, or "
        "several: write them into its components"
    )


def _ends(component: Any) -> bool:
    return isinstance(component, Mapping) and component.get("ends_application") is True


def _with_both(component: Any, variables: Mapping[str, str], secrets: Sequence[dict[str, str]]) -> Any:
    """Return a component with further variables, which win, and secrets."""
    if not isinstance(component, Mapping):
        return component  # the server says what is wrong with it
    changed = dict(component)
    if variables:
        changed["environment"] = {**(component.get("environment") or {}), **variables}
    if secrets:
        present = list(component.get("secrets") or ())
        changed["secrets"] = [*present, *(entry for entry in secrets if entry not in present)]
    return changed


def _result_path(path: str) -> str:
    """Return a path below the workspace as descriptions write it: `:out/` and `./out` are `out`."""
    plain = path.removeprefix(":").rstrip("/")
    while plain.startswith("./"):
        plain = plain[2:].lstrip("/")
    if not plain:
        raise ValueError(f"{path!r} names the whole workspace: name a file or a folder in it")
    return plain
