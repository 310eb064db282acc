"""Files in the object store through the API, over a real Swift."""

from __future__ import annotations

import hashlib
import os
import random
import socket
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.api.test_files import append, begin, content, names, put
from tests.support.api import Api, in_threads, problem
from tests.support.object_store import Person
from tests.support.people import ALL_SCOPES, make_token
from tests.support.waiting import until
from zoe_api.services.objects import changes, uploads
from zoe_client import Client
from zoe_embedded.swift.configuration import REGION
from zoe_embedded.swift.store import ObjectStore

FILES = "/api/v1/files"
ROOT = "store:zoe"
MIB = 2**20
RACES = 4


@dataclass
class Site:
    """An API with a tenant that has a credential for the store."""

    api: Api
    url: str

    def token(self, user: str = "ann", tenant: str = "acme", scopes: tuple[str, ...] = ALL_SCOPES) -> str:
        return make_token(self.api.store, user, tenant, "user", scopes)

    def http(self, user: str = "ann", tenant: str = "acme", scopes: tuple[str, ...] = ALL_SCOPES) -> httpx.Client:
        return self.api.http(self.token(user, tenant, scopes))


@pytest.fixture
def site(postgres_url: str, swift: ObjectStore) -> Iterator[Site]:
    services = {"zoe": {"url": swift.auth_url, "region": REGION}, "s3a": {"url": "http://127.0.0.1:1"}}
    api = Api(postgres_url, storage_services=services)
    made = Site(api, postgres_url)
    key = swift.user("acme:ann").key
    with made.http() as http:
        answer = http.put("/api/v1/storage/credentials/zoe", json={"user": "acme:ann", "key": key})
        assert answer.status_code == 200, answer.text
    yield made
    api.close()


@pytest.fixture
def http(site: Site, ann: Person) -> Iterator[httpx.Client]:
    """Ann's, with a container of this test."""
    with site.http() as made:
        made_directory(made, "data")
        yield made
        for container in ann.call("GET", "?format=json").json():
            name = container["name"]
            if name.startswith(("data", "zoe-uploads", "zoe-segments")):
                for entry in ann.listing(name):
                    ann.call("DELETE", f"{name}/{entry['name']}")
                ann.call("DELETE", name)


def made_directory(http: httpx.Client, path: str) -> None:
    answer = http.post(f"{FILES}/{ROOT}/directories", json={"path": path})
    assert answer.status_code == 204, answer.text


def test_a_file_goes_up_and_comes_back(http: httpx.Client, ann: Person) -> None:
    data = random.Random(3).randbytes(3 * MIB)
    put(http, "data/2026/one.csv", data, ROOT)
    assert content(http, "data/2026/one.csv", ROOT).content == data
    found = ann.call("GET", "data/2026/one.csv")
    assert (found.content, found.headers["Content-Type"].partition(";")[0]) == (data, "text/csv")
    assert "X-Delete-At" not in found.headers
    part = content(http, "data/2026/one.csv", ROOT, Range="bytes=10-19")
    assert (part.status_code, part.content) == (206, data[10:20])
    tag = part.headers["ETag"]
    again = content(http, "data/2026/one.csv", ROOT, Range="bytes=10-", **{"If-Range": tag})
    assert (again.status_code, again.content) == (206, data[10:])
    changed = content(http, "data/2026/one.csv", ROOT, Range="bytes=10-", **{"If-Range": '"0"'})
    assert (changed.status_code, changed.content) == (200, data)
    looked = http.head(f"{FILES}/{ROOT}/content", params={"path": "data/2026/one.csv"})
    assert (looked.status_code, looked.headers["Content-Length"], looked.content) == (200, str(len(data)), b"")
    several = content(http, "data/2026/one.csv", ROOT, Range="bytes=0-1,5-6")
    assert (several.status_code, several.content) == (200, data)
    assert problem(content(http, "data/2026/one.csv", ROOT, Range="bytes=9999999-"))["code"] == "invalid_range"
    assert begin(http, "data/empty", 0, ROOT).status_code == 201
    assert content(http, "data/empty", ROOT).content == b""
    assert (ann.listing("zoe-uploads"), ann.listing("zoe-segments")) == ([], [])


def test_containers_and_prefixes_are_directories(http: httpx.Client, ann: Person) -> None:
    for name in ("a/x", "a/y/z", "a-b", "a", "b%20c", "ü"):
        ann.put(f"data/{name}", b"1")
    assert "data" in names(http, ROOT)
    assert not [name for name in names(http, ROOT) if name.startswith("zoe-")]
    assert sorted(names(http, ROOT, "data")) == sorted(["a", "a", "a-b", "b c", "ü"])
    assert names(http, ROOT, "data/a/y") == ["z"]
    entries = http.get(f"{FILES}/{ROOT}", params={"path": "data/a"}).json()
    assert (entries["entry"]["kind"], entries["entry"]["size_bytes"]) == ("file", 1)
    assert problem(http.get(f"{FILES}/{ROOT}", params={"path": "data/none"}))["code"] == "not_found"
    assert problem(http.get(f"{FILES}/{ROOT}", params={"path": "none"}))["code"] == "not_found"
    ann.call("DELETE", "data/a")
    made_directory(http, "data/made/here")
    made_directory(http, "data/a")
    assert sorted(names(http, ROOT, "data")) == sorted(["a", "a-b", "b c", "made", "ü"])
    assert names(http, ROOT, "data/made/here") == []


def test_a_large_directory_comes_page_by_page(http: httpx.Client, ann: Person) -> None:
    wanted = [f"{number:02}" for number in range(7)]
    for name in wanted:
        ann.put(f"data/{name}/x", b"1")
        ann.put(f"data/{name}.csv", b"1")
    found: list[str] = []
    after: str | None = ""
    pages = 0
    while after is not None:
        page = http.get(f"{FILES}/{ROOT}", params={"path": "data", "limit": 3, "after": after}).json()
        found += [entry["name"] for entry in page["entries"]]
        after, pages = page["next"], pages + 1
        assert pages < 20
    assert sorted(found) == sorted([*wanted, *(f"{name}.csv" for name in wanted)])


def test_an_upload_goes_on_after_cuts_with_equal_bytes(http: httpx.Client, ann: Person) -> None:
    data = random.Random(4).randbytes(3 * MIB)
    place = begin(http, "data/big", len(data), ROOT).headers["Location"]
    base = urlsplit(str(http.base_url))
    for _ in range(3):
        offset = int(http.head(place, headers={"Tus-Resumable": "1.0.0"}).headers["Upload-Offset"])
        with socket.create_connection((base.hostname, base.port)) as bare:
            head = (
                f"PATCH {place} HTTP/1.1\r\nHost: {base.netloc}\r\nAuthorization: {http.headers['Authorization']}\r\n"
                f"Upload-Offset: {offset}\r\nContent-Type: application/offset+octet-stream\r\n"
                f"Content-Length: {len(data) - offset}\r\n\r\n"
            )
            bare.sendall(head.encode() + data[offset : offset + MIB // 2])

        def grown(before: int = offset) -> bool:
            return int(http.head(place).headers["Upload-Offset"]) > before

        until(grown)
    offset = int(http.head(place).headers["Upload-Offset"])
    assert problem(append(http, place, offset - 1, b"x"))["code"] == "upload_offset"
    assert append(http, place, offset, data[offset:]).status_code == 204
    assert http.head(place).headers["Upload-Offset"] == str(len(data))
    found = ann.call("GET", "data/big")
    assert hashlib.sha256(found.content).digest() == hashlib.sha256(data).digest()
    assert "X-Static-Large-Object" not in found.headers
    assert (ann.listing("zoe-uploads"), ann.listing("zoe-segments")) == ([], [])


def test_a_large_upload_is_an_object_of_segments(
    http: httpx.Client, ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads.UploadBounds.__init__, "__defaults__", (MIB // 4, MIB, 3))
    data = random.Random(5).randbytes(2 * MIB)
    put(http, "data/large", data, ROOT)
    head = ann.call("HEAD", "data/large").headers
    assert (head["X-Static-Large-Object"], head["Content-Length"]) == ("True", str(len(data)))
    assert content(http, "data/large", ROOT).content == data
    part = content(http, "data/large", ROOT, Range=f"bytes={MIB - 5}-{MIB + 4}")
    assert part.content == data[MIB - 5 : MIB + 5]
    for entry in ann.listing("zoe-segments"):
        assert "X-Delete-At" not in ann.call("HEAD", f"zoe-segments/{entry['name']}").headers
    renamed = http.post(f"{FILES}/{ROOT}/rename", json={"path": "data/large", "to": "data/other"})
    assert renamed.status_code == 204, renamed.text
    assert content(http, "data/other", ROOT).content == data
    assert http.delete(f"{FILES}/{ROOT}", params={"path": "data/other"}).status_code == 204
    assert ann.listing("zoe-segments") == []


def test_rename_and_delete_lose_nothing(http: httpx.Client) -> None:
    for name in ("one", "two", "d/x", "d/e/y"):
        put(http, f"data/{name}", name.encode(), ROOT)
    taken = http.post(f"{FILES}/{ROOT}/rename", json={"path": "data/one", "to": "data/two"})
    assert problem(taken)["code"] == "file_exists"
    assert http.post(f"{FILES}/{ROOT}/rename", json={"path": "data/one", "to": "data/d/one"}).status_code == 204
    assert content(http, "data/d/one", ROOT).content == b"one"
    moved = http.post(f"{FILES}/{ROOT}/rename", json={"path": "data/d", "to": "data/f"})
    assert problem(moved)["code"] == "wrong_kind"
    for path in ("data/d", "data"):
        assert problem(http.delete(f"{FILES}/{ROOT}", params={"path": path}))["code"] == "wrong_kind"
    assert http.delete(f"{FILES}/{ROOT}", params={"path": "data/d", "recursive": True}).status_code == 204
    assert names(http, ROOT, "data") == ["two"]
    assert http.delete(f"{FILES}/{ROOT}", params={"path": "data", "recursive": True}).status_code == 204
    assert "data" not in names(http, ROOT)
    assert problem(http.delete(f"{FILES}/{ROOT}", params={"path": "data"}))["code"] == "not_found"
    made_directory(http, "data")


@pytest.fixture
def second(site: Site) -> Iterator[Api]:
    """Another API of the same installation."""
    settings = site.api.settings
    api = Api(site.url, storage_services=settings.model_dump()["storage_services"], keys_dir=settings.keys_dir)
    yield api
    api.close()


def test_of_renames_to_one_free_name_one_succeeds_and_no_file_is_lost(
    site: Site, second: Api, http: httpx.Client
) -> None:
    """Four at the same moment, at two API processes, many times."""
    token = site.token()
    clients = [api.http(token) for api in (site.api, second, site.api, second)]
    for turn in range(RACES):
        for number in range(len(clients)):
            put(http, f"data/{turn}-{number}", str(number).encode(), ROOT)

        def rename(number: int, turn: int = turn) -> httpx.Response:
            wanted = {"path": f"data/{turn}-{number}", "to": f"data/{turn}"}
            return clients[number].post(f"{FILES}/{ROOT}/rename", json=wanted)

        answers = in_threads(len(clients), rename)
        [winner] = [number for number, answer in enumerate(answers) if answer.status_code == 204]
        refused = {problem(answer)["code"] for number, answer in enumerate(answers) if number != winner}
        assert refused <= {"files_busy", "file_exists"}
        assert content(http, f"data/{turn}", ROOT).content == str(winner).encode()
        for number in {*range(len(clients))} - {winner}:
            assert content(http, f"data/{turn}-{number}", ROOT).content == str(number).encode()


def test_of_renames_of_one_file_one_succeeds(site: Site, http: httpx.Client) -> None:
    clients = [site.http() for _ in range(4)]
    for turn in range(RACES):
        put(http, f"data/{turn}", b"once", ROOT)

        def rename(number: int, turn: int = turn) -> httpx.Response:
            wanted = {"path": f"data/{turn}", "to": f"data/{turn}-{number}"}
            return clients[number].post(f"{FILES}/{ROOT}/rename", json=wanted)

        answers = in_threads(len(clients), rename)
        assert [answer.status_code for answer in answers].count(204) == 1
        assert len([name for name in names(http, ROOT, "data") if name.startswith(f"{turn}")]) == 1
        for text in (name for name in names(http, ROOT, "data")):
            http.delete(f"{FILES}/{ROOT}", params={"path": f"data/{text}"})


def planted(person: Person, container: str, name: str) -> None:
    """Make an object of exactly this name: a URL as clients write them has no part `.` or `..`."""
    target = f"{urlsplit(person.account_url).path}/{container}/{name}".encode()
    answer = person.call("PUT", "", content=b"planted", extensions={"target": target})
    assert answer.status_code == 201, answer.text


def test_a_name_with_dots_leads_to_no_other_container(http: httpx.Client, ann: Person, bob: Person) -> None:
    ann.put("data-precious")
    ann.put("data-precious/file.txt", b"precious")
    ann.call("PUT", "data-shared", headers={"X-Container-Write": "beta:bob"})
    names_in = ("../data-precious/file.txt", "..", "../../x", "a/./b", "x/..", "x")
    for name in names_in:
        planted(bob, "data-shared", name)
    deletion = {"path": "data-shared", "recursive": True}
    for left in ("5 objects", "5 objects"):
        refused = problem(http.delete(f"{FILES}/{ROOT}", params=deletion))
        assert (refused["code"], left in refused["detail"]) == ("wrong_kind", True), refused
    assert sorted(entry["name"] for entry in ann.listing("data-shared")) == sorted(set(names_in) - {"x"})
    assert content(http, "data-precious/file.txt", ROOT).content == b"precious"
    listed = http.get(f"{FILES}/{ROOT}", params={"path": "data-shared"}).json()["entries"]
    assert {entry["name"]: entry["kind"] for entry in listed} == {
        "..": "other",
        "../": "other",
        "a": "directory",
        "x": "directory",
    }
    for name in ("../data-precious/file.txt", "%2E%2E/data-precious/file.txt", "a/%2e/b"):
        path = f"data-shared/{name}"
        assert problem(content(http, path, ROOT))["code"] == "invalid_path"
        assert problem(begin(http, path, 1, ROOT))["code"] == "invalid_path"
        assert problem(http.delete(f"{FILES}/{ROOT}", params={"path": path}))["code"] == "invalid_path"
        for body in ({"path": path, "to": "data/x"}, {"path": "data-precious/file.txt", "to": path}):
            assert problem(http.post(f"{FILES}/{ROOT}/rename", json=body))["code"] == "invalid_path"
    for name in set(names_in) - {"x"}:
        target = f"{urlsplit(ann.account_url).path}/data-shared/{name}".encode()
        assert ann.call("DELETE", "", extensions={"target": target}).status_code == 204
    assert http.delete(f"{FILES}/{ROOT}", params=deletion).status_code == 204


def test_many_objects_that_stay_end_a_deletion(
    http: httpx.Client, ann: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "_PAGE", 2)
    ann.call("PUT", "data-many")
    for name in ("../a", "../b", "../c", "a", "b/../c", "d", "e"):
        planted(ann, "data-many", name)
    refused = problem(http.delete(f"{FILES}/{ROOT}", params={"path": "data-many", "recursive": True}))
    assert "4 objects" in refused["detail"], refused
    names_left = [entry["name"] for entry in ann.listing("data-many")]
    assert names_left == ["../a", "../b", "../c", "b/../c"]
    for name in names_left:
        target = f"{urlsplit(ann.account_url).path}/data-many/{name}".encode()
        assert ann.call("DELETE", "", extensions={"target": target}).status_code == 204


def test_only_the_tenant_reaches_its_account(site: Site, http: httpx.Client) -> None:
    put(http, "data/mine", b"1", ROOT)
    with site.http("eve", "other") as eve, site.http("bob") as bob, site.http(scopes=("read",)) as reader:
        refused = problem(eve.get(f"{FILES}/{ROOT}", params={"path": "data"}))
        assert (refused["code"], "credential" in refused["detail"]) == ("file_denied", True)
        assert content(bob, "data/mine", ROOT).content == b"1"
        assert content(reader, "data/mine", ROOT).content == b"1"
        assert begin(reader, "data/x", 1, ROOT).status_code == 403
        place = begin(http, "data/x", 4, ROOT).headers["Location"]
        assert problem(append(bob, place, 0, b"data"))["code"] == "upload_gone"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("data/../x", "invalid_path"),
        ("data/%FF", "invalid_path"),
        ("zoe-segments/x", "not_found"),
        ("data", "wrong_kind"),
    ],
)
def test_paths_that_are_none_are_refused(http: httpx.Client, path: str, code: str) -> None:
    assert problem(begin(http, path, 1, ROOT))["code"] == code
    assert problem(content(http, path, ROOT))["code"] == code


def test_a_store_that_does_not_answer_is_said(site: Site, http: httpx.Client) -> None:
    assert problem(http.get(f"{FILES}/store:none"))["code"] == "not_found"
    assert http.get(f"{FILES}/store:a%2Fb").status_code in {404, 422}
    assert "swift_url" in problem(http.get(f"{FILES}/store:s3a"))["detail"]
    http.put("/api/v1/storage/credentials/zoe", json={"user": "acme:ann", "key": "wrong"})
    assert problem(http.get(f"{FILES}/{ROOT}"))["code"] == "file_denied"
    services = {"zoe": {"url": "http://127.0.0.1:9/auth/v1.0", "region": REGION}}
    away = Api(site.url, storage_services=services)
    try:
        with away.http(site.token()) as other:
            other.put("/api/v1/storage/credentials/zoe", json={"user": "acme:ann", "key": "any"})
            assert problem(other.get(f"{FILES}/{ROOT}"))["code"] == "files_unavailable"
    finally:
        away.close()


def test_unfinished_uploads_are_bounded(http: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "UNFINISHED_MAX", 3)
    places = [begin(http, f"data/{number}", 1, ROOT).headers["Location"] for number in range(3)]
    assert problem(begin(http, "data/3", 1, ROOT))["code"] == "too_many_uploads"
    assert http.delete(places[0]).status_code == 204
    assert begin(http, "data/3", 1, ROOT).status_code == 201


def command_line(http: httpx.Client, token: str, state: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {"ZOE_URL": str(http.base_url), "ZOE_TOKEN": token, "XDG_STATE_HOME": str(state / "state")}
    return subprocess.run(
        [sys.executable, "-m", "zoe_cli.main", *arguments],
        check=False,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_names_that_no_file_has_are_left_out_and_the_rest_is_copied(
    site: Site, http: httpx.Client, ann: Person, tmp_path: Path
) -> None:
    for name in ("a", "l" * 300, f"{'d' * 300}/x", "m", "/".join(["s" * 200] * 5) + "/deep", "z"):
        ann.put(f"data/{name}", b"1")
    planted(ann, "data", "../up")
    done = command_line(http, site.token(), tmp_path, "cp", "-r", "swift2d://data.zoe/", str(tmp_path / "back"))
    assert (done.returncode, "Traceback" in done.stderr) == (4, False), done.stderr
    assert done.stderr.count("left out") == 3, done.stderr
    copied = [path.name for path in (tmp_path / "back").rglob("*") if path.is_file()]
    assert sorted(copied) == ["a", "deep", "m", "z"]
    target = f"{urlsplit(ann.account_url).path}/data/../up".encode()
    assert ann.call("DELETE", "", extensions={"target": target}).status_code == 204


def test_the_command_line_names_it_as_descriptions_do(site: Site, http: httpx.Client, tmp_path: Path) -> None:
    tree, token = tmp_path / "tree", site.token()

    def zoe(*arguments: str) -> str:
        done = command_line(http, token, tmp_path, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    (tree / "2026").mkdir(parents=True)
    (tree / "2026" / "a.csv").write_text("a")
    (tree / "b.csv").write_text("b")
    zoe("cp", "-r", str(tree), "swift2d://data-new.zoe/in")
    zoe("cp", str(tree / "b.csv"), "store:zoe:data/")
    assert zoe("ls", "swift2d://data-new.zoe/in", "-o", "name").split() == ["2026/", "b.csv"]
    assert {"data/", "data-new/"} <= set(zoe("ls", "store:zoe:", "-o", "name").split())
    zoe("cp", "-r", "swift2d://data-new.zoe/in", str(tmp_path / "back"))
    found = sorted(str(path.relative_to(tmp_path / "back")) for path in (tmp_path / "back").rglob("*"))
    assert found == ["2026", "2026/a.csv", "b.csv"]
    with Client(str(http.base_url), token) as client:
        entries = {entry.name: entry.kind for entry in client.files.list("data-new/in", "store:zoe")}
    assert entries == {"2026": "directory", "b.csv": "file"}
