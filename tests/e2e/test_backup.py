"""A backup of an active installation, restored into an empty database: executions continue, and all users can sign
in.
"""

from __future__ import annotations

import io
import json
import os
import resource
import signal
import stat
import struct
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.documents import job
from tests.support.installation import TENANT, Installation, free_port
from tests.support.people import make_token
from tests.support.postgres import PostgresServer, connect
from tests.support.waiting import until
from zoe_api import setup as zoe_setup
from zoe_api.people.sign_in.passwords import hash_password
from zoe_client import Client
from zoe_lib.domain.executions.execution import ExecutionState
from zoe_lib.sealing import KEY_FILE, Seal
from zoe_lib.store.people import SealedCredential
from zoe_lib.store.postgres import migrate
from zoe_lib.store.postgres.store import PostgresStore

SETUP = Path(sys.executable).with_name("zoe-setup")
PASSWORD = "correct horse battery staple"
OWNER = (TENANT, "zoe", "red:ann")


@dataclass(frozen=True)
class Done:
    """The result of zoe-setup."""

    returncode: int
    stdout: str
    stderr: str


def setup(url: str, keys_dir: Path, *arguments: object) -> Done:
    """Run zoe-setup in this process, which costs no imports."""
    said, complained = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patched, redirect_stdout(said), redirect_stderr(complained):
        patched.setattr("sys.argv", ["zoe-setup", *map(str, arguments)])
        patched.setenv("ZOE_DATABASE_URL", url)
        patched.setenv("ZOE_KEYS_DIR", str(keys_dir))
        code = zoe_setup.main()
    return Done(code, said.getvalue(), complained.getvalue())


def executed(url: str, keys_dir: Path, *arguments: object, memory_bytes: int = resource.RLIM_INFINITY) -> Done:
    """Run it as an operator does."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith("ZOE_")}
    environment = {**clean, "ZOE_DATABASE_URL": url, "ZOE_KEYS_DIR": str(keys_dir)}
    command = [str(SETUP), *map(str, arguments)]
    bounded = partial(resource.setrlimit, resource.RLIMIT_AS, (memory_bytes, memory_bytes))
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=120, check=False, preexec_fn=bounded
    )
    return Done(done.returncode, done.stdout, done.stderr)


def accepted(done: Done) -> str:
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def refused(done: Done) -> str:
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.fixture
def empty_url(postgres_server: PostgresServer) -> Iterator[str]:
    url = postgres_server.create_empty_database()
    yield url
    postgres_server.drop_database(url)


def rows(url: str) -> dict[str, list[str]]:
    """Every row of every table, as text."""
    with closing(connect(url)) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        found = {}
        for (table,) in cursor.fetchall():
            cursor.execute(f"SELECT {table}::text FROM {table} ORDER BY 1")
            found[table] = [row for (row,) in cursor.fetchall()]
    return found


def test_a_destroyed_installation_goes_on_from_its_backup(
    installation: Installation, postgres_server: PostgresServer, postgres_url: str, tmp_path: Path
) -> None:
    port, keys, file = free_port(), installation.keys_dir, tmp_path / "zoe.backup"
    url = f"http://127.0.0.1:{port}"
    master, api = installation.start_master(), installation.start_api(port)
    accounts = installation.store.accounts
    accounts.ensure_member("ann", TENANT, "operator")
    accounts.set_password("ann", hash_password(PASSWORD))
    token = make_token(installation.store, "bob", TENANT)
    accounts.set_storage_credential(SealedCredential(*OWNER, Seal.from_keys_dir(keys).encrypt("secret", *OWNER)))
    client = installation.client(url)
    done = client.submit(job("true"))
    client.wait(done.id, 60)
    running = client.submit(job("sh", "-c", "echo begun; until test -e {workspace}/go; do sleep 0.1; done"))
    until(lambda: client.execution(running.id).state is ExecutionState.RUNNING)
    seen: list[str] = []
    follower = threading.Thread(target=follow, args=(installation.client(url), running.id, seen))
    follower.start()

    said = accepted(executed(postgres_url, keys, "backup", file))
    assert "2 executions" in said
    assert KEY_FILE in said
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    lost = client.submit(job("sleep", "600"))
    until(lambda: client.execution(lost.id).state is ExecutionState.RUNNING)
    until(lambda: traces_of(installation, lost.id))

    installation.stop(master)
    api.send_signal(signal.SIGSTOP)
    (keys / KEY_FILE).unlink()
    postgres_server.replace_by_an_empty_one(postgres_url)
    assert "restored 2 executions" in accepted(executed(postgres_url, keys, "restore", file))
    api.send_signal(signal.SIGCONT)
    installation.start_master()

    until(lambda: not traces_of(installation, lost.id), lambda: traces_of(installation, lost.id))
    assert client.execution(done.id).state is ExecutionState.SUCCEEDED
    (installation.workspace / "go").touch()
    ended = client.wait(running.id, 60)
    assert (ended.state, ended.attempt, len(ended.services)) == (ExecutionState.SUCCEEDED, 1, 1)
    assert b"".join(client.follow_logs(running.id, ended.services[0].id)) == b"begun\n"
    follower.join(60)
    assert seen[-1] == "ended", "the stream of an API that was there before goes on"
    with httpx.Client(base_url=url, trust_env=False) as http:
        signed_in = http.post("/api/v1/session", json={"user": "ann", "password": PASSWORD})
        assert signed_in.json()["role"] == "operator"
    with Client(url, token) as bob:
        assert bob.wait(bob.submit(job("true")).id, 60).state is ExecutionState.SUCCEEDED
    (credential,) = installation.store.accounts.storage_credentials(TENANT)
    assert Seal.from_keys_dir(keys).decrypt(credential.sealed, *OWNER) == "secret"


def follow(client: Client, execution_id: str, seen: list[str]) -> None:
    seen.extend(event.kind for event, _ in client.follow(execution_id))


def traces_of(installation: Installation, execution_id: str) -> list[Path]:
    return [path for path in (installation.base / "scratch").rglob("*") if execution_id in path.name]


def test_every_row_comes_back_and_no_number_is_given_twice(
    installation: Installation, postgres_url: str, empty_url: str, tmp_path: Path
) -> None:
    store, file = installation.store, tmp_path / "zoe.backup"
    for _ in range(3):
        store.try_lead("someone", "")
        store.stop_leading()
    token = store.accounts.tokens()[0]
    make_token(store, "ann", TENANT)
    before = rows(postgres_url)
    with closing(connect(postgres_url)) as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TABLE notes_of_somebody (id bigint)")
        connection.commit()
    said = accepted(setup(postgres_url, installation.keys_dir, "backup", file))
    assert "tables that are not Zoe's: notes_of_somebody" in said
    # As in a backup of version 1.0.0, which contained them.
    foreign = {"name": "notes_of_somebody", "columns": ["id"], "rows": 3}
    with_notes = tmp_path / "with-notes"
    add = lambda manifest: (manifest["tables"].append(foreign), manifest["numbers"].update({"notes_of_somebody.id": 3}))  # noqa: E731
    changed(file, with_notes, "manifest.json", lambda content: edited(content, add))
    with zipfile.ZipFile(with_notes, "a") as archive:
        archive.writestr("tables/notes_of_somebody", "1\n2\n3\n")
    said = accepted(setup(empty_url, installation.keys_dir, "restore", with_notes))
    assert "Left out, because they are not tables of Zoe: notes_of_somebody" in said
    after = rows(empty_url)
    assert set(after) == set(before)
    assert [table for table in before if before[table] != after[table]] == ["journal", "leader", "lease"]
    with closing(PostgresStore(empty_url)) as restored:
        assert restored.accounts.tokens()[0] == token
        assert restored.last_journal_id() > store.last_journal_id() + 10**8
        epoch = restored.try_lead("someone", "")
        assert epoch is not None
        assert epoch > 10**5
        restored.stop_leading()


def test_a_backup_of_older_tables_is_upgraded(
    installation: Installation, postgres_url: str, empty_url: str, tmp_path: Path
) -> None:
    migrate.downgrade(postgres_url, "0057")
    accepted(setup(postgres_url, installation.keys_dir, "backup", tmp_path / "zoe.backup"))
    accepted(setup(empty_url, installation.keys_dir, "restore", tmp_path / "zoe.backup"))
    assert migrate.up_to_date(empty_url)
    with closing(PostgresStore(empty_url)) as restored:
        assert [token.user for token in restored.accounts.tokens()] == ["root"]
    migrate.upgrade(postgres_url)


def test_impossible_restore_changes_nothing(
    installation: Installation, postgres_url: str, empty_url: str, tmp_path: Path
) -> None:
    keys, file = installation.keys_dir, tmp_path / "zoe.backup"
    Seal.from_keys_dir(keys)
    accepted(setup(postgres_url, keys, "backup", file))
    assert "exists already" in refused(setup(postgres_url, keys, "backup", file))
    for name in ("zoe.backup/x", "x" * 300):
        said = refused(setup(postgres_url, keys, "backup", tmp_path / name))
        assert said.startswith(f"zoe-setup: cannot write {tmp_path / name}: ")
    assert "no tables of Zoe" in refused(setup(empty_url, keys, "backup", tmp_path / "another"))

    installation.store.last_journal_id()
    assert "stop them" in refused(setup(postgres_url, keys, "restore", file))
    installation.store.close()
    assert "not empty" in refused(setup(postgres_url, keys, "restore", file))

    cut = tmp_path / "cut"
    cut.write_bytes(file.read_bytes()[:-100])
    assert "not a complete backup" in refused(setup(empty_url, keys, "restore", cut))
    for bytes_kept in (0, 1, len(file.read_bytes()) // 2):
        cut.write_bytes(file.read_bytes()[:bytes_kept])
        assert "not a complete backup" in refused(setup(empty_url, keys, "restore", cut))
    fewer, garbage, newer = (tmp_path / name for name in ("fewer", "garbage", "newer"))
    changed(file, fewer, "tables/tokens", lambda content: b"")
    assert "rows of tokens" in refused(setup(empty_url, keys, "restore", fewer))
    changed(file, garbage, "tables/tokens", lambda content: b"garbage\n")
    assert "the backup is damaged: tables/tokens (missing data" in refused(setup(empty_url, keys, "restore", garbage))
    changed(file, newer, "manifest.json", lambda content: content.replace(b'"revision": "00', b'"revision": "99'))
    assert "newer version" in refused(setup(empty_url, keys, "restore", newer))
    flipped = tmp_path / "flipped"
    flip_a_byte_of(file, flipped, "tables/tokens")
    said = refused(setup(empty_url, keys, "restore", flipped))
    assert said == "zoe-setup: the backup is damaged: tables/tokens\n"
    for change in OTHER_TABLES:
        changed(file, garbage, "manifest.json", lambda content, change=change: edited(content, change))
        said = refused(setup(empty_url, keys, "restore", garbage))
        assert "not a backup of Zoe" in said
        assert said.count("\n") == 1
    other = tmp_path / "keys"
    other.mkdir()
    Seal.from_keys_dir(other)
    assert "move it away" in refused(setup(empty_url, other, "restore", file))
    assert rows(empty_url) == {}
    accepted(setup(empty_url, keys, "restore", file))
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "cut",
        "fewer",
        "flipped",
        "garbage",
        "keys",
        "newer",
        "zoe.backup",
    ]


def test_only_a_regular_file_is_read(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), tmp_path):
        done = executed("postgresql:///none", tmp_path / "keys", "restore", path, memory_bytes=2 << 30)
        assert refused(done) == f"zoe-setup: {path} is not a regular file\n"


def edited(content: bytes, change: Callable[[dict[str, Any]], None]) -> bytes:
    """Return a manifest with a change."""
    manifest = json.loads(content)
    change(manifest)
    return json.dumps(manifest).encode()


# Manifests whose form is right, but which are not of the tables of their revision.
OTHER_TABLES: list[Callable[[dict[str, Any]], None]] = [
    lambda manifest: manifest.update(tables=[]),
    lambda manifest: manifest["tables"].pop(),
    lambda manifest: manifest["tables"].append(manifest["tables"][0]),
    lambda manifest: manifest["tables"][0]["columns"].pop(),
    lambda manifest: manifest["numbers"].update({"tokens.id": 1}),
]


def flip_a_byte_of(file: Path, target: Path, name: str) -> None:
    """Copy a backup with one bit of a member's content changed."""
    with zipfile.ZipFile(file) as source:
        member = source.getinfo(name)
    content = bytearray(file.read_bytes())
    begin = member.header_offset
    name_bytes, extra_bytes = struct.unpack("<HH", content[begin + 26 : begin + 30])
    content[begin + 30 + name_bytes + extra_bytes + member.compress_size // 2] ^= 1
    target.write_bytes(content)


def changed(file: Path, target: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    """Copy a backup with another content of one member."""
    with zipfile.ZipFile(file) as source, zipfile.ZipFile(target, "w") as made:
        for member in source.namelist():
            content = source.read(member)
            made.writestr(member, change(content) if member == name else content)
