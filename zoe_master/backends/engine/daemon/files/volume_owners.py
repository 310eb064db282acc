"""Change the owner of new named volumes and working directories to their user; engines create them owned by root."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from docker.errors import APIError

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_master.backends.base import ServiceStart
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.engine.daemon.files.path_checks import images_to_probe
from zoe_master.backends.engine.daemon.files.workspace_making import GIVE_TO_GROUP
from zoe_master.backends.engine.daemon.probe_containers import ImageProgram, ask
from zoe_master.backends.engine.errors import UNREACHABLE
from zoe_master.backends.engine.settings import EngineSettings
from zoe_master.backends.engine.spec.mounts.mounts import scratch_labels, volume_labels
from zoe_master.backends.engine.spec.mounts.work_dirs import StartPath
from zoe_master.backends.engine.spec.naming.names import volume_name
from zoe_master.backends.engine.spec.users import ContainerUser, user_of
from zoe_master.backends.workspaces.layout import SHARED_MODE

_log = logging.getLogger(__name__)
_WORKERS = 2
_GOOD_FOR_S = 60.0
_SEEN_AT = "/zoe-volume"
_ROOT = "0:0"
_OPEN = f'chown "$1" "$2" && chmod {SHARED_MODE:o} "$2"'


@dataclass(frozen=True, slots=True)
class _Place:
    """A volume, or a directory of the node; `below` is the directory to create in it. work_dir: the directory to
    create.
    """

    node: str
    tenant: str
    user: ContainerUser
    source: str
    below: str = ""
    work_dir: StartPath | None = None

    @property
    def of_tenant(self) -> bool:
        """Return whether several system users mount it: all users of a tenant mount its named volumes."""
        return not self.user.of_all and not (self.work_dir is not None and self.work_dir.own)


class VolumeOwners:
    """Checks the owner of a place, at most once a minute; if no image can check it, the start continues."""

    def __init__(
        self, watches: EngineWatches, settings: EngineSettings, notify: Callable[[], None], clock: Clock = SYSTEM_CLOCK
    ) -> None:
        self._clock = clock
        self._watches = watches
        self._settings = settings
        self._told = notify
        self._pool = ThreadPoolExecutor(_WORKERS, thread_name_prefix="zoe-engine-volumes")
        self._lock = threading.Lock()
        self._asked: dict[_Place, tuple[float, Future[None]]] = {}

    def are_checked(self, start: ServiceStart, work_dir: StartPath | None = None) -> bool:
        """Return whether the service's named volumes and its start directory were checked; False until then."""
        checks = [self._check(place) for place in self._places_of(start, work_dir)]  # all at the same time
        return all(check.done() for check in checks)

    def check_now(self, start: ServiceStart, work_dir: StartPath | None = None) -> None:
        """Check them, and wait for it."""
        for check in [self._check(place) for place in self._places_of(start, work_dir)]:
            check.result()

    def _places_of(self, start: ServiceStart, work_dir: StartPath | None) -> list[_Place]:
        names = {volume.name for volume in start.component.volumes if volume.name is not None and not volume.read_only}
        volumes = [volume_name(self._settings.installation, start.tenant, name) for name in sorted(names)]
        user = user_of(start, self._settings)
        places = [_Place(start.node, start.tenant, user, volume) for volume in volumes]
        if work_dir is not None and (work_dir.own or work_dir.below):
            places.append(_Place(start.node, start.tenant, user, work_dir.source, work_dir.below, work_dir))
        return places

    def close(self) -> None:
        """Wait for running checks."""
        self._pool.shutdown(cancel_futures=True)

    def _check(self, place: _Place) -> Future[None]:
        now_s = self._clock.monotonic_s()
        with self._lock:
            old = [place for place, (until_s, future) in self._asked.items() if future.done() and until_s <= now_s]
            for entry in old:
                del self._asked[entry]
            if place not in self._asked:
                self._asked[place] = now_s + _GOOD_FOR_S, self._pool.submit(self._look, place)
            return self._asked[place][1]

    def _look(self, place: _Place) -> None:
        try:
            self._give(place)
        except UNREACHABLE as error:
            _log.warning("%s on %s may belong to root: %s", place.source, place.node, error)
        finally:
            self._told()

    def _give(self, place: _Place) -> None:
        watch = self._watches.get(place.node)
        if watch is None or not watch.reachable:
            return
        api = watch.engine.api
        if not place.source.startswith("/"):
            api.create_volume(place.source, labels=self._labels(place))
        for image in images_to_probe(watch, self._settings):
            try:
                self._ask(api, image, place)
            except APIError as error:
                _log.info("image %s cannot check who owns a volume: %s", image, error)
                continue
            return

    def _ask(self, api: Any, image: str, place: _Place) -> None:
        installation, at = self._settings.installation, (place.source, _SEEN_AT)

        def run(program: str, *arguments: str, user: str = _ROOT) -> str:
            return ask(api, image, installation, ImageProgram(program, arguments, user, changes=at))[1].strip()

        if not place.source.startswith("/"):
            owner = run("/bin/stat", "-c", "%u:%g", _SEEN_AT)
            if place.of_tenant:
                self._share(run, owner, place.user.gid)
            elif owner == _ROOT:
                run("/bin/chown", str(place.user), _SEEN_AT)
        if place.below:  # as the user, possibly without access
            run("/bin/mkdir", "-p", f"{_SEEN_AT}/{place.below}", user=str(place.user))

    def _share(self, run: Callable[..., str], owner: str, gid: str) -> None:
        """Let all users of the tenant change a volume, including one of the former common user of all components."""
        uid = owner.partition(":")[0]
        if owner == f"0:{gid}" or not uid.isdigit():
            return
        if uid != "0":
            run("/bin/sh", "-c", GIVE_TO_GROUP, "sh", _SEEN_AT, uid, gid, user=f"{uid}:{gid}")
        run("/bin/sh", "-c", _OPEN, "sh", f"0:{gid}", _SEEN_AT, user=f"0:{gid}")

    def _labels(self, place: _Place) -> dict[str, str]:
        if place.work_dir is not None and place.work_dir.own:
            return scratch_labels(place.work_dir, place.tenant, self._settings)
        return volume_labels(place.tenant, self._settings)
