"""The watches of all engines, following the list of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from zoe_master.backends.engine.daemon.engine_events import EngineEvents, EngineListener
from zoe_master.backends.engine.daemon.engines import Engine
from zoe_master.backends.engine.daemon.hardening import EngineHardening
from zoe_master.backends.engine.daemon.image_facts import EngineImages
from zoe_master.backends.engine.settings import EngineSettings


class EngineWatches:
    """One watch for each node."""

    def __init__(self, settings: EngineSettings, listener: EngineListener) -> None:
        self._settings = settings
        self._listener = listener
        self._hardening = EngineHardening(settings)
        self._watches: Mapping[str, EngineEvents] = {}

    def follow(self, wanted: Mapping[str, str]) -> None:
        """Watch these nodes, by the URLs of their engines, and no others."""
        watches = dict(self._watches)
        for name in [n for n, watch in watches.items() if wanted.get(n) != watch.engine.url]:
            watches.pop(name).close()
        for name, url in wanted.items():
            if name not in watches:
                watches[name] = self._watch(name, url)
        self._watches = watches

    def get(self, node: str) -> EngineEvents | None:
        """Return the watch of a node."""
        return self._watches.get(node)

    def watches(self) -> Iterable[EngineEvents]:
        """Return all watches."""
        return self._watches.values()

    def engine(self, node: str) -> Engine | None:
        """Return the engine of a node if it answers."""
        watch = self._watches.get(node)
        return watch.engine if watch is not None and watch.reachable else None

    def close(self) -> None:
        """End all watches."""
        for watch in self._watches.values():
            watch.close()

    def _watch(self, name: str, url: str) -> EngineEvents:
        settings = self._settings
        engine = Engine(url, settings.tls_dir, settings.engine_timeout_s)
        images, retry_s = EngineImages(settings.images), settings.engine_retry_s
        return EngineEvents(name, engine, settings.installation, self._listener, self._hardening, images, retry_s)
