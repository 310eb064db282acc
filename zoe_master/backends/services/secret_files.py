"""The files that contain a service's secrets, the same on every back-end."""

from __future__ import annotations

from collections.abc import Mapping

from zoe_lib.domain.applications.application import ComponentSecret
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.services.failures import CannotStartError

API_TOKEN_FILE = ".zoe-api-token"  # noqa: S105 - a name
"""No secret of a user has this name: a variable's file begins with a dot, then continues like the variable."""


def secret_files(start: ServiceStart) -> dict[str, str]:
    """Return the content of each file by its name; CannotStartError names an unavailable secret."""
    if start.secrets.refusal:
        raise CannotStartError(f"component {start.component.name}: {start.secrets.refusal}")
    given = {file_of(use): start.secrets.values[use.name] for use in start.component.secrets}
    return given if start.api is None else {**given, API_TOKEN_FILE: start.api.token}


def api_variables(start: ServiceStart, directory: str) -> dict[str, str]:
    """Return the variables with the API's URL and the path of the token's file; none for most services."""
    if start.api is None:
        return {}
    return {"ZOE_API_URL": start.api.url, "ZOE_API_TOKEN_FILE": f"{directory}/{API_TOKEN_FILE}"}


def source_secrets(start: ServiceStart) -> dict[str, str]:
    """Return the content of the credential file of each source, by the source's number. OpenSSH requires a final
    newline.
    """
    return {
        str(number): start.secrets.values[source.secret].rstrip("\n") + "\n"
        for number, source in enumerate(start.component.sources)
        if source.secret
    }


def file_of(use: ComponentSecret) -> str:
    """Return the name of the file. The file of a variable begins with a dot; no other does."""
    return use.file or f".{use.variable}"


def variable_files(start: ServiceStart, directory: str) -> Mapping[str, str]:
    """Return the file for each variable that contains a secret."""
    return {use.variable: f"{directory}/{file_of(use)}" for use in start.component.secrets if use.variable}
