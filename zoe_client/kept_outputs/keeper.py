"""The runs of cells of a server, and the task that writes the outputs of those whose page has gone."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from itertools import count, takewhile
from typing import Any

from jupyter_server.serverapp import ServerApp

from zoe_client.kept_outputs.outputs import Message, Output, Outputs, added_text

_DOCUMENTS = "jupyter_server_ydoc"
_EVERY_S = 1.0
_SAVED_EVERY = 5
"""Looks after which a document that changes all the time is saved; others are saved after a second without a change."""
_GONE_S = 2.0
"""A page that connects again within this time goes on to write its outputs itself."""
_ENDS = {"starting", "restarting", "dead"}


@dataclass(slots=True)
class Run:
    """A cell that a kernel computes, or will compute.

    page: the session that asked. kept: it has gone. written, document: the outputs that were written here last, if any
    were, and the document; the server makes a new one of a notebook that no page has shown for a minute."""

    cell: str
    page: str
    outputs: Outputs = field(default_factory=Outputs)
    count: int | None = None
    ended: bool = False
    changed: bool = True
    kept: bool = False
    written: list[Output] | None = None
    document: Any = None


class Keeper:
    """Runs by kernel and by the id of the request. For the event loop of the server only."""

    def __init__(self, server: ServerApp) -> None:
        self._server = server
        self._runs: dict[str, dict[str, Run]] = {}
        self._gone_s: dict[str, float] = {}
        self._streams: dict[str, Any] = {}

    def connected(self, kernel_id: str, page: str) -> None:
        """Know that a page is there, and listen to its kernel before it asks anything."""
        self._gone_s.pop(page, None)
        if kernel_id not in self._streams and kernel_id in self._server.kernel_manager:
            kernel = self._server.kernel_manager.get_kernel(kernel_id)
            stream, session = kernel.connect_iopub(), kernel.session
            stream.on_recv(lambda parts: self._heard(kernel_id, session.deserialize(session.feed_identities(parts)[1])))
            self._streams[kernel_id] = stream
            self._runs[kernel_id] = {}

    def disconnected(self, page: str) -> None:
        """Know that a page has gone, or lost its connection."""
        self._gone_s[page] = time.monotonic()

    def asked(self, kernel_id: str, page: str, request: str, cell: str) -> None:
        """Know that a page asked for a run. A former run of the cell may write no more."""
        runs = self._runs.setdefault(kernel_id, {})
        for former in [key for key, run in runs.items() if run.cell == cell]:
            del runs[former]
        runs[request] = Run(cell, page)

    def keeps(self, kernel_id: str, request: str) -> bool:
        """Return whether the outputs of a run are written here, and no longer by the page that asked for it."""
        run = self._runs.get(kernel_id, {}).get(request)
        return run is not None and run.kept

    async def keep_on(self) -> None:
        """Write what changed, again and again."""
        for number in count(1):
            await asyncio.sleep(_EVERY_S)
            await self._look()
            if number % _SAVED_EVERY == 0:
                await self._save()

    def _heard(self, kernel_id: str, message: Message) -> None:
        runs = self._runs.get(kernel_id, {})
        kind, content = message["header"]["msg_type"], message["content"]
        state = content["execution_state"] if kind == "status" else ""
        if state in _ENDS:
            for run in runs.values():
                run.ended = run.changed = True
        asked = runs.get(message["parent_header"].get("msg_id", ""))
        if asked is None:
            return
        if kind == "execute_input":
            asked.count = content["execution_count"]
        asked.ended = asked.ended or state == "idle"
        asked.changed = asked.outputs.take(message) or asked.changed or asked.ended or kind == "execute_input"

    async def _look(self) -> None:
        self._forget_kernels()
        now_s = time.monotonic()
        gone = {page for page, since_s in self._gone_s.items() if now_s > since_s + _GONE_S}
        for kernel_id, runs in list(self._runs.items()):
            for run in runs.values():
                run.kept = run.kept or run.page in gone
            changed = [run for run in runs.values() if run.kept and run.changed]
            if changed:
                await self._try_to_write(kernel_id, changed)
            # An ended run stays until its page can no longer leave it unfinished.
            self._runs[kernel_id] = {
                key: run
                for key, run in runs.items()
                if not run.ended or (run.changed and (run.kept or run.page in self._gone_s))
            }
        pages = {run.page for runs in self._runs.values() for run in runs.values()}
        self._gone_s = {page: since for page, since in self._gone_s.items() if page in pages}

    def _forget_kernels(self) -> None:
        there = set(self._server.kernel_manager.list_kernel_ids())
        for kernel_id in [kernel_id for kernel_id in self._streams if kernel_id not in there]:
            self._streams.pop(kernel_id).close()
            self._runs.pop(kernel_id, None)

    async def _try_to_write(self, kernel_id: str, runs: list[Run]) -> None:
        try:
            await self._write(kernel_id, runs)
        except Exception:
            # Such as a notebook that was removed. Further outputs of these runs would fail each second.
            self._server.log.exception("outputs of %d cells are not kept", len(runs))
            kept = self._runs.get(kernel_id, {})
            for key in [key for key, run in kept.items() if run in runs]:
                del kept[key]

    async def _write(self, kernel_id: str, runs: list[Run]) -> None:
        for run in runs:
            run.changed = False
        for session in await self._server.session_manager.list_sessions():
            if session["type"] == "notebook" and session["kernel"] and session["kernel"]["id"] == kernel_id:
                document = await self._document(session["path"])
                cells = {cell.get("id"): cell for cell in document.ycells}
                with document.ydoc.transaction():
                    for run in runs:
                        if run.cell in cells:
                            _write(document, cells[run.cell], run)

    async def _document(self, path: str) -> Any:
        (extension,) = self._server.extension_manager.extension_apps[_DOCUMENTS]
        return await extension.get_document(
            path=path, content_type="notebook", file_format="json", copy=False, create=True
        )

    async def _save(self) -> None:
        """Save documents whose changes put off their save, such as one with a cell that prints each second."""
        for extension in self._server.extension_manager.extension_apps.get(_DOCUMENTS, ()):
            for room in list(extension.ywebsocket_server.rooms.values()):
                waiting = getattr(room, "_saving_document", None)
                if waiting is not None and not waiting.done():
                    await room._maybe_save_document(waiting, save_now=True)


def _write(document: Any, cell: Any, run: Run) -> None:
    shown, written = run.outputs.shown(), run.written
    outputs = cell["outputs"]
    if written is None or run.document is not document or len(outputs) != len(written):
        document._set_ycell_outputs(cell, shown)
    else:
        # Replacing all outputs each second would fill the history of the document.
        same = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(written, shown, strict=False))))
        if same < min(len(written), len(shown)) and (more := added_text(written[same], shown[same])):
            text = outputs[same]["text"]
            text += more  # in place
            same += 1
        del outputs[same:]
        outputs.extend(document._create_youtputs(shown[same:]))
    run.written, run.document = shown, document
    # With a number, JupyterLab would show a cell that runs as one that has ended.
    cell["execution_count"] = run.count if run.ended else None
    cell["execution_state"] = "idle" if run.ended else "running"
