"""rclone, as an independent client, at a gateway before SeaweedFS: with Swift's protocol and with S3."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support import long
from tests.support.gateway import gateway_before_seaweedfs
from tests.support.object_store import logged_in
from zoe_embedded.home import Home
from zoe_embedded.runtimes.locked_programs import ensure_program
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.swift.store import ObjectStore

pytestmark = long.of_storage


@pytest.fixture(scope="module")
def gateway() -> Iterator[ObjectStore]:
    with gateway_before_seaweedfs() as made:
        yield made


@pytest.fixture
def remotes(gateway: ObjectStore, tmp_path: Path) -> Path:
    user, place = gateway.user("acme:ann"), urlsplit(gateway.auth_url)
    file = tmp_path / "rclone.conf"
    file.write_text(
        f"[swift]\ntype = swift\nauth = {gateway.auth_url}\nauth_version = 1\nuser = {user.login}\nkey = {user.key}\n"
        f"[s3]\ntype = s3\nprovider = Other\nendpoint = {place.scheme}://{place.netloc}\nregion = us-east-1\n"
        f"access_key_id = {user.login}\nsecret_access_key = {user.key}\nchunk_size = 5Mi\nupload_cutoff = 6Mi\n"
    )
    return file


def rclone(remotes: Path, *words: str) -> subprocess.CompletedProcess[str]:
    program = ensure_program(Home.find(CLONE).create(), "rclone", "rclone")
    command = [str(program), "--config", str(remotes), "--retries", "1", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize("remote", ["swift", "s3"])
def test_copied_files_come_back_unchanged(gateway: ObjectStore, remotes: Path, tmp_path: Path, remote: str) -> None:
    source, back, name = tmp_path / "source", tmp_path / "back", f"c-{os.urandom(4).hex()}"
    files = {"a": b"", "ä ö/b.txt": b"text", "d/e/f": os.urandom(200_000), "large": os.urandom(13 << 20)}
    for path, content in files.items():
        (source / path).parent.mkdir(parents=True, exist_ok=True)
        (source / path).write_bytes(content)
    there = f"{remote}:{name}"
    for words in (
        ("mkdir", there),
        ("copy", str(source), there),
        ("check", "--download", str(source), there),
        ("copy", there, str(back)),
    ):
        done = rclone(remotes, *words)
        assert done.returncode == 0, (words, done.stderr)
    found = {str(path.relative_to(back)): path.read_bytes() for path in back.rglob("*") if path.is_file()}
    assert found == files
    again = rclone(remotes, "copy", "-v", "--use-json-log", str(source), f"{remote}:{name}")
    assert again.returncode == 0, again.stderr
    moved = [json.loads(line)["msg"] for line in again.stderr.splitlines() if "Copied" in line]
    assert moved == [], "sizes and times of objects are right"
    assert rclone(remotes, "purge", f"{remote}:{name}").returncode == 0


def test_it_is_told_of_a_quota(gateway: ObjectStore, remotes: Path, tmp_path: Path) -> None:
    name = f"c-{os.urandom(4).hex()}"
    with logged_in(gateway, "acme:ann") as ann:
        ann.put(name, **{"X-Container-Meta-Quota-Bytes": "1000"})
    (tmp_path / "x").write_bytes(os.urandom(2000))
    for remote, word in (("swift", "Too Large"), ("s3", "EntityTooLarge")):
        done = rclone(remotes, "copyto", str(tmp_path / "x"), f"{remote}:{name}/x")
        assert (done.returncode != 0, word in done.stderr) == (True, True), done.stderr
