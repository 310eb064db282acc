"""Debian's base image: present, pulled, or bootstrapped under the same name."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from scripts.images.engine import BuildError, Engine, say

BASE = "debian:bookworm-slim"
SUITE = "bookworm"
DEFAULT_MIRROR = "http://deb.debian.org/debian"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
_PHASES = re.compile(r"I: (Checking|Base system|Unpacking the base|Installing|Configuring the base)")
# As in Debian's own image for containers: no documentation is installed, and no package file is kept.
_SLIM = {
    "etc/dpkg/dpkg.cfg.d/docker": "".join(
        f"path-exclude /usr/share/{folder}/*\n"
        for folder in ("doc", "groff", "info", "linda", "lintian", "locale", "man")
    )
    + "path-include /usr/share/doc/*/copyright\n",
    "etc/apt/apt.conf.d/docker-clean": (
        'DPkg::Post-Invoke { "rm -f /var/cache/apt/archives/*.deb /var/cache/apt/*.bin || true"; };\n'
        'Dir::Cache::pkgcache ""; Dir::Cache::srcpkgcache "";\n'
    ),
}
_UNREAD = (
    "var/cache/apt",
    "var/lib/apt/lists",
    "var/log",
    *(f"usr/share/{name}" for name in ("doc", "info", "locale", "man")),
)


def mirror() -> str:
    """Return the source of packages: Debian's present mirror, or the one in ZOE_DEBIAN_MIRROR, such as a dated
    snapshot.
    """
    return os.environ.get("ZOE_DEBIAN_MIRROR", DEFAULT_MIRROR).rstrip("/")


def identity() -> bytes:
    """Return the inputs of the base."""
    return f"{BASE} {SUITE} {mirror()} {Path(__file__).read_text()}".encode()


def sources(where: str) -> str:
    """Return apt's sources at a mirror: the release, its updates, and security beside it."""
    security = where.replace("/debian", "/debian-security", 1)
    # A snapshot's index has expired, but it is still signed.
    dated = "" if where == DEFAULT_MIRROR else "Check-Valid-Until: no\n"
    return "\n".join(
        f"Types: deb\nURIs: {uri}\nSuites: {suites}\nComponents: main\nSigned-By: {KEYRING}\n{dated}"
        for uri, suites in ((where, f"{SUITE} {SUITE}-updates"), (security, f"{SUITE}-security"))
    )


class Sources:
    """The sources of apt, the same whether the base was pulled or bootstrapped."""

    def identity(self) -> bytes:
        """Return the mirror."""
        return sources(mirror()).encode()

    def put(self, context: Path) -> None:
        """Write `debian.sources`."""
        (context / "debian.sources").write_text(sources(mirror()))


def ensure(engine: Engine) -> None:
    """Make sure that the base exists. Raises BuildError if it can neither be pulled nor bootstrapped."""
    if engine.image(BASE) or engine.succeeds("pull", BASE):
        return
    if shutil.which("debootstrap") is None or os.geteuid() != 0:
        raise BuildError(f"{BASE} cannot be pulled; as root and with debootstrap installed it is made here")
    say(f"{BASE} cannot be pulled: making it with debootstrap")
    with tempfile.TemporaryDirectory(prefix="zoe-debian-") as directory:
        root = Path(directory) / "root"
        engine.run(["debootstrap", "--variant=minbase", SUITE, str(root), mirror()], "debian", _PHASES)
        make_slim(root)
        with subprocess.Popen(["tar", "-C", str(root), "-c", "."], stdout=subprocess.PIPE) as packed:
            engine.run(["docker", "import", "-", BASE], "debian-import", stdin=packed.stdout)
        if packed.returncode != 0:
            raise BuildError("the bootstrapped base could not be packed")


def make_slim(root: Path) -> None:
    """Remove the files that Debian's own image for containers lacks, and keep packages from adding them again."""
    for name, text in _SLIM.items():
        (root / name).write_text(text)
    for folder in _UNREAD:
        for path in sorted((root / folder).rglob("*"), reverse=True):
            if path.is_dir() and not path.is_symlink():
                if not any(path.iterdir()):
                    path.rmdir()
            elif path.name != "copyright":
                path.unlink()
