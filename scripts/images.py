"""Build the images of app_descriptions/images with the `docker` command, and say how large they are.

Arguments: names of images; none builds all, in order. Where no registry can be reached, root gets Debian's base with
debootstrap. A folder app_descriptions/images/ca may hold certificates (*.crt) of a network's own authority.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from zoe_embedded.runtime import spark_packages

ROOT = Path(__file__).resolve().parent.parent
IMAGES = ROOT / "app_descriptions" / "images"
BASE = "debian:bookworm-slim"
SUITE, MIRROR = "bookworm", "http://deb.debian.org/debian"
# Image -> other names for it. The order is that in which one is built upon another.
NAMES: dict[str, list[str]] = {"tiny": [], "base": ["python"], "spark": [], "mpi": []}
MAVEN = "https://repo1.maven.org/maven2/"
JARS = {
    "com/ibm/stocator/stocator/1.1.4/stocator-1.1.4.jar": (
        "f322669b7dbe9d5f5281eeb8969284e4c6ef60e951f3330ac1aae2a4494d5565"
    ),
    "org/javaswift/joss/0.10.3/joss-0.10.3.jar": "38e03567392ef9b92d5060694478755992aba563eb15de648b46c3c14faacfb7",
    "com/googlecode/json-simple/json-simple/1.1.1/json-simple-1.1.1.jar": (
        "4e69696892b88b41c55d49ab2fdcc21eead92bf54acc588c0050596c3b75199c"
    ),
}


def main() -> int:
    """Build what is named on the command line, or everything."""
    chosen = sys.argv[1:] or list(NAMES)
    unknown = [name for name in chosen if name not in NAMES]
    if unknown:
        print(f"unknown: {', '.join(unknown)}; there are {', '.join(NAMES)}", file=sys.stderr)
        return 2
    if not docker_answers():
        print("no Docker Engine answers; install one (docker.io), or set DOCKER_HOST", file=sys.stderr)
        return 1
    if "base" in chosen:
        ensure_debian()
    for name in chosen:
        build(name)
    report(chosen)
    return 0


def build(name: str) -> None:
    """One image, from its Dockerfile and what is gathered for it."""
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="zoe-image-") as directory:
        context = Path(directory)
        shutil.copytree(IMAGES / name, context, dirs_exist_ok=True)
        gather = GATHERED.get(name)
        if gather is not None:
            gather(context)
        say(f"zoe/{name}: building")
        # The host's network also serves engines without a bridge, and name servers on loopback.
        docker("build", "--network", "host", "--tag", f"zoe/{name}", str(context))
    for other in NAMES[name]:
        docker("tag", f"zoe/{name}", f"zoe/{other}")
    say(f"zoe/{name}: {time.monotonic() - began_s:.0f} s")


def gather_authorities(context: Path) -> None:
    """Certificates of the network's own authority, if it has one."""
    (context / "ca").mkdir(exist_ok=True)
    for certificate in (IMAGES / "ca").glob("*.crt"):
        shutil.copy(certificate, context / "ca")


def gather_busybox(context: Path) -> None:
    """Debian's static busybox, linked under each of its names."""
    busybox = shutil.which("busybox")
    if busybox is None or b"ld-linux" in Path(busybox).read_bytes()[:4096]:  # its interpreter's name, if it has one
        raise SystemExit("zoe/tiny is made of a static busybox: apt-get install busybox-static")
    root = context / "root"
    for folder, mode in (("bin", 0o755), ("etc", 0o755), ("tmp", 0o1777)):
        (root / folder).mkdir(parents=True)
        (root / folder).chmod(mode)
    shutil.copy(busybox, root / "bin" / "busybox")
    (root / "etc" / "passwd").write_text("root:x:0:0:root:/:/bin/sh\nnobody:x:65534:65534:nobody:/tmp:/bin/sh\n")
    listed = subprocess.run([busybox, "--list"], capture_output=True, text=True, check=True).stdout.split()
    for applet in listed:
        if applet != "busybox":
            (root / "bin" / applet).symlink_to("busybox")


def gather_spark(context: Path) -> None:
    """PySpark and its needs at the locked versions, and the jars of Stocator, checked against their hashes."""
    spark_packages(context / "site")
    (context / "jars").mkdir()
    for path, wanted in JARS.items():
        target = context / "jars" / path.rpartition("/")[2]
        with urllib.request.urlopen(MAVEN + path, timeout=120) as answer:  # noqa: S310 - a constant https address
            target.write_bytes(answer.read())
        if hashlib.sha256(target.read_bytes()).hexdigest() != wanted:
            raise SystemExit(f"{path} is not what it was when its hash was written down")


def gather_mpi(context: Path) -> None:
    """The catalogue's own MPI program."""
    shutil.copy(ROOT / "app_descriptions" / "programs" / "mpi_pi.c", context)


GATHERED = {"base": gather_authorities, "tiny": gather_busybox, "spark": gather_spark, "mpi": gather_mpi}


def ensure_debian() -> None:
    """Debian's base: there already, pulled, or bootstrapped under the same name."""
    if quiet("image", "inspect", BASE) or quiet("pull", BASE):
        return
    if shutil.which("debootstrap") is None or os.geteuid() != 0:
        raise SystemExit(f"{BASE} cannot be pulled; as root and with debootstrap installed it is made here")
    say(f"{BASE} cannot be pulled: making it with debootstrap")
    with tempfile.TemporaryDirectory(prefix="zoe-debian-") as directory:
        root = Path(directory) / "root"
        subprocess.run(["debootstrap", "--variant=minbase", SUITE, str(root), MIRROR], check=True)
        for folder in ("var/cache/apt/archives", "var/lib/apt/lists"):
            for leftover in (path for path in (root / folder).rglob("*") if path.is_file()):
                leftover.unlink()
        packed = subprocess.Popen(["tar", "-C", str(root), "-c", "."], stdout=subprocess.PIPE)
        subprocess.run(["docker", "import", "-", BASE], stdin=packed.stdout, check=True)
        if packed.wait() != 0:
            raise SystemExit("the bootstrapped base could not be packed")


def docker_answers() -> bool:
    """Whether there is an engine to build with."""
    return shutil.which("docker") is not None and quiet("version")


def report(names: list[str]) -> None:
    """The size of each image."""
    for name in names:
        size = subprocess.run(
            ["docker", "image", "inspect", "--format", "{{.Size}}", f"zoe/{name}"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        print(f"zoe/{name:<16}{int(size) / 2**20:8.0f} MiB")


def quiet(*arguments: str) -> bool:
    """Whether a docker command succeeds."""
    return subprocess.run(["docker", *arguments], capture_output=True, check=False).returncode == 0


def docker(*arguments: str) -> None:
    """A docker command that must succeed; its output is the progress."""
    # The builder that every engine has; the newer one is an extra package on Debian.
    environment = {"DOCKER_BUILDKIT": "0", **os.environ}
    subprocess.run(["docker", *arguments], check=True, env=environment)


def say(text: str) -> None:
    """Progress."""
    print(f"[{text}]", flush=True)


if __name__ == "__main__":
    sys.exit(main())
