"""An image with the git of this machine, and a server that containers reach."""

from __future__ import annotations

import ctypes
import io
import os
import re
import socket
import subprocess
import tarfile
import threading
from pathlib import Path
from typing import Any

from tests.swarm.engine_host import EngineHost

IMAGE = "zoe/git"
_CLONE_NEWNET = 0x40000000
# Those of the C library are the image's.
_OF_LIBC = re.compile(r"/(ld-linux|libc|libm|libdl|librt|libpthread|libresolv)[.-]")
_WRAPPER = """#!/bin/sh
export LD_LIBRARY_PATH=/opt/git/lib GIT_EXEC_PATH=/opt/git/core
exec /opt/git/core/git "$@"
"""
_CONFIGURATION = "[http]\n\tsslCAInfo = /opt/git/ca.pem\n"


def make_git_image(host: EngineHost, base: str, authority: Path) -> None:
    """Make it on a node of an image that is there; its git trusts the authority."""
    api: Any = host.api
    made = api.create_container(base, ["true"])["Id"]
    api.put_archive(made, "/", _packed(authority))
    repository, tag = IMAGE, "latest"
    api.commit(made, repository, tag)
    api.remove_container(made, force=True)


def listen_in(host: EngineHost) -> socket.socket:
    """A socket of this process that listens in the network of a node."""
    found: list[socket.socket] = []

    def make() -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        space = os.open(f"/proc/{host.first_pid}/ns/net", os.O_RDONLY)
        try:
            if libc.setns(space, _CLONE_NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        finally:
            os.close(space)
        found.append(socket.create_server((host.address, 0)))

    thread = threading.Thread(target=make)  # it alone enters the network
    thread.start()
    thread.join()
    return found[0]


def _packed(authority: Path) -> bytes:
    core = Path("/usr/lib/git-core")
    told = subprocess.run(
        ["ldd", core / "git", core / "git-remote-https"], capture_output=True, text=True, check=True
    ).stdout
    libraries = {path for path in re.findall(r"(/\S+) \(0x", told) if not _OF_LIBC.search(path)}
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in ("git", "git-remote-http"):
            archive.add(core / name, f"opt/git/core/{name}")
        for path in sorted(libraries):
            archive.add(Path(path).resolve(), f"opt/git/lib/{Path(path).name}")
        archive.add(authority, "opt/git/ca.pem")
        link = tarfile.TarInfo("opt/git/core/git-remote-https")
        link.type, link.linkname = tarfile.SYMTYPE, "git-remote-http"
        archive.addfile(link)
        for name, text, mode in (("usr/bin/git", _WRAPPER, 0o755), ("etc/gitconfig", _CONFIGURATION, 0o644)):
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(text), mode
            archive.addfile(entry, io.BytesIO(text.encode()))
    return packed.getvalue()
