"""Images on the nodes: make engines pull missing ones, and report the progress as text."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from zoe_client.words.amounts import size
from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.domain.applications.images import full_name, image_matches
from zoe_master.backends.base import ImageState, ImageStatus
from zoe_master.backends.engine.daemon.engine_events import EngineEvents
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.engine.errors import UNREACHABLE, words_of
from zoe_master.backends.engine.settings import EngineSettings
from zoe_master.backends.engine.spec.images import BUILD, BUILD_OR_PULL, CHECK_PULL, image_allowed, image_state
from zoe_master.waker import TickWaker

_FAILED_FOR_S = 60.0


class PullProgress:
    """The progress of one pull, from the messages of its engine."""

    def __init__(self) -> None:
        self._layers: dict[str, tuple[int, int]] = {}

    def take(self, message: Mapping[str, Any]) -> None:
        """Process one message."""
        layer, detail = message.get("id"), message.get("progressDetail") or {}
        if layer is None:
            return
        if message.get("status") == "Downloading" and detail.get("total"):
            self._layers[layer] = int(detail.get("current", 0)), int(detail["total"])
        elif message.get("status") in ("Download complete", "Pull complete") and layer in self._layers:
            self._layers[layer] = self._layers[layer][1], self._layers[layer][1]

    def __str__(self) -> str:
        """Return the downloaded amount as text; the engine learns the sizes of layers one after the other."""
        have, whole = (sum(pair[part] for pair in list(self._layers.values())) for part in (0, 1))
        return f" ({size(have)} of at least {size(whole)})" if whole else ""


class ImagePulls:
    """At most one pull of an image on each node; a failed one is retried after a minute."""

    def __init__(
        self,
        watches: EngineWatches,
        pool: ThreadPoolExecutor,
        settings: EngineSettings,
        waker: TickWaker,
        clock: Clock = SYSTEM_CLOCK,
    ) -> None:
        self._clock = clock
        self._watches = watches
        self._pool = pool
        self._settings = settings
        self._waker = waker
        self._lock = threading.Lock()
        self._pulling: dict[tuple[str, str], PullProgress] = {}
        self._failed: dict[tuple[str, str], tuple[float, str]] = {}

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
            pulling = [f"{node}{found}" for node in images_of_node if (found := self._pulling.get((node, name)))]
            failures = {node: words for (node, failed), words in self._failures().items() if failed == name}
        return image_state(image, images_of_node, pulling, failures, self._hint(image))

    def _hint(self, image: str) -> str:
        if image_matches(image, self._settings.built_images):
            return BUILD
        return CHECK_PULL if self._settings.pull_images else BUILD_OR_PULL

    def unavailable(self) -> tuple[str, ...]:
        """Return the images that no node has or can pull, by full name."""
        watches = [watch for watch in self._watches.watches() if watch.reachable and watch.images is not None]
        there = {name for watch in watches for name in watch.images or ()}
        with self._lock:
            failed = set(self._failures())
        lacking = sorted({name for _, name in failed} - there)
        return tuple(name for name in lacking if all((watch.node, name) in failed for watch in watches))

    def _begin(self, watch: EngineEvents, name: str) -> None:
        key = (watch.node, name)
        if image_matches(name, self._settings.built_images):
            return
        if name in (watch.images or ()) or key in self._pulling or key in self._failures():
            return
        self._pulling[key] = PullProgress()
        self._pool.submit(self._pull, watch, name, self._pulling[key])

    def _failures(self) -> dict[tuple[str, str], str]:
        now_s = self._clock.monotonic_s()
        return {key: words for key, (at_s, words) in self._failed.items() if now_s < at_s + _FAILED_FOR_S}

    def _pull(self, watch: EngineEvents, name: str, progress: PullProgress) -> None:
        key, failure = (watch.node, name), ""
        try:
            repository, _, tag = name.rpartition("@" if "@" in name else ":")
            for line in watch.engine.api.pull(repository, tag=tag, stream=True, decode=True):
                failure = line.get("error", failure)
                progress.take(line)
        except UNREACHABLE as error:
            failure = words_of(error)
        with self._lock:
            self._pulling.pop(key, None)
            if failure:
                self._failed[key] = self._clock.monotonic_s(), failure
        self._waker.wake()
