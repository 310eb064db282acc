"""What Jupyter's server needs for the extension; a user's own configuration comes after it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any


def configure(settings: Any) -> None:
    """Load the extension, and keep what its documents need in the temporary directory, not in the workspace.

    settings: the object that `get_config()` returns in a file of Jupyter's configuration.
    """
    settings.ServerApp.jpserver_extensions = {"zoe_client.kept_outputs.extension": True}
    settings.YDocExtension.ystore_class = "jupyter_server_ydoc.stores.TempFileYStore"
    settings.YDocExtension.session_store_path = str(Path(tempfile.mkdtemp(prefix="zoe-pages-")) / "sessions.json")
