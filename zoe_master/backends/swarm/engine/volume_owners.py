"""Giving new named volumes to the user that components run as: an engine makes them root's."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from docker.errors import APIError

from zoe_master.backends.base import ServiceStart
from zoe_master.backends.swarm.engine.engine_watches import EngineWatches
from zoe_master.backends.swarm.engine.path_checks import asked_images
from zoe_master.backends.swarm.engine.probe_containers import ImageProgram, ask
from zoe_master.backends.swarm.errors import UNREACHABLE
from zoe_master.backends.swarm.settings import SwarmSettings
from zoe_master.backends.swarm.spec.mounts import volume_labels
from zoe_master.backends.swarm.spec.names import volume_name

_log = logging.getLogger(__name__)
_WORKERS = 2
_GOOD_FOR_S = 60.0
_SEEN_AT = "/zoe-volume"
_ROOT = "0:0"
_Key = tuple[str, str]  # node, volume


class VolumeOwners:
    """Asks a node who owns a volume, at most once a minute; where nobody can tell, the start goes on."""

    def __init__(self, watches: EngineWatches, settings: SwarmSettings, told: Callable[[], None]) -> None:
        self._watches = watches
        self._settings = settings
        self._told = told
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="zoe-swarm-volumes")
        self._lock = threading.Lock()
        self._asked: dict[_Key, tuple[float, Future[None]]] = {}

    def passed(self, start: ServiceStart) -> bool:
        """Whether all its named volumes were looked at; False until then."""
        names = {volume.name for volume in start.component.volumes if volume.name is not None and not volume.read_only}
        return all(self._passed(start, name) for name in sorted(names))

    def close(self) -> None:
        """Wait for what is being asked."""
        self._pool.shutdown(cancel_futures=True)

    def _passed(self, start: ServiceStart, name: str) -> bool:
        key, now_s = (start.node, volume_name(self._settings.installation, start.tenant, name)), time.monotonic()
        with self._lock:
            old = [one for one, (until_s, asked) in self._asked.items() if asked.done() and until_s <= now_s]
            for one in old:
                del self._asked[one]
            if key not in self._asked:
                self._asked[key] = now_s + _GOOD_FOR_S, self._pool.submit(self._look, key, start.tenant)
            return self._asked[key][1].done()

    def _look(self, key: _Key, tenant: str) -> None:
        node, volume = key
        try:
            self._give(node, volume, tenant)
        except UNREACHABLE as error:
            _log.warning("volume %s on %s may belong to root: %s", volume, node, error)
        finally:
            self._told()

    def _give(self, node: str, volume: str, tenant: str) -> None:
        watch = self._watches.get(node)
        if watch is None or not watch.reachable:
            return
        api, installation = watch.engine.api, self._settings.installation
        api.create_volume(volume, labels=volume_labels(tenant, self._settings))
        user = self._settings.tenant_users.get(tenant, self._settings.user)
        look = ImageProgram("/bin/stat", ["-c", "%u:%g", _SEEN_AT], _ROOT, volume=(volume, _SEEN_AT))
        give = ImageProgram("/bin/chown", [user, _SEEN_AT], _ROOT, volume=(volume, _SEEN_AT))
        for image in asked_images(watch, self._settings):
            try:
                _, owner = ask(api, image, installation, look)
                if owner.strip() == _ROOT:
                    ask(api, image, installation, give)
            except APIError as error:
                _log.info("image %s cannot tell who owns a volume: %s", image, error)
                continue
            return
