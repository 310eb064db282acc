"""Settings of a process: arguments first, then the environment, then the TOML file that a variable names."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsError, TomlConfigSettingsSource

from zoe_client.words.plain_errors import sentences

_FIELD = re.compile(r'field "([^"]+)"')
_WRONG = 2
_ALMOST = 0.9
"""How alike two names are: one letter of a short name is wrong, or two are swapped."""
_OF_OTHERS = {"ZOE_": ("ZOE_SDS_",)}
"""Beginnings of the variables of other programs, by prefix."""


class FileSettings(BaseSettings):
    """Subclasses say in `file_variable` which environment variable names the file; without it there is none."""

    file_variable: ClassVar[str]

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the base class gives it
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Given values first, then the environment, then the file."""
        file = os.environ.get(cls.file_variable)
        toml = (TomlConfigSettingsSource(settings_cls, _checked(Path(file))),) if file else ()
        return (init_settings, env_settings, *toml)


def _checked(path: Path) -> Path:
    """Return the path of a regular file, or raise OSError: the source takes anything else for an empty file."""
    if stat.S_ISREG(path.stat().st_mode):
        return path
    raise OSError(errno.EINVAL, "it is not a regular file")


S = TypeVar("S", bound=FileSettings)


def read_settings(kind: type[S], program: str, **given: Any) -> S:
    """Return the settings of a program, or end it with 2 and a sentence for each that is wrong.

    Variables that look like misspelt settings are named: they are ignored."""
    for warning in misspelt(kind, os.environ):
        print(f"{program}: {warning}", file=sys.stderr)
    try:
        return kind(**given)
    except ValidationError as error:
        messages = list(sentences(error, lambda place: _named(kind, place)))
    except SettingsError as error:
        field = _FIELD.search(str(error))
        messages = [f"{_named(kind, [field.group(1)])}: must be valid JSON" if field else str(error)]
    except UnicodeDecodeError:
        messages = [f"{os.environ.get(kind.file_variable)} is not valid TOML: it is not a text in UTF-8"]
    except tomllib.TOMLDecodeError as error:
        messages = [f"{os.environ.get(kind.file_variable)} is not valid TOML: {error}"]
    except OSError as error:
        messages = [f"{os.environ.get(kind.file_variable)} cannot be read: {error.strerror}"]
    for message in messages:
        print(f"{program}: {message}", file=sys.stderr)
    sys.exit(_WRONG)


def misspelt(kind: type[FileSettings], names: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each name of a variable that is almost one of a setting. Other programs have variables with
    the same prefix, so that an unknown one alone means nothing."""
    prefix = str(kind.model_config.get("env_prefix", "")).upper()
    known = {f"{prefix}{name}".upper() for name in kind.model_fields} | {kind.file_variable}
    for name in names:
        first = name.upper().split("__")[0]
        if not first.startswith(prefix) or first in known or first.startswith(_OF_OTHERS.get(prefix, ())):
            continue
        for meant in get_close_matches(first, known, 1, _ALMOST):
            yield f"variable {name} is ignored; did you mean {meant}?"


def _named(kind: type[FileSettings], place: Sequence[int | str]) -> str:
    """Return how to set it: the key of the file and, of the first part, the variable."""
    if not place:
        return "settings"
    variable = f"{kind.model_config.get('env_prefix', '')}{place[0]}".upper()
    return f"setting {'.'.join(map(str, place))} ({variable})"
