"""Takes a test swarm apart once its maker is done with it or dead: run as a process of its own, by its path.

Arguments: the swarm's directory, its bridge or "", its control group, and whether forwarding had to be allowed or "".
It waits for the end of its standard input, which the maker holds open.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

DEADLINE_S = 20.0


def main() -> None:
    """Wait, then undo everything in the order in which one thing keeps another alive."""
    base, bridge, cgroup, forwarding = sys.argv[1:5]
    print("watching", flush=True)
    sys.stdin.buffer.read()
    for holder in Path(base).glob("*/holder"):
        with contextlib.suppress(ProcessLookupError, ValueError):
            os.kill(int(holder.read_text()), signal.SIGKILL)
    if forwarding:
        subprocess.run(["iptables", "-D", "FORWARD", "-i", bridge, "-o", bridge, "-j", "ACCEPT"], check=False)
    for cable in [*Path("/sys/class/net").glob(f"{bridge}v*"), Path(bridge)] if bridge else []:
        subprocess.run(["ip", "link", "delete", cable.name], check=False, stderr=subprocess.DEVNULL)
    until_gone(cgroup)
    until_no_loops(base)
    shutil.rmtree(base, ignore_errors=True)


def until_gone(cgroup: str) -> None:
    """Remove the control groups as soon as the last process has left them."""
    end_s = time.monotonic() + DEADLINE_S
    name, tree = cgroup.lstrip("/"), Path("/sys/fs/cgroup")
    while groups := [*tree.glob(f"*/{name}"), *tree.glob(name)]:
        for group in groups:
            for directory, _, _ in os.walk(group, topdown=False):
                with contextlib.suppress(OSError):
                    Path(directory).rmdir()
        if time.monotonic() > end_s:
            return
        time.sleep(0.05)
    above = name.rpartition("/")[0]  # the engine has made it in each hierarchy, and the part's own is not empty yet
    for group in tree.glob(f"*/{above}") if above else []:
        with contextlib.suppress(OSError):
            group.rmdir()


def until_no_loops(base: str) -> None:
    """The kernel lets a loop device go when the last mount of it has gone with its namespace."""
    end_s = time.monotonic() + DEADLINE_S
    while base in subprocess.run(["losetup", "-a"], capture_output=True, text=True, check=False).stdout:
        if time.monotonic() > end_s:
            return
        time.sleep(0.05)


if __name__ == "__main__":
    main()
