"""Check the parts of a host path on nodes before anything is mounted, and make missing workspaces."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import NamedTuple

from docker.errors import APIError

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.images import full_name
from zoe_lib.domain.executions.execution import Cause
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.engine.daemon.engine_events import EngineEvents
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.engine.daemon.files.workspace_making import make_workspaces
from zoe_master.backends.engine.daemon.probe_containers import ImageProgram, ask, candidates
from zoe_master.backends.engine.errors import UNREACHABLE, error_text_of, status_of, words_of
from zoe_master.backends.engine.settings import EngineSettings
from zoe_master.backends.engine.spec.mounts.host_paths import HostPath, PathPart, host_paths_of, may_be_made, problem
from zoe_master.backends.services.failures import CannotStartError, CannotStartYetError

_WORKERS = 2  # a separate pool: a file system that hangs blocks only mounts
_GOOD_FOR_S = 60.0
_SILENT_FOR_S = 2.0
_BAD_FOR_S = 10.0  # long enough for a slow loop to see the result
_SEEN_AT = "/zoe-path-"
# Root without capabilities: it can read directories that only root may enter, and its mounts are read-only.
_LOOKS_AS = "0:0"
_Key = tuple[str, tuple[HostPath, ...]]


@dataclass(frozen=True, slots=True)
class _Refused:
    message: str
    cause: Cause
    detail: str = ""
    passes: bool = False


class _Look(NamedTuple):
    """A path, its existing parts, and why it must not be mounted."""

    path: HostPath
    seen: Sequence[PathPart]
    words: str


class PathChecks:
    """A result holds for a minute: only root on the node can invalidate it."""

    def __init__(
        self, watches: EngineWatches, settings: EngineSettings, notify: Callable[[], None], clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._clock = clock
        self._watches = watches
        self._settings = settings
        self._told = notify
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="zoe-engine-paths")
        self._lock = threading.Lock()
        self._making = threading.Lock()
        self._asked: dict[_Key, Future[_Refused | None]] = {}
        self._until_s: dict[_Key, float] = {}

    def may_mount(self, start: ServiceStart) -> bool:
        """Return whether all host paths may be mounted; False until the node answers. May raise CannotStartError."""
        paths = _paths_to_check(host_paths_of(start, self._settings))
        if not paths:
            return True
        check = self._check((start.node, paths))
        if not check.done():
            return False
        _raise(check.result())
        return True

    def wait(self, node: str, paths: Iterable[HostPath], timeout_s: float) -> None:
        """Wait until the node has answered for these paths; CannotStartError if they may not be mounted."""
        if wanted := _paths_to_check(paths):
            try:
                refused = self._check((node, wanted)).result(timeout_s)
            except TimeoutError:
                refused = _silent(node, "its engine takes too long")
            _raise(refused)

    def close(self) -> None:
        """Wait for running checks."""
        self._pool.shutdown(cancel_futures=True)

    def _check(self, key: _Key) -> Future[_Refused | None]:
        with self._lock:
            self._drop_old()
            if key not in self._asked:
                self._asked[key] = self._pool.submit(self._look, key)
            return self._asked[key]

    def _drop_old(self) -> None:
        now_s = self._clock.monotonic_s()
        for key in [key for key, until_s in self._until_s.items() if until_s <= now_s]:
            del self._until_s[key]
            self._asked.pop(key, None)

    def _look(self, key: _Key) -> _Refused | None:
        node, paths = key
        try:
            refused = self._asked_of(node, paths)
        except UNREACHABLE as error:
            refused = _silent(node, *error_text_of("the check failed, and Zoe tries again", error))
        with self._lock:
            good_for_s = _BAD_FOR_S if refused is not None and not refused.passes else _SILENT_FOR_S
            self._until_s[key] = self._clock.monotonic_s() + (_GOOD_FOR_S if refused is None else good_for_s)
        self._told()
        return refused

    def _asked_of(self, node: str, paths: tuple[HostPath, ...]) -> _Refused | None:
        watch = self._watches.get(node)
        if watch is None or not watch.reachable:
            return _silent(node, "its engine does not answer")
        for root, below in _by_root(paths).items():
            found = self._obstacle(watch, root, below)
            detail = ""
            if found is not None and found.words and may_be_made(found.path, found.seen):
                with self._making:  # one at a time: another start may need the same
                    detail = self._make_missing(watch, [path for path in below if path.owned is not None])
                found = self._obstacle(watch, root, below)
            if found is None:
                return _unchecked_refusal(node, "no allowed image has /bin/stat")
            if found.words:
                message = f"host path {found.path.path} is not mounted from {node}: {found.words}"
                return _Refused(message, Cause.START_FAILED, detail)
        return None

    def _make_missing(self, watch: EngineEvents, paths: Sequence[HostPath]) -> str:
        """Make missing workspaces, or move old ones; return the errors of the programs."""
        said = ""
        for image in images_to_probe(watch, self._settings):
            try:
                return make_workspaces(watch.engine.api, image, paths, self._settings)
            except APIError as error:
                said = words_of(error)
        return said

    def _obstacle(self, watch: EngineEvents, root: str, paths: Sequence[HostPath]) -> _Look | None:
        """Return the first forbidden path, and why; None if no image can check it."""
        try:
            seen = self._parts(watch, root, paths)
        except APIError as error:
            if status_of(error) != 400 or "source path does not exist" not in words_of(error):
                raise
            seen = {}  # not even the root exists
        if seen is None:
            return None
        for path in paths:
            parts = [part for part in map(seen.get, path.parts(_SEEN_AT)) if part is not None]
            if words := problem(path, parts, self._settings):
                return _Look(path, parts, words)
        return _Look(paths[0], (), "")

    def _parts(self, watch: EngineEvents, root: str, paths: Sequence[HostPath]) -> dict[str, PathPart] | None:
        """Return the node's report on each part that exists; None if no image can check it."""
        # A name with a line break could pass for the report on another part; so it counts as missing.
        parts = sorted({part for path in paths for part in path.parts(_SEEN_AT) if "\n" not in part})
        question = ImageProgram("/bin/stat", ["-c", "%f %u %g %n", "--", *parts], _LOOKS_AS, sees={_SEEN_AT: root})
        for image in images_to_probe(watch, self._settings):
            try:
                _, shown = ask(watch.engine.api, image, self._settings.installation, question)
            except APIError as error:
                if "/bin/stat" in words_of(error):
                    continue
                raise
            return dict(_read(shown))
        return None


def _paths_to_check(paths: Iterable[HostPath]) -> tuple[HostPath, ...]:
    """Return the paths below the directories that the admin allowed, which are trusted."""
    return tuple(path for path in paths if path.path != path.root)


def _raise(refused: _Refused | None) -> None:
    if refused is not None:
        kind = CannotStartYetError if refused.passes else CannotStartError
        raise kind(refused.message, refused.cause, refused.detail)


def images_to_probe(watch: EngineEvents, settings: EngineSettings) -> list[str]:
    """Return only Zoe's own image where there is one: an image that tenants can push to could report falsely."""
    found = candidates(watch.images or (), settings)
    return [name for name in found if name == full_name(settings.gateway_image)] or (
        [] if settings.gateway_image else found
    )


def _by_root(paths: Iterable[HostPath]) -> dict[str, list[HostPath]]:
    found: dict[str, list[HostPath]] = {}
    for path in paths:
        found.setdefault(path.root, []).append(path)
    return found


def _read(shown: str) -> Iterator[tuple[str, PathPart]]:
    for line in shown.split("\n"):
        if line:
            mode, owner, group, name = line.split(" ", 3)
            yield name, PathPart(int(mode, 16), int(owner), int(group))


def _unchecked_refusal(node: str, why: str) -> _Refused:
    return _Refused(f"{node} cannot check whether its host paths are safe to mount: {why}", Cause.ENGINE_FAULT)


def _silent(node: str, why: str, detail: str = "") -> _Refused:
    return replace(_unchecked_refusal(node, why), detail=detail, passes=True)
