"""secret: values come from files or standard input, and are never shown."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Zoe
from tests.cli.server import READER, Server

VALUE = "a-value-that-nobody-may-see"


def test_secrets_are_set_listed_and_removed(server: Server, zoe: Zoe, tmp_path: Path) -> None:
    (tmp_path / "value").write_text(VALUE + "\n")
    by_file = zoe("secret", "set", "file", "--from-file", str(tmp_path / "value"))
    by_pipe = zoe(
        "secret",
        "set",
        "pipe",
        stdin=VALUE.encode() + b"\n",
    )
    (tmp_path / "key").write_text("two\nlines\n")
    keys = [
        zoe("secret", "set", "key1", "--from-file", str(tmp_path / "key")),
        zoe("secret", "set", "key2", stdin=b"two\nlines\n"),
    ]
    assert [key.code for key in (by_file, by_pipe, *keys)] == [0] * 4
    listed = zoe("secret", "ls")
    assert [line.split()[0] for line in listed.out.splitlines()[1:]] == ["file", "key1", "key2", "pipe"]
    sizes = [secret["size_bytes"] for secret in zoe("secret", "ls", "-o", "json").json()["secrets"]]
    assert sizes == [len(VALUE), 10, 10, len(VALUE)]
    assert [zoe("secret", "rm", name).code for name in ("key1", "key2")] == [0, 0]
    assert VALUE not in "".join(result.out + result.err for result in (by_file, by_pipe, listed))
    assert zoe("secret", "rm", "file", "-o", "json").json() == {"removed": "file"}
    assert zoe("secret", "rm", "file").code == 3
    assert zoe("secret", "rm", "pipe").code == 0


def test_invalid_secret_is_refused_without_its_value(server: Server, zoe: Zoe, tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    assert zoe("secret", "set", "x", "--from-file", str(tmp_path / "binary")).code == 2
    assert zoe("secret", "set", "x", "--from-file", str(tmp_path / "none")).code == 2
    long = zoe("secret", "set", "x", stdin=VALUE.encode() * 4096)
    assert long.code != 0
    assert VALUE not in long.out + long.err
    assert zoe("secret", "set", "x", token=READER, stdin=b"v").code == 4
    assert zoe("secret", "ls", "-o", "json").json() == {"secrets": []}
