"""Settings that the user gives to `make serve` and the demos: a file, and variables."""

from __future__ import annotations

import argparse
import os
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError
from pydantic_settings import EnvSettingsSource, SettingsError

from zoe_client.words.plain_errors import sentences
from zoe_lib.settings.config import Settings
from zoe_lib.settings.file_settings import with_present_names, with_present_variables

CHOSEN = frozenset(
    {
        "database_url",
        "keys_dir",
        "api_host",
        "master_endpoint",
        "local_state_dir",
        "local_scratch_dir",
        "local_workspaces_dir",
        "local_volumes_dir",
        "local_block_volumes_dir",
        "local_environments_dir",
    }
)
"""Settings of the stack itself: everything is below ZOE_HOME and on loopback."""
_BYTES_MAX = 1 << 20


class GivenSettingsError(Exception):
    """A setting is invalid; the message names it, with the reason."""


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add `--settings FILE`."""
    parser.add_argument("--settings", type=Path, metavar="FILE", help="settings as in zoe.toml")


def given_settings(
    file: Path | None, environment: Mapping[str, str] = os.environ, backends: Sequence[str] = ("local",)
) -> dict[str, object]:
    """Return the settings of the file and of variables ZOE_...; variables win. Raises GivenSettingsError.

    Variables of CHOSEN, and other back-ends than `backends`, belong to another installation of the user, and are
    ignored; in the file they are an error.
    """
    given = _of_file(file) if file is not None else {}
    if wrong := sorted(CHOSEN & given.keys()):
        raise GivenSettingsError(f"{file}: {wrong[0]} cannot be set here, because all of it lies below ZOE_HOME")
    if (backend := given.get("backend", backends[0])) not in backends:
        raise GivenSettingsError(f"{file}: backend {backend} cannot be used here, only {' or '.join(backends)}")
    of_variables = _of_variables(environment)
    if of_variables.get("backend") not in backends:
        of_variables.pop("backend", None)
    given.update({name: value for name, value in of_variables.items() if name not in CHOSEN})
    try:
        missing = Settings.model_validate(given).missing_wheelhouse()
    except ValidationError as error:
        raise GivenSettingsError("\n".join(sentences(error, _place))) from None
    if missing is not None:
        raise GivenSettingsError(missing)
    return given


def _of_file(file: Path) -> dict[str, object]:
    try:
        if not file.is_file():
            raise GivenSettingsError(f"{file} is not a file")
        if file.stat().st_size > _BYTES_MAX:
            raise GivenSettingsError(f"{file} is larger than {_BYTES_MAX} bytes")
        given = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise GivenSettingsError(f"{file} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise GivenSettingsError(f"{file} is not valid TOML: {error}") from None
    try:
        return with_present_names(Settings, given)
    except ValueError as error:
        raise GivenSettingsError(f"{file}: {error}") from None


def _of_variables(environment: Mapping[str, str]) -> dict[str, object]:
    known = {f"ZOE_{name}".upper() for name in (*Settings.model_fields, *Settings.former_names)}
    source = EnvSettingsSource(Settings)
    found = {name.lower(): value for name, value in environment.items() if name.split("__")[0].upper() in known}
    source.env_vars = with_present_variables(Settings, found)
    try:
        return dict(source())
    except SettingsError as error:
        raise GivenSettingsError(f"a variable is not valid JSON: {error}") from None


def _place(place: object) -> str:
    parts = place if isinstance(place, (list, tuple)) else (place,)
    return f"setting {'.'.join(map(str, parts))} (ZOE_{str(parts[0]).upper()})" if parts else "settings"
