"""Settings of a process: given values, then the environment, then the TOML file that a variable names."""

from __future__ import annotations

import os
from pathlib import Path
from typing import ClassVar

from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, TomlConfigSettingsSource


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
        toml = (TomlConfigSettingsSource(settings_cls, Path(file)),) if file is not None else ()
        return (init_settings, env_settings, *toml)
