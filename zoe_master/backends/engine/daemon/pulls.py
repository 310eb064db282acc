"""Images on the nodes: make engines pull missing ones, and report the progress as text."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

from zoe_lib.domain.applications.images import full_name
from zoe_master.backends.base import ImageState, ImageStatus
from zoe_master.backends.engine.daemon.engine_events import EngineEvents
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.engine.errors import UNREACHABLE, words_of
from zoe_master.backends.engine.settings import EngineSettings
from zoe_master.backends.engine.spec.images import image_allowed, image_state
from zoe_master.waker import TickWaker


class ImagePulls:
    """At most one pull of an image on each node; a failed one is retried only after its engine was away."""

    def __init__(
        self, watches: EngineWatches, pool: ThreadPoolExecutor, settings: EngineSettings, waker: TickWaker
    ) -> None:
        self._watches = watches
        self._pool = pool
        self._settings = settings
        self._waker = waker
        self._lock = threading.Lock()
        self._pulling: set[tuple[str, str]] = set()
        self._failures: dict[tuple[str, str], str] = {}

    def want(self, image: str) -> None:
        """Pull an image that Zoe itself uses to the nodes without it, if pulls are allowed."""
        if self._settings.pull_images:
            with self._lock:
                for watch in self._watches.watches():
                    if watch.reachable and watch.images is not None:
                        self._begin(watch, full_name(image))

    def status(self, image: str) -> ImageStatus:
        """Return whether the image can be started; begin the necessary pulls."""
        allowed = image_allowed(image, self._settings.images)
        if allowed.state is ImageState.UNAVAILABLE:
            return allowed
        name = full_name(image)
        watches = [watch for watch in self._watches.watches() if watch.reachable and watch.images is not None]
        images_of_node = {watch.node: frozenset(watch.images or ()) for watch in watches}
        with self._lock:
            if self._settings.pull_images:
                for watch in watches:
                    self._begin(watch, name)
            pulling = [node for node in images_of_node if (node, name) in self._pulling]
            failures = {node: self._failures[node, name] for node in images_of_node if (node, name) in self._failures}
        return image_state(image, images_of_node, pulling, failures)

    def unavailable(self) -> tuple[str, ...]:
        """Return the images that no node has or can pull, by full name."""
        watches = [watch for watch in self._watches.watches() if watch.reachable and watch.images is not None]
        there = {name for watch in watches for name in watch.images or ()}
        with self._lock:
            failed = set(self._failures)
        lacking = sorted({name for _, name in failed} - there)
        return tuple(name for name in lacking if all((watch.node, name) in failed for watch in watches))

    def _begin(self, watch: EngineEvents, name: str) -> None:
        key = (watch.node, name)
        if name in (watch.images or ()) or key in self._pulling or key in self._failures:
            return
        self._pulling.add(key)
        self._pool.submit(self._pull, watch, name)

    def _pull(self, watch: EngineEvents, name: str) -> None:
        key, failure = (watch.node, name), ""
        try:
            repository, _, tag = name.rpartition("@" if "@" in name else ":")
            for line in watch.engine.api.pull(repository, tag=tag, stream=True, decode=True):
                failure = line.get("error", failure)
        except UNREACHABLE as error:
            failure = words_of(error)
        with self._lock:
            self._pulling.discard(key)
            if failure:
                self._failures[key] = failure
        self._waker.wake()
