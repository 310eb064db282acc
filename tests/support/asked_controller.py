"""An API with a storage controller."""

from __future__ import annotations

from tests.support.api import Api
from tests.support.storage_controller import TOKEN, Served
from zoe_api.storage.client import StorageController


def asks(api: Api, controller: Served) -> None:
    """Make the API use this controller, as if it had been started with its address and token."""
    token_file = api.directory / "storage_token"
    token_file.write_text(f"{TOKEN}\n")
    given = {"storage_url": controller.url, "storage_token_file": token_file, "storage_timeout_s": 30.0}
    api.app.state.storage_controller = StorageController(api.settings.model_copy(update=given))
