"""JupyterLab with pandas and matplotlib for local services, without Spark."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from zoe_embedded.home import Home
from zoe_embedded.runtimes.install_progress import announced
from zoe_embedded.runtimes.interpreters import ANY, find_python
from zoe_embedded.runtimes.jupyter_files import configure_jupyter, jupyter_files
from zoe_embedded.runtimes.runtime import CLONE, Runtime, add_client, find_client_in, make_virtual_environment
from zoe_embedded.runtimes.store import Recipe, present, provide

SIZE_MB = 390
_LOCK = CLONE / "requirements" / "notebook.lock"
_IMAGE = CLONE / "app_descriptions" / "images" / "notebook"
_WHAT = "JupyterLab, pandas and matplotlib"


def ensure_lab(home: Home) -> Runtime:
    """Return the runtime of notebooks in Python, building it if it is missing. Raises RuntimeBuildError."""
    directory = provide(home, _recipe())
    runtime = Runtime(path=(str(directory / "bin"), "/usr/bin", "/bin"), environment={"PYTHONDONTWRITEBYTECODE": "1"})
    return replace(add_client(home, runtime), notebook=True)


def hold_lab(home: Home) -> bool:
    """Return whether the runtime is there, and keep it. Raises PythonMissingError if no Python fits."""
    return present(home, _recipe()) is not None


def _recipe() -> Recipe:
    python = find_python(ANY, "JupyterLab")

    def build(directory: Path) -> None:
        with announced(_WHAT, SIZE_MB, directory):
            make_virtual_environment(directory, python, _LOCK)
            configure_jupyter(directory, _IMAGE)
            find_client_in(directory)

    return Recipe("lab", (_LOCK.read_bytes(), *jupyter_files(_IMAGE), str(python).encode()), build)
