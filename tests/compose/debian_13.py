"""Compose 2.26 as Debian 13 packs it, from Debian's mirror, checked by apt with the keys of this system."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from scripts.images import debian
from tests.support.needs import need_program

SUITE, PACKAGE = "trixie", "docker-compose"
VERSION = "2.26"
_PLUGIN = Path("usr/libexec/docker/cli-plugins/docker-compose")
_TIMEOUT_S = 300


def plugins_with_compose() -> Path:
    """A configuration directory of `docker` with the plugin `compose`; a skip where it cannot be had."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "zoe" / f"compose-{VERSION}"
    program = cache / "cli-plugins" / "docker-compose"
    if not program.exists():
        for needed in ("apt-get", "dpkg-deb"):
            need_program(needed)
        with tempfile.TemporaryDirectory(prefix="zoe-debian-13-") as name:
            draft = Path(name)
            _download(draft)
            (cache / "cli-plugins").mkdir(parents=True, exist_ok=True)
            draft_program = program.with_name(f"docker-compose-{os.getpid()}")
            shutil.copy(draft / "root" / _PLUGIN, draft_program)
            draft_program.rename(program)
    said = subprocess.run([program, "version", "--short"], capture_output=True, text=True, check=True).stdout
    assert said.startswith(VERSION), said
    return cache


def _download(draft: Path) -> None:
    """Unpack the package below `root`."""
    source = f"Types: deb\nURIs: {debian.mirror()}\nSuites: {SUITE}\nComponents: main\nSigned-By: {debian.KEYRING}\n"
    (draft / f"{SUITE}.sources").write_text(source)
    for directory in ("lists/partial", "archives/partial", "root"):
        (draft / directory).mkdir(parents=True)
    # Its own sources and lists: what this system installs stays as it is.
    apt = [
        "apt-get", "-qq", "-o", f"Dir::Etc::sourcelist={draft}/{SUITE}.sources", "-o", "Dir::Etc::sourceparts=-",
        "-o", f"Dir::State::lists={draft}/lists", "-o", f"Dir::Cache={draft}", "-o", "APT::Sandbox::User=root",
    ]  # fmt: skip
    for arguments in ([*apt, "-o", "APT::Update::Error-Mode=any", "update"], [*apt, "download", PACKAGE]):
        done = subprocess.run(
            arguments, cwd=draft, capture_output=True, text=True, timeout=_TIMEOUT_S, check=False
        )  # fmt: skip
        if done.returncode != 0:
            pytest.skip(f"missing network: {PACKAGE} of Debian 13 cannot be had: {done.stderr.strip()[-200:]}")
    [package] = draft.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", package, draft / "root"], check=True, timeout=_TIMEOUT_S)
