"""Read the settings of a process: arguments first, then the environment, then the TOML file that a variable names."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    PydanticBaseSettingsSource,
    SettingsError,
    TomlConfigSettingsSource,
)

from zoe_client.words.plain_errors import sentences

V = TypeVar("V")
_FIELD = re.compile(r'field "([^"]+)"')
_WRONG = 2
_ALMOST = 0.9
"""Similarity of two names with one wrong letter in a short name, or two swapped letters."""
_OF_OTHERS = {"ZOE_": ("ZOE_SDS_",)}
"""Prefixes of the variables of other programs, by the settings' prefix."""


class FileSettings(BaseSettings):
    """Base of settings; `file_variable` of a subclass is the environment variable that names the file; without it there
    is none.
    """

    file_variable: ClassVar[str]
    former_names: ClassVar[Mapping[str, str]] = {}
    """Former name of a setting to its name: each source may use either."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the base class gives it
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Return the sources: given values first, then the environment, then the file."""
        file = os.environ.get(cls.file_variable)
        toml = (TomlConfigSettingsSource(settings_cls, _regular_file(Path(file))),) if file else ()
        assert isinstance(env_settings, EnvSettingsSource)
        env_settings.env_vars = with_present_variables(cls, env_settings.env_vars)
        return (_PresentNames(cls, init_settings), env_settings, *(_PresentNames(cls, source) for source in toml))


def with_present_names(kind: type[FileSettings], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of one source by their present names; ValueError if it has both names of one."""
    for former, name in kind.former_names.items():
        if former in given and name in given:
            raise ValueError(f"setting {former} is the former name of {name}: give only {name}")
    return {kind.former_names.get(name, name): value for name, value in given.items()}


def with_present_variables(kind: type[FileSettings], variables: Mapping[str, V]) -> dict[str, V]:
    """Return the environment with variables of former names renamed; a variable of the present name wins."""
    prefix = str(kind.model_config.get("env_prefix", "")).lower()
    names = {f"{prefix}{former}": f"{prefix}{name}" for former, name in kind.former_names.items()}
    renamed = {}
    for variable, value in variables.items():
        first, nested, rest = variable.partition("__")
        if first.lower() in names:
            renamed[f"{names[first.lower()]}{nested}{rest}"] = value
    return {**renamed, **variables}


class _PresentNames(PydanticBaseSettingsSource):
    """A source whose settings may have former names."""

    def __init__(self, kind: type[FileSettings], source: PydanticBaseSettingsSource) -> None:
        super().__init__(kind)
        self._kind = kind
        self._source = source

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """Return a value of the source."""
        return self._source.get_field_value(field, field_name)

    def __call__(self) -> dict[str, Any]:
        """Return all settings of the source."""
        return with_present_names(self._kind, self._source())


def _regular_file(path: Path) -> Path:
    """Return the path of a regular file, or raise OSError: the source treats anything else as an empty file."""
    if stat.S_ISREG(path.stat().st_mode):
        return path
    raise OSError(errno.EINVAL, "it is not a regular file")


S = TypeVar("S", bound=FileSettings)


def read_settings(kind: type[S], program: str, **given: Any) -> S:
    """Return the settings of a program, or end it with 2 and a sentence for each fault.

    It also reports variables that look like misspelt settings: they are ignored.
    """
    for warning in misspelt(kind, os.environ):
        print(f"{program}: {warning}", file=sys.stderr)
    try:
        return kind(**given)
    except ValidationError as error:
        messages = list(sentences(error, lambda place: _how_to_set(kind, place)))
    except SettingsError as error:
        field = _FIELD.search(str(error))
        messages = [f"{_how_to_set(kind, [field.group(1)])}: must be valid JSON" if field else str(error)]
    except UnicodeDecodeError:
        messages = [f"{os.environ.get(kind.file_variable)} is not valid TOML: it is not UTF-8 text"]
    except tomllib.TOMLDecodeError as error:
        messages = [f"{os.environ.get(kind.file_variable)} is not valid TOML: {error}"]
    except OSError as error:
        messages = [f"{os.environ.get(kind.file_variable)} cannot be read: {error.strerror}"]
    except ValueError as error:
        messages = [str(error)]
    for message in messages:
        print(f"{program}: {message}", file=sys.stderr)
    sys.exit(_WRONG)


def misspelt(kind: type[FileSettings], names: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each variable with nearly the name of a setting. Other programs have variables with the same
    prefix, so that an unknown one alone is not a fault.
    """
    prefix = str(kind.model_config.get("env_prefix", "")).upper()
    fields = {*kind.model_fields, *kind.former_names}
    known = {f"{prefix}{field}".upper() for field in fields} | {kind.file_variable}
    for name in names:
        first = name.upper().split("__")[0]
        if not first.startswith(prefix) or first in known or first.startswith(_OF_OTHERS.get(prefix, ())):
            continue
        for meant in get_close_matches(first, known, 1, _ALMOST):
            yield f"variable {name} is ignored; did you mean {meant}?"


def _how_to_set(kind: type[FileSettings], place: Sequence[int | str]) -> str:
    """Return how to set a value: the key of the file and, for its first part, the variable."""
    if not place:
        return "settings"
    variable = f"{kind.model_config.get('env_prefix', '')}{place[0]}".upper()
    return f"setting {'.'.join(map(str, place))} ({variable})"
