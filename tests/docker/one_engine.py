"""One engine in namespaces of its own, with the tests' tiny images, removed completely, also when its maker dies."""

from __future__ import annotations

import os
import shutil
import tempfile
from itertools import count
from pathlib import Path

from tests.swarm.engine_host import EngineHost
from tests.swarm.keeper import Keeper, group_of_containers
from tests.swarm.tiny_image import tiny_image

IMAGES = ("shell", "python", "zoe/tiny")
NODE = "node-1"


class OneEngine:
    """A machine that reaches no other, and its engine; `disk`: one with the images of the catalogue."""

    host_class: type[EngineHost] = EngineHost
    _made = count()

    def __init__(self, disk: Path | None = None) -> None:
        self.base = Path(tempfile.mkdtemp(prefix="zoe-docker-test-"))
        cgroup = group_of_containers(f"zoe-docker-test-{os.getpid()}-{next(self._made)}")
        self._keeper = Keeper(self.base, cgroup)
        self.host: EngineHost | None = None
        try:
            self.host = self.host_class(NODE, self.base, cgroup, images=disk)
            self.host.await_namespaces()
            self.host.start_engine()
            self.host.await_engine()
            tiny = tiny_image(shutil.which("busybox") or "")
            self.host.api.import_image_from_data(tiny, repository=IMAGES[0], tag="latest")
            for name in IMAGES[1:]:
                self.host.api.tag(f"{IMAGES[0]}:latest", name, "latest")
        except BaseException:
            self.remove()
            raise

    @property
    def machine(self) -> EngineHost:
        assert self.host is not None
        return self.host

    @property
    def url(self) -> str:
        return f"unix://{self.machine.socket}"

    def remove(self) -> None:
        """Let the keeper take everything apart, and wait for it."""
        self._keeper.undo()
        if self.host is not None:
            self.host.close()
