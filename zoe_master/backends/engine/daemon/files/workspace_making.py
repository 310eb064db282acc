"""Create workspace directories on the shared file system, if root of a node may write there.

Programs run as root with no capability but CHOWN. So they can make missing directories, and change those of root, which
no tenant can replace. Directories of the former common user of all components are given away as this user, who cannot
give away files of other users.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Any

from zoe_master.backends.engine.daemon.probe_containers import LONGEST_S, ImageProgram, ask
from zoe_master.backends.engine.settings import EngineSettings
from zoe_master.backends.engine.spec.mounts.host_paths import HostPath
from zoe_master.backends.workspaces.layout import HOLDER_MODE

_SEEN_AT = "/zoe-workspaces"

# Arguments: directory of all tenants, tenant, its mode. A move that was interrupted continues where it ended.
_SET_ASIDE = """
cd "$1" || exit
[ -L "$2" ] && exit 1
if [ -d "$2" ] && [ "$(stat -c %u "$2")" != 0 ] && [ ! -e ".$2.moving" ]; then mv -T "$2" ".$2.moving" || exit; fi
[ -d "$2" ] || mkdir -m "$3" "$2" || exit
[ ! -d ".$2.moving" ] || stat -c %u ".$2.moving"
"""
GIVE_TO_GROUP = """
find "$1" -xdev -user "$2" -type d -exec chgrp "$3" {} + -exec chmod g+rwxs {} + \
-o -user "$2" -type f -links 1 -exec chgrp "$3" {} + -exec chmod g+rwX {} +
"""
# Arguments: directory of all tenants, tenant, the tenant's group, and three for each workspace.
_MAKE = """
cd "$1/$2" || exit
if [ -d "../.$2.moving" ]; then
  chown "0:$3" "../.$2.moving" && chmod 2770 "../.$2.moving" && mv -T "../.$2.moving" shared || exit
fi
group="$3"
shift 3
while [ $# -gt 0 ]; do
  [ -d "$1" ] || mkdir -m 700 "$1" || exit
  if [ "$(stat -c %u "$1")" = 0 ]; then
    # Only a member of its group may set the set-group-ID bit, and only its owner the mode.
    chown "0:$group" "$1" && chmod "$3" "$1" && chown "$2" "$1" || exit
  fi
  shift 3
done
"""


def make_workspaces(api: Any, image: str, paths: Sequence[HostPath], settings: EngineSettings) -> str:
    """Make the workspaces of a user and of the user's tenant; return the errors of the programs."""
    holder = PurePosixPath(paths[0].holder)
    gid = next(path.owned.gid for path in paths if path.owned is not None)

    def run(script: str, *arguments: str, user: str) -> tuple[int, str]:
        words = ["-c", f"exec 2>&1\n{script}", "sh", *arguments]
        program = ImageProgram("/bin/sh", words, user, changes=(str(holder.parent), _SEEN_AT), timeout_s=LONGEST_S)
        return ask(api, image, settings.installation, program)

    code, said = run(_SET_ASIDE, _SEEN_AT, holder.name, f"{HOLDER_MODE:o}", user="0:0")
    if code != 0:
        return said.strip()
    if (former := said.strip()) not in ("", "0"):
        run(GIVE_TO_GROUP, f"{_SEEN_AT}/.{holder.name}.moving", former, str(gid), user=f"{former}:{gid}")
    wanted: list[str] = []
    for path in paths:
        if (owned := path.owned) is not None:
            wanted += [PurePosixPath(path.path).name, f"{owned.uid}:{owned.gid}", f"{owned.mode:o}"]
    _, said = run(_MAKE, _SEEN_AT, holder.name, str(gid), *wanted, user=f"0:{gid}")
    return said.strip()
