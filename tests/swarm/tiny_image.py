"""The image of the tests: Debian's static busybox and nothing else, so that no registry is needed."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

PASSWD = "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n"


def tiny_image(busybox: str) -> bytes:
    """A root file system as a tar archive."""
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, mode in (("bin", 0o755), ("etc", 0o755), ("tmp", 0o1777)):
            directory = tarfile.TarInfo(name)
            directory.type, directory.mode = tarfile.DIRTYPE, mode
            archive.addfile(directory)
        _add(archive, "bin/busybox", Path(busybox).read_bytes(), 0o755)
        _add(archive, "etc/passwd", PASSWD.encode(), 0o644)
        for applet in applets:
            if applet != "busybox":
                link = tarfile.TarInfo(f"bin/{applet}")
                link.type, link.linkname = tarfile.SYMTYPE, "busybox"
                archive.addfile(link)
    return packed.getvalue()


def _add(archive: tarfile.TarFile, name: str, content: bytes, mode: int) -> None:
    entry = tarfile.TarInfo(name)
    entry.size, entry.mode = len(content), mode
    archive.addfile(entry, io.BytesIO(content))
