"""Files through the API: real processes of the users, over a real local back-end."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import random
import socket
import zipfile
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.local.support import LocalWorld
from tests.support.api import Api, problem
from tests.support.people import ALL_SCOPES, make_token
from tests.support.waiting import until
from zoe_api.http.problems.codes import PROBLEMS, Code
from zoe_client.calls.trees import TreeFile
from zoe_client.errors import Refused
from zoe_lib.store.postgres.store import PostgresStore
from zoe_master.backends.local.supervisor import files as supervised
from zoe_master.loop.system_users import SystemUsers

MIB = 2**20
FILES = "/api/v1/files"


class FilesApi:
    """An API whose master has a local back-end."""

    def __init__(self, database_url: str) -> None:
        self.world = LocalWorld()
        self.api = Api(database_url, master_timeout_s=4)
        self.store = PostgresStore(database_url)
        users = SystemUsers(self.store.accounts, 450_001, 450_999)
        self.api.start_master(files_by=self.world.backend, system_users=users)

    def http(
        self, user: str = "ann", tenant: str = "red", role: str = "user", scopes: tuple[str, ...] = ALL_SCOPES
    ) -> httpx.Client:
        return self.api.http(make_token(self.api.store, user, tenant, role, scopes))

    def workspace(self, user: str = "ann", tenant: str = "red") -> Path:
        return self.world.settings.workspaces_dir / tenant / user

    def record(self, user: str = "ann") -> supervised.Document:
        return supervised.read_json(str(self.world.settings.state_dir / "files" / f"red+{user}.json")) or {}

    def close(self) -> None:
        self.api.close()
        self.store.close()
        self.world.finish()


@pytest.fixture
def site(postgres_url: str) -> Iterator[FilesApi]:
    made = FilesApi(postgres_url)
    yield made
    made.close()


def begin(http: httpx.Client, path: str, length: int, root: str = "workspace") -> httpx.Response:
    headers = {"Upload-Length": str(length), "Upload-Metadata": f"path {base64.b64encode(path.encode()).decode()}"}
    return http.post(f"{FILES}/{root}/uploads", headers={**headers, "Tus-Resumable": "1.0.0"})


def append(http: httpx.Client, place: str, offset: int, content: bytes) -> httpx.Response:
    headers = {"Upload-Offset": str(offset), "Content-Type": "application/offset+octet-stream"}
    return http.patch(place, content=content, headers=headers)


def put(http: httpx.Client, path: str, content: bytes, root: str = "workspace") -> None:
    begun = begin(http, path, len(content), root)
    assert begun.status_code == 201, begun.text
    done = append(http, begun.headers["Location"], 0, content)
    assert done.status_code == 204, done.text


def names(http: httpx.Client, root: str = "workspace", path: str = "") -> list[str]:
    answer = http.get(f"{FILES}/{root}", params={"path": path})
    assert answer.status_code == 200, answer.text
    return [entry["name"] for entry in answer.json()["entries"]]


def content(http: httpx.Client, path: str, root: str = "workspace", **headers: str) -> httpx.Response:
    return http.get(f"{FILES}/{root}/content", params={"path": path}, headers=headers)


def test_a_file_goes_up_and_comes_back(site: FilesApi) -> None:
    http, data = site.http(), random.Random(3).randbytes(5 * MIB)
    assert http.post(f"{FILES}/workspace/directories", json={"path": "a/b"}).status_code == 204
    assert http.post(f"{FILES}/workspace/directories", json={"path": "a/b"}).status_code == 204
    put(http, "a/b/data", data)
    assert (site.workspace() / "a/b/data").read_bytes() == data
    assert content(http, "a/b/data").content == data
    looked = http.head(f"{FILES}/workspace/content", params={"path": "a/b/data"})
    assert (looked.status_code, looked.headers["Content-Length"], looked.content) == (200, str(len(data)), b"")
    assert looked.headers["ETag"] == content(http, "a/b/data").headers["ETag"]
    assert http.head(f"{FILES}/workspace/content", params={"path": "none"}).status_code == 404
    part = content(http, "a/b/data", Range="bytes=10-19")
    assert (part.status_code, part.content) == (206, data[10:20])
    assert http.post(f"{FILES}/workspace/rename", json={"path": "a/b/data", "to": "data"}).status_code == 204
    assert problem(http.delete(f"{FILES}/workspace", params={"path": "data/x"}))["code"] == "wrong_kind"
    assert http.delete(f"{FILES}/workspace", params={"path": "a", "recursive": True}).status_code == 204
    assert names(http) == ["data"]
    assert begin(http, "empty", 0).status_code == 201
    assert content(http, "empty").content == b""


def test_a_browser_shows_no_file_as_a_page(site: FilesApi) -> None:
    http = site.http()
    put(http, 'a"b\u00e9%0D%0A.html', b"<script>alert(1)</script>")
    answer = content(http, 'a"b\u00e9%0D%0A.html')
    assert answer.headers["Content-Type"] == "application/octet-stream"
    assert answer.headers["Content-Disposition"] == "attachment; filename*=UTF-8''a%22b%C3%A9%0D%0A.html"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"] == "sandbox"
    assert answer.headers["Cache-Control"] == "no-store"


def test_each_user_has_their_own_and_the_tenant_shares_one(site: FilesApi) -> None:
    ann, bob, other = site.http(), site.http("bob"), site.http("eve", "blue")
    put(ann, "mine", b"mine")
    put(ann, "ours", b"ours", "shared")
    assert names(bob) == names(other) == names(other, "shared") == []
    assert content(bob, "ours", "shared").content == b"ours"
    for role in ("operator", "admin"):
        assert names(site.http(f"some-{role}", role=role)) == []
    viewer = site.http("vic", role="viewer")
    assert names(viewer, "shared") == ["ours"]
    assert problem(begin(viewer, "x", 1))["code"] == "role_missing"
    reader = site.http("ann", scopes=("read",))
    assert names(reader) == ["mine"]
    assert problem(reader.delete(f"{FILES}/workspace", params={"path": "mine"}))["code"] == "scope_missing"
    assert problem(site.api.http(None).get(f"{FILES}/workspace"))["code"] == "no_token"


@pytest.mark.parametrize("path", ["..", "a/../../bob", "%2e%2e/bob", "x%00", "x\0", "5%"])
def test_paths_that_are_none_are_refused(site: FilesApi, path: str) -> None:
    http = site.http()
    assert problem(http.get(f"{FILES}/workspace", params={"path": path}))["code"] == "invalid_path"
    assert problem(content(http, path))["code"] == "invalid_path"
    assert problem(begin(http, path, 1))["code"] == "invalid_path"
    assert problem(http.delete(f"{FILES}/workspace", params={"path": path}))["code"] == "invalid_path"
    made = http.post(f"{FILES}/workspace/directories", json={"path": path})
    assert problem(made)["code"] in ("invalid_path", "invalid_json")
    renamed = http.post(f"{FILES}/workspace/rename", json={"path": "a", "to": path})
    assert problem(renamed)["code"] in ("invalid_path", "invalid_json")


def test_an_upload_survives_three_cuts(site: FilesApi) -> None:
    """Cuts by the client, by the end of the user's process, and by the end of the API's connection to it."""
    http, data = site.http(), random.Random(4).randbytes(6 * MIB)
    place = begin(http, "big", len(data)).headers["Location"]
    for cut in range(3):
        offset = int(http.head(place).headers["Upload-Offset"])
        with _cut_short(site.api.url, http, place, offset, data[offset:], MIB):
            until(lambda at=offset: int(http.head(place).headers["Upload-Offset"]) > at)
            if cut == 1:
                os.kill(site.record()["pid"], 9)
        until(lambda: _free(http, place))
    offset = int(http.head(place).headers["Upload-Offset"])
    assert 0 < offset < len(data)
    assert append(http, place, offset, data[offset:]).status_code == 204
    assert http.head(place).headers["Upload-Offset"] == str(len(data))
    assert hashlib.sha256(content(http, "big").content).digest() == hashlib.sha256(data).digest()


def _free(http: httpx.Client, place: str) -> bool:
    offset = http.head(place).headers.get("Upload-Offset")
    return offset is not None and append(http, place, int(offset), b"").status_code == 204


def _cut_short(url: str, http: httpx.Client, place: str, offset: int, data: bytes, length: int) -> socket.socket:
    """Send so much of a part, and no more."""
    parts = urlsplit(url)
    bare = socket.create_connection((parts.hostname, parts.port))
    head = (
        f"PATCH {place} HTTP/1.1\r\nHost: {parts.netloc}\r\nAuthorization: {http.headers['Authorization']}\r\n"
        f"Upload-Offset: {offset}\r\nContent-Type: application/offset+octet-stream\r\n"
        f"Content-Length: {len(data)}\r\n\r\n"
    )
    bare.sendall(head.encode() + data[:length])
    return bare


def test_a_download_goes_on_only_with_the_same_file(site: FilesApi) -> None:
    http = site.http()
    put(http, "x", b"0123456789")
    tag = content(http, "x").headers["ETag"]
    assert content(http, "x", **{"Range": "bytes=4-", "If-Range": tag}).content == b"456789"
    put(http, "x", b"abcdefghij")
    assert content(http, "x", **{"Range": "bytes=4-", "If-Range": tag}).status_code == 200


def test_bad_upload_part_is_refused(site: FilesApi) -> None:
    http = site.http()
    place = begin(http, "x", 100).headers["Location"]
    assert problem(append(http, place, 5, b"x" * 50))["code"] == "upload_offset"
    assert problem(append(http, place, 0, b"x" * 5 * MIB))["code"] == "too_large"
    assert problem(http.patch(place, content=b"x", headers={"Upload-Offset": "0"}))["code"] == "invalid_upload"
    assert http.delete(place).status_code == 204
    assert problem(append(http, place, 0, b"x"))["code"] == "upload_gone"
    assert http.head(place).status_code == 404
    headers = {"Upload-Length": "1", "Upload-Metadata": "path ?"}
    assert problem(http.post(f"{FILES}/workspace/uploads", headers=headers))["code"] == "invalid_upload"
    stranger = site.api.http(None)
    assert problem(append(stranger, place, 0, b"x" * MIB))["code"] == "no_token"


def test_refusals_of_the_program_keep_their_code_and_status(site: FilesApi) -> None:
    http = site.http()
    put(http, "x", b"x")
    put(http, "y", b"y")
    site.workspace().joinpath("out").symlink_to("/etc")
    rename = {"path": "x", "to": "y"}
    answers = {
        "file_exists": http.post(f"{FILES}/workspace/rename", json=rename),
        "invalid_range": content(http, "x", Range="bytes=5-"),
        "file_denied": content(http, "out/passwd"),
        "not_found": content(http, "missing"),
        "wrong_kind": content(http, ""),
    }
    for code, answer in answers.items():
        assert (problem(answer)["code"], answer.status_code) == (code, PROBLEMS[Code(code)][0])


def test_a_program_that_is_gone_is_asked_for_again(site: FilesApi) -> None:
    http = site.http()
    put(http, "x", b"x")
    os.kill(site.record()["pid"], 9)
    until(lambda: http.get(f"{FILES}/workspace").status_code == 200)
    assert names(http) == ["x"]


def test_without_a_master_known_programs_still_answer(site: FilesApi) -> None:
    http = site.http()
    put(http, "x", b"x")
    site.api.stop_master()
    assert names(http) == ["x"]
    assert problem(site.http("bob").get(f"{FILES}/workspace"))["code"] == "master_unreachable"


def test_a_back_end_without_files_says_so(shared_api: Api) -> None:
    shared_api.start_master()
    try:
        refusal = problem(shared_api.http().get(f"{FILES}/workspace"))
        assert (refusal["code"], refusal["status"]) == ("files_unavailable", 503)
        assert "simulated" in refusal["detail"]
    finally:
        shared_api.stop_master()


def test_changes_are_in_the_audit_log_and_reads_are_not(site: FilesApi) -> None:
    http = site.http()
    put(http, "x", b"x")
    names(http)
    content(http, "x")
    http.post(f"{FILES}/workspace/rename", json={"path": "x", "to": "y"})
    http.delete(f"{FILES}/workspace", params={"path": "y"})
    entries = [entry for entry in site.api.store.accounts.audit(None, 50) if entry.user == "ann"]
    seen = {entry.action: dict(entry.changes) for entry in entries}
    assert set(seen) == {"begin_upload", "rename_file", "delete_file"}
    assert seen["rename_file"] == {"path": ["x", "y"]}
    assert seen["begin_upload"]["path"] == [None, "x"]


def test_a_tree_is_one_request_and_one_entry_of_the_audit_log(site: FilesApi, tmp_path: Path) -> None:
    (tmp_path / "small").write_bytes(b"x" * 100)
    files = [TreeFile(f"d{number % 7}/f{number}", tmp_path / "small", 100) for number in range(500)]
    client = site.api.client(make_token(site.api.store, "ann", "red"))
    assert client.files.write_tree(files, "to").files == 500
    assert (site.workspace() / "to/d3/f10").read_bytes() == b"x" * 100
    (entry,) = [entry for entry in site.api.store.accounts.audit(None, 50) if entry.user == "ann"]
    assert (entry.action, dict(entry.changes)) == (
        "write_tree",
        {"path": [None, "to"], "files": [None, 500], "size_bytes": [None, 50_000]},
    )
    (site.workspace() / "away").symlink_to("/tmp")
    with pytest.raises(Refused, match="leads out"):
        client.files.write_tree([TreeFile("x", tmp_path / "small", 100)], "away")
    refused = site.http().put(f"{FILES}/workspace/tree", content=b"{}", headers={"Content-Length": "2"})
    assert problem(refused)["code"] == "invalid_upload"
    reader = site.http(role="viewer")
    assert reader.put(f"{FILES}/workspace/tree", content=b"").status_code == 403


@pytest.fixture
def transfers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """What remembers unfinished transfers."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "zoe" / "transfers.json"


def test_the_sdk_goes_on_after_three_cuts_with_equal_bytes(site: FilesApi, transfers: Path, tmp_path: Path) -> None:
    """Up and down; the user's process is killed while bytes move."""
    source, target, cuts = tmp_path / "source", tmp_path / "target", list[int]()
    data = random.Random(5).randbytes(48 * MIB)
    source.write_bytes(data)
    client = site.api.client(make_token(site.api.store, "ann", "red"), patience_s=30)

    def cut(done: int, total: int) -> None:
        assert total == len(data)
        if len(cuts) < 3 and done > (len(cuts) + 1) * total / 5:
            cuts.append(done)
            os.kill(site.record()["pid"], 9)

    client.files.make_directory("d")
    client.files.upload(source, "d/big", progress=cut)
    assert len(cuts) == 3
    assert (site.workspace() / "d/big").read_bytes() == data
    cuts.clear()
    client.files.download("d/big", target, progress=cut)
    assert len(cuts) == 3
    assert hashlib.sha256(target.read_bytes()).digest() == hashlib.sha256(data).digest()
    assert transfers.read_text() == "{}"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["source", "state", "target"]


def test_the_next_call_of_the_sdk_goes_on(site: FilesApi, transfers: Path, tmp_path: Path) -> None:
    source, target, seen = tmp_path / "source", tmp_path / "target", list[int]()
    source.write_bytes(b"x" * 40 * MIB)
    client = site.api.client(make_token(site.api.store, "ann", "red"))

    def interrupt(done: int, total: int) -> None:
        if done > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        client.files.upload(source, "big", progress=interrupt)
    assert [entry.name for entry in client.files.list()] == []
    # At once, while the server may still be noticing the cut.
    client.files.upload(source, "big", progress=lambda done, _: seen.append(done))
    assert seen[0] > 4 * MIB
    with pytest.raises(KeyboardInterrupt):
        client.files.download("big", target, progress=interrupt)
    assert not target.exists()
    seen.clear()
    client.files.download("big", target, progress=lambda done, _: seen.append(done))
    assert seen[0] > 20 * MIB
    assert target.read_bytes() == source.read_bytes()


def test_a_download_of_a_file_that_changed_begins_anew(site: FilesApi, transfers: Path, tmp_path: Path) -> None:
    client, source, target = site.api.client(make_token(site.api.store, "ann", "red")), tmp_path / "s", tmp_path / "t"
    source.write_bytes(b"a" * 30 * MIB)
    client.files.upload(source, "x")

    def interrupt(done: int, total: int) -> None:
        if done > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        client.files.download("x", target, progress=interrupt)
    source.write_bytes(b"b" * 25 * MIB)
    client.files.upload(source, "x")
    client.files.download("x", target)
    assert target.read_bytes() == b"b" * 25 * MIB


def test_several_files_come_as_one_archive(site: FilesApi) -> None:
    http = site.http()
    assert http.post(f"{FILES}/workspace/directories", json={"path": "d"}).status_code == 204
    put(http, "d/a", b"first")
    put(http, "b%25", b"second")
    answer = http.get(f"{FILES}/workspace/archive", params={"path": ["d", "b%25"]})
    assert answer.status_code == 200
    assert answer.headers["Content-Disposition"].endswith("files.zip")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert (archive.read("d/a"), archive.read("b%")) == (b"first", b"second")
    one = http.get(f"{FILES}/workspace/archive", params={"path": "d"})
    assert one.headers["Content-Disposition"].endswith("d.zip")
    assert problem(http.get(f"{FILES}/workspace/archive", params={"path": "gone"}))["code"] == "not_found"
