"""Settings of a process: arguments first, then the environment, then the TOML file that a variable names."""

from __future__ import annotations

import errno
import os
import re
import stat
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from pydantic import ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsError, TomlConfigSettingsSource

from zoe_client.plain_errors import sentences

_FIELD = re.compile(r'field "([^"]+)"')
_WRONG = 2


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
    """Return the settings of a program, or end it with 2 and a sentence for each that is wrong."""
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


def _named(kind: type[FileSettings], place: Sequence[int | str]) -> str:
    """Return how to set it: the key of the file and, of the first part, the variable."""
    if not place:
        return "settings"
    variable = f"{kind.model_config.get('env_prefix', '')}{place[0]}".upper()
    return f"setting {'.'.join(map(str, place))} ({variable})"
