"""Detect the kind of the configured storage controller, which may be absent when Zoe starts."""

from __future__ import annotations

from typing import Any, cast

from storage_bridge.base import StorageController
from storage_bridge.crystal_controller import CrystalController
from storage_bridge.crystal_dialects import AppendixDialect, LaterDialect
from storage_bridge.http import ControllerHttp, ControllerSettings
from storage_bridge.zoe_controller import ZoeController


def connect(settings: ControllerSettings, line: ControllerHttp | None = None) -> CrystalController | ZoeController:
    """Return a client for the controller, by its answers. Raises StorageUnavailableError."""
    line = line or ControllerHttp(settings)
    if line.ask("GET", "/v1/capacity", absent=False) is not False:
        return ZoeController(line, settings)
    later = line.ask("GET", "/policies/slos", absent=False) is not False
    return CrystalController(line, settings, (LaterDialect if later else AppendixDialect)(line, settings.owner))


def connect_lazily(settings: ControllerSettings) -> StorageController:
    """Return a client that detects the controller at the first call; until one answers, calls raise
    StorageUnavailableError.
    """
    return cast(StorageController, _LazyController(settings))


class _LazyController:
    def __init__(self, settings: ControllerSettings) -> None:
        self._settings = settings
        self._http = ControllerHttp(settings)
        self._found: StorageController | None = None

    def circuit_open(self) -> bool:
        return self._http.circuit_open

    def __getattr__(self, name: str) -> Any:
        """Return a method of the controller, which is detected when the method is called."""

        def call(*args: Any) -> Any:
            if self._found is None:
                self._found = connect(self._settings, self._http)
            return getattr(self._found, name)(*args)

        return call
