"""Terminals in containers: orders for their processes, and cleanup after a killed master."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

from zoe_master.backends.base import BackendError, TerminalRequest
from zoe_master.backends.engine.daemon.engines import API_VERSION, Engine
from zoe_master.backends.engine.errors import UNREACHABLE, words_of
from zoe_master.backends.engine.services.records import Record
from zoe_master.backends.terminal import container_shell

_log = logging.getLogger(__name__)
_ROUNDS_MAX = 5


def terminal_order(
    engine: Engine | None, record: Record | None, tls_dir: Path | None, request: TerminalRequest
) -> dict[str, Any]:
    """Return the order for a command in a service's container; BackendError if there is none."""
    if record is None or not record.running or not record.container_id:
        raise BackendError("the service is not running")
    if engine is None:
        raise BackendError(f"the engine of {record.node} does not answer")
    return {
        "url": engine.url,
        "tls_dir": None if tls_dir is None else str(tls_dir),
        "version": API_VERSION,
        "container": record.container_id,
        "name": container_shell.new_name(),
        "command": request.command,
        "tty": request.tty,
        "term": request.term,
        "rows": request.rows,
        "columns": request.columns,
    }


def end_left_terminals(engine: Engine, record: Record) -> None:
    """End the terminals of an earlier master in a container."""
    api: Any = engine.api
    try:
        for name in _names_in(api, record.container_id):
            _log.info("ending a terminal that was left in service %s", record.service_id)
            for _ in range(_ROUNDS_MAX):
                made = api.exec_create(record.container_id, container_shell.end(name, "KILL"))["Id"]
                api.exec_start(made)
                if api.exec_inspect(made)["ExitCode"] != container_shell.SOME_LEFT:
                    break
    except UNREACHABLE as error:
        _log.info("terminals that were left in service %s end with it: %s", record.service_id, words_of(error))


def _names_in(api: Any, container_id: str) -> list[str]:
    names = []
    for exec_id in api.inspect_container(container_id)["ExecIDs"] or ():
        found = api.exec_inspect(exec_id)
        name = container_shell.name_in(found["ProcessConfig"].get("arguments") or [])
        if found["Running"] and name is not None:
            names.append(name)
    return names
