"""Give the workspace of a user who leaves to another one, by a container on a node that mounts the workspaces.

It runs as root, sees the tenant's directory only, and has the capabilities to change owners and to enter private
directories. It follows no link (`workspaces/program.py`).
"""

from __future__ import annotations

import posixpath
import threading
from pathlib import Path

from zoe_lib.domain.applications.images import full_name
from zoe_master.backends.base import BackendError, WorkspaceMove
from zoe_master.backends.engine.daemon.engine_events import EngineEvents
from zoe_master.backends.engine.daemon.engine_watches import EngineWatches
from zoe_master.backends.engine.daemon.files.file_containers import WorkspaceUser
from zoe_master.backends.engine.daemon.files.path_checks import PathChecks
from zoe_master.backends.engine.daemon.probe_containers import LONGEST_S, ImageProgram, ask
from zoe_master.backends.engine.errors import UNREACHABLE, error_text_of
from zoe_master.backends.engine.settings import EngineSettings
from zoe_master.backends.engine.spec.mounts.host_paths import HostPath, workspaces_of
from zoe_master.backends.engine.spec.template_values import WORKSPACE
from zoe_master.backends.services.failures import CannotStartError
from zoe_master.backends.workspaces import program as workspace_program

_SEEN_AT = "/zoe-workspaces"
_CHECK_S = 60.0
_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE")
_PROGRAM = Path(workspace_program.__file__).read_text()


class WorkspaceGiving:
    """Finds a node and runs the program there."""

    def __init__(self, watches: EngineWatches, paths: PathChecks, settings: EngineSettings) -> None:
        self._watches = watches
        self._paths = paths
        self._settings = settings

    def give(self, move: WorkspaceMove, closing: threading.Event) -> str:
        """Move it, and return the name of the directory in the new owner's workspace; empty if there was nothing to
        move.

        Raises BackendError, CannotStartError.
        """
        former = workspaces_of(WorkspaceUser(move.tenant, move.user, move.system_user), self._settings)
        found = workspaces_of(WorkspaceUser(move.tenant, move.to, move.to_system_user), self._settings)
        if not found or found[WORKSPACE].owned is None:
            return ""  # there are no workspaces, or one for all users of the tenant
        if not self._settings.gateway_image:
            raise BackendError(
                "cannot move files: this needs a container, whose image is the setting swarm_gateway_image; set it"
            )
        why = f"no node with the image {self._settings.gateway_image} answers"
        for watch in self._candidates():
            if closing.is_set():
                break
            try:
                self._paths.wait(watch.node, found.values(), _CHECK_S)
                return self._run_program(watch, former[WORKSPACE], found[WORKSPACE])
            except CannotStartError as error:
                why = str(error)
            except UNREACHABLE as error:
                why, _ = error_text_of(f"{watch.node} cannot move them", error)
        raise BackendError(f"the files of {move.user} stay: {why}")

    def _candidates(self) -> list[EngineEvents]:
        image = full_name(self._settings.gateway_image)
        return [w for w in self._watches.watches() if w.reachable and not w.unfit and image in (w.images or ())]

    def _run_program(self, watch: EngineEvents, former: HostPath, heir: HostPath) -> str:
        assert former.owned is not None
        assert heir.owned is not None
        names = [posixpath.basename(path.path) for path in (former, heir)]
        arguments = [
            *("-I", "-S", "-c", _PROGRAM, _SEEN_AT, *names),
            *(str(former.owned.uid), str(heir.owned.uid)),
        ]
        program = ImageProgram(
            "python3", arguments, "0:0", changes=(heir.holder, _SEEN_AT), timeout_s=LONGEST_S,
            capabilities=_CAPABILITIES, errors=True,
        )  # fmt: skip
        image, installation = full_name(self._settings.gateway_image), self._settings.installation
        code, said = ask(watch.engine.api, image, installation, program)
        if code != 0:
            raise BackendError(
                f"{former.path} cannot be moved: {said.strip()[-500:]}. On the file server: "
                f"chown -hR --from={former.owned.uid} {heir.owned.uid} {former.path} && "
                f"mv {former.path} {heir.path}/from-{names[0]}"
            )
        return said.strip()
