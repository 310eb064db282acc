"""A release that is signed with a key made for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from scripts.release import KNOWN, NAMESPACE, SUMS, gather


@pytest.fixture
def key(tmp_path: Path) -> Path:
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True)
    (tmp_path / "signers").write_text(f"zoe {(tmp_path / 'key.pub').read_text()}")
    return tmp_path / "key"


def verified(place: Path, signers: Path) -> bool:
    words = ("-Y", "verify", "-n", NAMESPACE, "-I", "zoe", "-f", str(signers), "-s", str(place / f"{SUMS}.sig"))
    signed = subprocess.run(["ssh-keygen", *words], input=(place / SUMS).read_bytes(), capture_output=True, check=False)
    summed = subprocess.run(["sha256sum", "--quiet", "-c", SUMS], cwd=place, capture_output=True, check=False)
    return (signed.returncode, summed.returncode) == (0, 0)


def test_everything_in_it_is_signed(key: Path, tmp_path: Path) -> None:
    files = [tmp_path / "zoe_client-1-py3-none-any.whl", tmp_path / "server.cdx.json"]
    for file in files:
        file.write_text(file.name)
    place = tmp_path / "release"
    gather(place, files, "server.lock: 90 packages, 0 with known vulnerabilities\n", key)
    assert {path.name for path in place.iterdir()} == {*(file.name for file in files), KNOWN, SUMS, f"{SUMS}.sig"}
    assert verified(place, tmp_path / "signers")
    for changed in (place / KNOWN, place / files[0].name, place / SUMS):
        content = changed.read_bytes()
        changed.write_bytes(content + b"x")
        assert not verified(place, tmp_path / "signers"), changed
        changed.write_bytes(content)


def test_a_key_that_cannot_sign_ends_it(key: Path, tmp_path: Path) -> None:
    key.chmod(0o644)
    with pytest.raises(subprocess.CalledProcessError):
        gather(tmp_path / "release", [], "", key)
