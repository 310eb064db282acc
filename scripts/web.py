"""Build the web UI and the client's wheel into zoe_api/static, unless they are up to date.

Node comes from the environment's lock file, so that every build uses the same one; packages come from npm's lock file.
The result is plain files: Zoe does not need Node to run.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from zoe_embedded.runtimes.pip_configuration import download_environment

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
STATIC = ROOT / "zoe_api" / "static"
STAMP = STATIC / ".stamp"
PACKAGES_STAMP = WEB / "node_modules" / ".zoe-stamp"
BIN = Path(sys.executable).parent
CLIENT = ("zoe_client", "zoe_cli", "zoe_job", "packaging/client")
CODE = (".py", ".toml", ".md", ".json")
CLIENT_STAMP = STATIC / "client" / ".stamp"
MADE = ("node_modules", "schema.d.ts")
TEXTS = ("text/", "image/svg+xml", "application/json")


def main() -> int:
    """Build after changes; `check` also checks types and style, and runs the unit tests."""
    install()
    if sys.argv[1:] == ["check"]:
        return npm("run", "-s", "check") or npm("run", "-s", "test")
    return build_pages() or build_client()


def build_pages() -> int:
    """Build the pages; return the exit code."""
    stamp = fingerprint(sources())
    if STAMP.exists() and STAMP.read_text() == stamp:
        return 0
    print("[web] building the web UI", flush=True)
    failed = npm("run", "-s", "build")
    if not failed:
        compress_texts()
        STAMP.write_text(stamp)
    return failed


def build_client() -> int:
    """Build the wheel of the command line and SDK, which the account page offers; return the exit code."""
    stamp = fingerprint(sorted(path for part in CLIENT for path in (ROOT / part).rglob("*") if path.suffix in CODE))
    if CLIENT_STAMP.exists() and CLIENT_STAMP.read_text() == stamp:
        return 0
    print("[web] building the wheel zoe-client", flush=True)
    shutil.rmtree(CLIENT_STAMP.parent, ignore_errors=True)
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(CLIENT_STAMP.parent)]
    failed = subprocess.run(build, cwd=ROOT / "packaging" / "client", stdout=subprocess.DEVNULL, check=False).returncode
    if not failed:
        CLIENT_STAMP.write_text(stamp)
    return failed


def compress_texts() -> None:
    """Write a compressed file beside each text, so that no API process compresses them again at start."""
    for path in [path for path in STATIC.rglob("*") if path.is_file()]:
        media_type = mimetypes.guess_type(path.name)[0] or ""
        if media_type.startswith(TEXTS) or media_type.endswith("javascript"):
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def install() -> None:
    """Install the packages of npm's lock file."""
    stamp = fingerprint([WEB / "package-lock.json", BIN / "node"])
    if PACKAGES_STAMP.exists() and PACKAGES_STAMP.read_text() == stamp:
        return
    print("[web] packages from web/package-lock.json", flush=True)
    if npm("ci", "--no-audit", "--no-fund", "--loglevel", "error") != 0:
        sys.exit(1)
    PACKAGES_STAMP.write_text(stamp)


def npm(*arguments: str) -> int:
    """Run npm of the environment; return its exit code."""
    env = {**download_environment(Path(sys.executable)), "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run([str(BIN / "npm"), *arguments], cwd=WEB, env=env, check=False).returncode


def sources() -> Iterator[Path]:
    """Return everything from which the UI is built, this program included."""
    yield Path(__file__)
    yield ROOT / "docs" / "reference" / "openapi.json"
    for path in sorted(WEB.rglob("*")):
        if path.is_file() and not any(part in MADE for part in path.relative_to(WEB).parts):
            yield path


def fingerprint(paths: Iterator[Path] | list[Path]) -> str:
    """Return a name for the content of files."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
