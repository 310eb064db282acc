"""Build the web UI into zoe_api/static, unless it is there already for these sources.

Node comes from the lock file of the environment, so that every build is made by the same one; packages come from npm's
lock file. What is built is plain files: nothing of Node is needed to run Zoe.
"""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
STATIC = ROOT / "zoe_api" / "static"
STAMP = STATIC / ".stamp"
PACKAGES_STAMP = WEB / "node_modules" / ".zoe-stamp"
BIN = Path(sys.executable).parent
MADE = ("node_modules", "schema.d.ts")
TEXTS = ("text/", "image/svg+xml", "application/json")


def main() -> int:
    """Build when something has changed; `check` also checks types and style, and runs the unit tests."""
    install()
    if sys.argv[1:] == ["check"]:
        return npm("run", "-s", "check") or npm("run", "-s", "test")
    stamp = fingerprint(sources())
    if STAMP.exists() and STAMP.read_text() == stamp:
        return 0
    print("[web] building the web UI", flush=True)
    failed = npm("run", "-s", "build")
    if not failed:
        compress_texts()
        STAMP.write_text(stamp)
    return failed


def compress_texts() -> None:
    """A compressed file beside each text, so that no API process compresses them again when it starts."""
    for path in [path for path in STATIC.rglob("*") if path.is_file()]:
        media_type = mimetypes.guess_type(path.name)[0] or ""
        if media_type.startswith(TEXTS) or media_type.endswith("javascript"):
            path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))


def install() -> None:
    """The packages of npm's lock file, as they are written there."""
    stamp = fingerprint([WEB / "package-lock.json", BIN / "node"])
    if PACKAGES_STAMP.exists() and PACKAGES_STAMP.read_text() == stamp:
        return
    print("[web] packages from web/package-lock.json", flush=True)
    if npm("ci", "--no-audit", "--no-fund", "--loglevel", "error") != 0:
        sys.exit(1)
    PACKAGES_STAMP.write_text(stamp)


def npm(*arguments: str) -> int:
    """Run npm of the environment; its exit code."""
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run([str(BIN / "npm"), *arguments], cwd=WEB, env=env, check=False).returncode


def sources() -> Iterator[Path]:
    """Everything that the build is made from, this program included."""
    yield Path(__file__)
    yield ROOT / "docs" / "reference" / "openapi.json"
    for path in sorted(WEB.rglob("*")):
        if path.is_file() and not any(part in MADE for part in path.relative_to(WEB).parts):
            yield path


def fingerprint(paths: Iterator[Path] | list[Path]) -> str:
    """A name for the content of files."""
    digest = hashlib.sha256()
    for path in paths:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


if __name__ == "__main__":
    sys.exit(main())
