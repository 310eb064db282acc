"""The configuration of JupyterLab, which local runtimes share with the images."""

from __future__ import annotations

import shutil
from pathlib import Path

_PLACES = {"page_config.json": "etc/jupyter/labconfig", "jupyter_server_config.py": "etc/jupyter"}


def jupyter_files(image: Path) -> tuple[bytes, ...]:
    """Return the contents of the files in the directory of an image."""
    return tuple((image / name).read_bytes() for name in _PLACES)


def configure_jupyter(directory: Path, image: Path) -> None:
    """Copy the files of an image into an environment."""
    for name, place in _PLACES.items():
        (directory / place).mkdir(parents=True, exist_ok=True)
        shutil.copy(image / name, directory / place)
