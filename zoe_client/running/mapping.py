"""`map`: call a function with each of many inputs, as an array.

Function and inputs go into the workspace, in a directory of the run; each index writes its result there. cloudpickle is
sent along, so that images need not have it.
"""

from __future__ import annotations

import asyncio
import hashlib
import io
import pickle
import sys
import tempfile
import time
import zipfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from html import escape
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar
from uuid import uuid4

from zoe_client.calls.arrays import Arrays
from zoe_client.calls.files import Files
from zoe_client.errors import Conflict, NotFound, TimedOut, ZoeError
from zoe_client.running.options import MapOptions
from zoe_client.vocabulary import IndexState

_T = TypeVar("_T")
_R = TypeVar("_R")

DIRECTORY = "zoe-map"
INPUTS_MAX = 100_000
_LOOK_S, _LOOK_S_MAX = 0.1, 1.0
_DIGEST_LENGTH = 16
_MEMORY, _CORES = "512MiB", 1.0
_ENDED = (IndexState.SUCCEEDED, IndexState.FAILED, IndexState.CANCELLED)
_CALLER = Path(__file__).with_name("map_caller.py")


class Workspace(Protocol):
    """The parts of `Client` that a map uses: arrays and files."""

    url: str

    @property
    def arrays(self) -> Arrays:
        """Arrays: one application that runs for each of many indices."""

    @property
    def files(self) -> Files:
        """Files of the workspace."""


class CallFailed(ZoeError):  # noqa: N818 - the name is the fact
    """The function raised for one input, or its service failed; the text has the traceback if there is one."""

    def __init__(self, index: int, why: str) -> None:
        self.index = index
        self.why = why
        super().__init__(f"input {index}: {why}")


class MapRun(Generic[_T, _R]):
    """Results of a map, in the order of the inputs: iterate over it. `close` removes its files from the workspace.

    `array_id` is empty if there are no inputs.
    """

    def __init__(self, client: Workspace, array_id: str, directory: str, count: int) -> None:
        self._client = client
        self._directory = directory
        self._count = count
        self._states: dict[int, IndexState] = {}
        self.array_id = array_id

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[_R]:
        """Yield the results, each as soon as it and all earlier ones are available; CallFailed for the first
        failure.
        """
        return (self.result(index) for index in range(self._count))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    def result(self, index: int, timeout_s: float | None = None) -> _R:
        """Return the result for one input, once it is available; CallFailed, TimedOut."""
        if not 0 <= index < self._count:
            raise IndexError(f"input {index} does not exist: the {self._count} inputs are counted from 0")
        state = self._has_ended(index, timeout_s)
        try:
            # The user's own service wrote this file, into the user's own workspace.
            done, value = pickle.loads(self._read(f"{self._directory}/results/{index}"))  # noqa: S301
        except NotFound:
            why = f"its service {state}; `zoe logs {self.array_id}_{index}` shows its output"
            raise CallFailed(index, why) from None
        if not done:
            raise CallFailed(index, value)
        result: _R = value
        return result

    def results(self) -> list[_R]:
        """Return all results; CallFailed."""
        return list(self)

    def failed(self) -> list[CallFailed]:
        """Return the failed calls, after all have ended."""
        found = []
        for index in range(self._count):
            try:
                self.result(index)
            except CallFailed as error:
                found.append(error)
        return found

    def cancel(self) -> None:
        """Cancel all calls that have not ended."""
        if self.array_id:
            self._client.arrays.cancel(self.array_id)

    def close(self) -> None:
        """Cancel all calls that have not ended, and remove function, inputs and results from the workspace."""
        if not self.array_id:
            return
        if self._client.arrays.array(self.array_id).ended_at_s is None:
            self.cancel()
            self._client.arrays.wait(self.array_id)
        self._client.files.delete(self._directory, recursive=True)

    def __repr__(self) -> str:
        return f"<map {self.array_id or 'without inputs'}: {self._progress()}>"

    def _repr_html_(self) -> str:
        """Return the HTML that Jupyter shows."""
        page = f"{self._client.url}/arrays/{self.array_id}"
        return f'map <a href="{escape(page)}">{escape(self.array_id)}</a>: {escape(self._progress())}'

    def _progress(self) -> str:
        if not self.array_id:
            return "nothing to do"
        counts = self._client.arrays.array(self.array_id).counts
        return ", ".join(f"{count} {state}" for state, count in counts.items() if count)

    def _has_ended(self, index: int, timeout_s: float | None) -> IndexState:
        until_s = None if timeout_s is None else time.monotonic() + timeout_s
        pause_s = _LOOK_S
        while self._states.get(index) not in _ENDED:
            found = self._client.arrays.indices(self.array_id, brief=True)
            self._states = {index.index: index.state for index in found}
            if self._states.get(index) in _ENDED:
                break
            if until_s is not None and time.monotonic() > until_s:
                raise TimedOut(f"input {index} has no result yet")
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, _LOOK_S_MAX)
        return self._states[index]

    def _read(self, path: str) -> bytes:
        with tempfile.TemporaryDirectory(prefix="zoe-map-") as directory:
            target = Path(directory) / "result"
            self._client.files.download(path, target)
            return target.read_bytes()


class AsyncMapRun(Generic[_T, _R]):
    """Results of a map of `AsyncClient`: use `async for`."""

    def __init__(self, blocking: MapRun[_T, _R]) -> None:
        self.blocking = blocking

    def __len__(self) -> int:
        return len(self.blocking)

    async def __aiter__(self) -> AsyncIterator[_R]:
        """Yield the results, each as soon as it and all earlier ones are available; CallFailed for the first
        failure.
        """
        for index in range(len(self.blocking)):
            yield await self.result(index)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await asyncio.to_thread(self.blocking.close)

    async def result(self, index: int, timeout_s: float | None = None) -> _R:
        """Return the result for one input, once it is available; CallFailed, TimedOut."""
        return await asyncio.to_thread(self.blocking.result, index, timeout_s)

    async def results(self) -> list[_R]:
        """Return all results; CallFailed."""
        return [r async for r in self]


def start_map(client: Workspace, function: Callable[[_T], _R], inputs: Iterable[_T], how: MapOptions) -> MapRun[_T, _R]:
    """Put function and inputs into the workspace, and submit the array; ZoeError without cloudpickle."""
    key = how.get("key") or uuid4().hex
    if not key.replace("-", "").replace("_", "").isalnum():
        raise ZoeError("a key of a map has letters, digits, - and _ only")
    at_once = how.get("at_once")
    if at_once is not None and at_once < 1:
        raise ZoeError("at_once is at least 1")
    packed, count, digest = _pack(function, inputs)
    # Other inputs with the same key must not replace those of a running map, nor get its results.
    directory = f"{DIRECTORY}/{key}-{digest}"
    if not count:
        return MapRun(client, "", directory, 0)
    with tempfile.NamedTemporaryFile(prefix="zoe-map-") as file:
        file.write(packed)
        file.flush()
        client.files.make_directory(f"{directory}/results")
        client.files.upload(Path(file.name), f"{directory}/call.zip")
    try:
        array = client.arrays.submit(
            _description(directory, how),
            f"0-{count - 1}" + (f"%{at_once}" if at_once else ""),
            name=how.get("name") or f"map {getattr(function, '__name__', 'function')}",
            idempotency_key=f"map {key}",
        )
    except Conflict:
        client.files.delete(directory, recursive=True)
        raise
    return MapRun(client, array.id, directory, count)


def _pack(function: Callable[[_T], _R], inputs: Iterable[_T]) -> tuple[bytes, int, str]:
    """Return function, inputs and cloudpickle as a ZIP file, which also serves as a module path; the number of inputs,
    and a digest of function and inputs.
    """
    try:
        cloudpickle: Any = import_module("cloudpickle")
    except ImportError:
        raise ZoeError("map needs cloudpickle: pip install cloudpickle") from None
    content, count, digest = io.BytesIO(), 0, hashlib.sha256()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as file:
        for path in sorted(Path(cloudpickle.__file__).parent.glob("*.py")):
            file.write(path, f"cloudpickle/{path.name}")
        file.writestr("python", f"{sys.version_info.major}.{sys.version_info.minor}")
        pickled = _pickle(cloudpickle, function, "the function")
        file.writestr("function", pickled)
        digest.update(pickled)
        for count, t in enumerate(inputs, start=1):
            if count > INPUTS_MAX:
                raise ZoeError(f"a map has at most {INPUTS_MAX} inputs")
            pickled = _pickle(cloudpickle, t, f"input {count - 1}")
            file.writestr(f"inputs/{count - 1}", pickled)
            digest.update(len(pickled).to_bytes(8) + pickled)
    return content.getvalue(), count, digest.hexdigest()[:_DIGEST_LENGTH]


def _pickle(cloudpickle: Any, what: object, name: str) -> bytes:
    """Return a pickle for the service; ZoeError with the name of an object that cannot be pickled."""
    try:
        return bytes(cloudpickle.dumps(what))
    except Exception as error:  # any exception of the object's own methods
        raise ZoeError(f"{name} cannot be pickled: {type(error).__name__}: {error}") from error


def _description(directory: str, how: MapOptions) -> dict[str, Any]:
    component: dict[str, Any] = {
        "name": "main",
        "image": how.get("image") or "zoe/python",
        "command": ["python3", "{files}/call.py", f"{{workspace}}/{directory}", "{index}"],
        "files": {"call.py": _CALLER.read_text("utf-8")},
        "work_dir": "{workspace}",
        "environment": {"HOME": "{workspace}"},
        "resources": {"memory": how.get("memory") or _MEMORY, "cores": how.get("cores") or _CORES},
        "ends_application": True,
    }
    if requirements := list(how.get("requirements") or ()):
        component["requirements"] = requirements
    return {"version": 4, "name": "map", "components": [component]}
