"""Stop the services of this machine when the stack that started them stops."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Protocol, runtime_checkable

from zoe_lib.settings.config import Settings
from zoe_master.backends.base import BackendError, ObservedState
from zoe_master.backends.factory import machine_backend
from zoe_master.waker import TickWaker

_GONE = (ObservedState.ENDED, ObservedState.LOST)
_WITHIN_S = 30.0


@runtime_checkable
class _LeavesContainers(Protocol):
    """A back-end whose ended services leave something on an engine."""

    def remove_ended(self) -> None: ...


def stop_all_services(config_file: Path) -> None:
    """Stop every service of the installation and wait for the ends; the next master finds and journals them."""
    waker = TickWaker()
    try:
        backend = machine_backend(Settings.from_file(config_file), waker)
    except BackendError as error:  # an engine that is away
        print(f"Services may still run: {error}", file=sys.stderr)
        return
    try:
        give_up_s = time.monotonic() + _WITHIN_S
        while time.monotonic() < give_up_s:
            running = [o.service_id for o in backend.observe() if o.state not in _GONE]
            if not running:
                if isinstance(backend, _LeavesContainers):
                    backend.remove_ended()
                return
            backend.stop(running)
            waker.wait(0.2)
    finally:
        backend.close()
