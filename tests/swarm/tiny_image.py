"""The images of the tests, made of programs that this machine has, so that no registry and no build is needed."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path

PASSWD = "root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n"
GATEWAY = Path(__file__).resolve().parents[2] / "app_descriptions" / "images" / "gateway"
GATEWAY_SETTINGS = ["ENV PATH=/bin", 'ENTRYPOINT ["zoe-gateway"]']


def tiny_image(busybox: str) -> bytes:
    """Debian's static busybox and nothing else, as a tar archive of a root file system."""
    return _packed(busybox, {})


def gateway_image(busybox: str, haproxy: str) -> bytes:
    """What `make images` makes of Debian's HAProxy, with the libraries of the one that is installed here."""
    linked = subprocess.run(["ldd", haproxy], capture_output=True, text=True, check=True).stdout
    libraries = [Path(path) for path in re.findall(r"(/\S+) \(0x", linked)]
    files = {str(path).lstrip("/"): path for path in libraries}
    files |= {"bin/haproxy": Path(haproxy), "bin/zoe-gateway": GATEWAY / "start"}
    return _packed(busybox, {**files, "etc/zoe-gateway.cfg": GATEWAY / "haproxy.cfg"})


def _packed(busybox: str, files: Mapping[str, Path]) -> bytes:
    applets = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, mode in (("bin", 0o755), ("etc", 0o755), ("run", 0o755), ("tmp", 0o1777)):
            directory = tarfile.TarInfo(name)
            directory.type, directory.mode = tarfile.DIRTYPE, mode
            archive.addfile(directory)
        for name, source in {"bin/busybox": Path(busybox), **files}.items():
            _add(archive, name, source.read_bytes(), 0o644 if name.startswith("etc/") else 0o755)
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
