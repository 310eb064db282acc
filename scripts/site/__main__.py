"""Build the documentation site into zoe_api/docs_site, unless it is up to date.

Sphinx has an environment of its own, build/docs-env, made from requirements/docs.lock. Warnings are errors: a broken
link or anchor fails the build. The result is plain files that need no other host, served under /docs/.
"""

from __future__ import annotations

import fcntl
import gzip
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from scripts.site import api_pages, rest, strict_pages
from scripts.site.staging import ROOT, stage
from scripts.web import fingerprint
from zoe_embedded.runtimes.pip_configuration import download_environment

ENVIRONMENT = ROOT / "build" / "docs-env"
STAGED, BUILT, PUBLISHED = (ROOT / "build" / name for name in ("docs-source", "docs-html", "docs-served"))
SITE = ROOT / "zoe_api" / "docs_site"
STAMP = SITE / ".stamp"
LOCK = ROOT / "requirements" / "docs.lock"
SOURCES = (
    *(
        "docs/**/*.md",
        "docs/**/*.png",
        "docs/**/*.svg",
        "docs/**/*.json",
        "docs/**/*.csv",
        "*.md",
        "app_descriptions/*.md",
        "scripts/site/**/*",
    ),
    *("requirements/docs.lock", "pyproject.toml", "app_descriptions/**/*.json", "zoe_client/**/*.py"),
    *("zoe_master/backends/base.py", "zoe_lib/store/base.py", "storage_bridge/base.py", "storage_bridge/values.py"),
)
"""Everything from which pages are made: the API reference reads docstrings."""
_NOT_SERVED = {".doctrees", ".buildinfo", "objects.inv"}
_TEXTS = {".html", ".js", ".css", ".svg", ".json", ".csv", ".txt"}


def main() -> int:
    """Build after changes, one process at a time."""
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / "docs.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return build()


def build() -> int:
    """Build the site unless it is that of the present sources; return the exit code."""
    stamp = fingerprint(list(sources()))
    if STAMP.exists() and STAMP.read_text() == stamp:
        return 0
    prepare()
    print("[docs] building the documentation site", flush=True)
    stage(STAGED, {**rest.pages(), **api_pages.pages()})
    failed = sphinx()
    if not failed:
        publish(stamp)
    return failed


def sources() -> Iterator[Path]:
    """Return the files from which the site is built."""
    for pattern in SOURCES:
        yield from sorted(path for path in ROOT.glob(pattern) if path.is_file() and path.suffix != ".pyc")


def prepare() -> None:
    """Install Sphinx, unless the environment is that of the lock file."""
    stamp, wanted = ENVIRONMENT / "zoe.stamp", f"{sys.version}\n{LOCK.read_text()}"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    print("[docs] packages from requirements/docs.lock", flush=True)
    uv, env = Path(sys.executable).parent / "uv", download_environment(Path(sys.executable))
    install = ("pip", "install", "-q", "--python", ENVIRONMENT / "bin" / "python", "--require-hashes", "-r", LOCK)
    for words in (("venv", "-q", "--clear", "--python", sys.executable, ENVIRONMENT), install):
        subprocess.run([str(word) for word in (uv, *words)], check=True, env=env)
    stamp.write_text(wanted)


def sphinx() -> int:
    """Write all pages to build/docs-html, as each shows the navigation; return the exit code."""
    program = [str(ENVIRONMENT / "bin" / "python"), "-m", "sphinx", "-q", "-W", "--keep-going", "-a", "-j", "auto"]
    settings = ["-b", "html", "-c", str(ROOT / "scripts" / "site")]
    return subprocess.run([*program, *settings, str(STAGED), str(BUILT)], check=False).returncode


def publish(stamp: str) -> None:
    """Copy what is served, and compress texts; then replace zoe_api/docs_site, which programs may be serving."""
    shutil.rmtree(PUBLISHED, ignore_errors=True)
    shutil.copytree(BUILT, PUBLISHED, ignore=lambda _folder, names: _NOT_SERVED.intersection(names))
    strict_pages.rewrite(PUBLISHED)
    for path in [path for path in PUBLISHED.rglob("*") if path.suffix in _TEXTS]:
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    (PUBLISHED / STAMP.name).write_text(stamp)
    shutil.rmtree(SITE, ignore_errors=True)
    PUBLISHED.rename(SITE)


if __name__ == "__main__":
    sys.exit(main())
