"""The program that serves a user's files: a real process of that user."""

from __future__ import annotations

import hashlib
import os
import random
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from tests.local.support import ANN, BOB, IS_ROOT, LocalWorld, needs_root
from tests.support.files import FileProgram, refused
from zoe_master.backends.base import BackendError, Endpoint
from zoe_master.backends.file_task import FileLimits
from zoe_master.backends.local.supervisor import files, processes

MIB = 2**20


def endpoint_of(world: LocalWorld, user: str = "ann") -> Endpoint:
    return world.backend.files("tenant", user, {"ann": ANN, "bob": BOB}[user])


@pytest.fixture
def ann(world: LocalWorld) -> Iterator[FileProgram]:
    with FileProgram(endpoint_of(world)) as program:
        yield program


@pytest.fixture
def mine(world: LocalWorld, ann: FileProgram) -> Path:
    """The directory of ann's workspace."""
    return world.settings.workspaces_dir / "tenant" / "ann"


def owned(path: Path) -> Path:
    if IS_ROOT:
        os.chown(path, ANN.uid, ANN.gid, follow_symlinks=False)
    return path


def record_of(world: LocalWorld, user: str = "ann") -> files.Document:
    return files.read_json(str(world.settings.state_dir / "files" / f"tenant+{user}.json")) or {}


def test_a_file_goes_up_and_comes_back(ann: FileProgram, mine: Path) -> None:
    content = random.Random(1).randbytes(3 * MIB)
    assert ann.post("/directories", params={"path": "a/b"}).status_code == 201
    ann.put_file("a/b/data.bin", content)
    assert (mine / "a" / "b" / "data.bin").read_bytes() == content
    answer = ann.content("a/b/data.bin")
    assert answer.content == content
    assert answer.headers["Content-Length"] == str(len(content))
    entry = ann.page("a/b/data.bin")["entry"]
    assert (entry["name"], entry["kind"], entry["size_bytes"]) == ("data.bin", "file", len(content))
    if IS_ROOT:
        found = (mine / "a" / "b" / "data.bin").stat()
        assert (found.st_uid, found.st_gid) == (ANN.uid, ANN.gid)


@needs_root
def test_it_runs_as_the_user_without_privileges(world: LocalWorld, ann: FileProgram) -> None:
    lines = Path(f"/proc/{record_of(world)['pid']}/status").read_text().splitlines()
    status = {name: rest.split() for name, _, rest in (line.partition(":") for line in lines)}
    assert set(status["Uid"]) == {str(ANN.uid)}
    assert set(status["Gid"]) == {str(ANN.gid)}
    assert status["Groups"] == []
    assert status["CapEff"] == status["CapPrm"] == ["0" * 16]
    assert status["NoNewPrivs"] == ["1"]


def test_it_is_small_and_starts_at_once(world: LocalWorld) -> None:
    began_s = os.times().children_user
    endpoint = endpoint_of(world)
    with FileProgram(endpoint) as program:
        program.put_file("x", b"x" * MIB)
    memory = int(Path(f"/proc/{record_of(world)['pid']}/status").read_text().split("VmRSS:")[1].split()[0])
    assert memory < 64 * 1024
    assert processes.read_process(record_of(world)["pid"]).cpu_s < 0.6
    assert os.times().children_user - began_s < 1


def test_only_who_has_the_secret_is_answered(world: LocalWorld, ann: FileProgram) -> None:
    endpoint = endpoint_of(world)
    with FileProgram(Endpoint(endpoint.host, endpoint.port, "wrong")) as stranger:
        refused(stranger.get("/"), 401, "no_secret")
        refused(stranger.begin("x", 1), 401, "no_secret")
    assert endpoint.secret not in repr(endpoint)
    command = Path(f"/proc/{record_of(world)['pid']}/cmdline").read_bytes()
    environment = Path(f"/proc/{record_of(world)['pid']}/environ").read_bytes()
    assert endpoint.secret.encode() not in command + environment


def test_one_process_serves_a_user_also_for_the_next_master(world: LocalWorld, ann: FileProgram) -> None:
    first = endpoint_of(world)
    assert endpoint_of(world) == first
    assert endpoint_of(world, "bob") != first


def test_the_next_master_finds_it_or_ends_it(world: LocalWorld) -> None:
    """A master that was killed leaves it behind."""
    first, pid = endpoint_of(world), record_of(world)["pid"]
    left = world._backend
    world._backend = None  # as if it had been killed
    assert endpoint_of(world) == first
    world.close()
    assert left is not None
    left.close()  # reaps
    assert processes.read_process(pid) is None
    assert not record_of(world)


def test_a_process_that_is_gone_is_started_again(world: LocalWorld) -> None:
    first = endpoint_of(world)
    kill(world)
    second = endpoint_of(world)
    assert second != first
    with FileProgram(second) as program:
        assert program.names() == []


def kill(world: LocalWorld) -> None:
    pid = record_of(world)["pid"]
    os.kill(pid, 9)
    world.until(lambda: processes.read_process(pid).state == "Z")


def test_it_ends_when_nobody_asks_for_a_while() -> None:
    world = LocalWorld(files=FileLimits(idle_s=0.5))
    try:
        with FileProgram(endpoint_of(world)) as program:
            program.put_file("x", b"x")
        pid = record_of(world)["pid"]
        world.until(lambda: processes.read_process(pid) is None or processes.read_process(pid).state == "Z")
        with FileProgram(endpoint_of(world)) as program:
            assert program.names() == ["x"]
    finally:
        world.finish()


def test_names_may_be_any_bytes(ann: FileProgram, mine: Path) -> None:
    names = {
        b"caf\xe9": "caf%E9",
        "caf\u00e9".encode(): "caf\u00e9",
        b"a\x1b[31m\nb": "a%1B[31m%0Ab",
        b"100%": "100%25",
        b"-rf": "-rf",
        b" ": " ",
        "\U0001f40d".encode(): "\U0001f40d",
        "\u202egnp".encode(): "%E2%80%AEgnp",
    }
    for name in names:
        owned(_file(Path(os.fsdecode(os.fsencode(mine) + b"/" + name)), name))
    shown = ann.names()
    assert sorted(shown) == sorted(names.values())
    for name in shown:
        answer = ann.content(name)
        assert answer.status_code == 200
        assert answer.content in names
        assert ann.delete("/", params={"path": name}).status_code == 204
    assert ann.names() == []


@pytest.mark.parametrize("path", ["..", "a/../..", "./x", "%2e%2e", "x%00y", "100%", "n" * 256, "n/" * 3000])
def test_paths_that_are_none_are_refused(ann: FileProgram, path: str) -> None:
    refused(ann.get("/", params={"path": path}), 422, "invalid_path")
    refused(ann.begin(path, 1), 422, "invalid_path")


def test_links_are_followed_within_the_directory_only(world: LocalWorld, ann: FileProgram, mine: Path) -> None:
    outside = world.base / "outside"
    outside.mkdir(mode=0o755)
    (outside / "secret").write_text("secret")
    outside.chmod(0o777)
    (mine / "real").mkdir()
    owned(mine / "real")
    owned(_file(mine / "real" / "file", b"real"))
    for name, target in {
        "in": "real",
        "out": str(outside),
        "absolute": str(mine / "real"),
        "up": "../bob",
        "proc": "/proc/self/cwd",
        "loop": "loop",
        "missing": "nothing",
    }.items():
        (mine / name).symlink_to(target)
        owned(mine / name)
    assert ann.content("in/file").content == b"real"
    for name in ("out", "absolute", "up", "proc", "loop"):
        for path in (name, f"{name}/secret"):
            assert ann.get("/", params={"path": path}).status_code in (403, 404), path
            assert ann.content(path).status_code in (403, 404), path
        assert ann.begin(f"{name}/new", 1).status_code in (403, 404)
        assert ann.post("/directories", params={"path": f"{name}/new"}).status_code in (403, 404, 409)
        assert ann.delete("/", params={"path": f"{name}/secret"}).status_code in (403, 404)
        assert ann.post("/rename", params={"path": "in/file", "to": f"{name}/file"}).status_code in (403, 404)
    kinds = {entry["name"]: (entry["kind"], entry["link"]) for entry in ann.page()["entries"]}
    assert kinds["in"] == ("directory", True)
    assert kinds["out"] == kinds["proc"] == kinds["missing"] == ("other", True)
    assert ann.delete("/", params={"path": "out", "recursive": "true"}).status_code == 204
    assert [path.name for path in outside.iterdir()] == ["secret"]


def _file(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_special_file_is_refused_at_once(ann: FileProgram, mine: Path) -> None:
    os.mkfifo(mine / "fifo", 0o666)
    owned(mine / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(mine / "socket"))
        owned(mine / "socket")
        if IS_ROOT:
            os.mknod(mine / "device", 0o666 | 0o020000, os.makedev(1, 5))
            (mine / "device").chmod(0o666)
        began_s = time.monotonic()
        for name in ("fifo", "socket", *(["device"] if IS_ROOT else [])):
            refused(ann.content(name), 409, "wrong_kind")
            refused(ann.begin(name, 1), 409, "wrong_kind")
            assert ann.page(name)["entry"]["kind"] == "other"
        assert time.monotonic() - began_s < 5
    refused(ann.content(""), 409, "wrong_kind")


def test_a_directory_that_becomes_a_link_meanwhile_leads_nowhere(
    world: LocalWorld, ann: FileProgram, mine: Path
) -> None:
    outside = world.base / "outside"
    outside.mkdir(mode=0o777)
    outside.chmod(0o777)
    (outside / "secret").write_text("secret")
    (mine / "real").mkdir()
    owned(mine / "real")
    owned(_file(mine / "real" / "mine", b"mine"))
    (mine / "link").symlink_to(outside)
    over = threading.Event()

    def swap() -> None:
        while not over.is_set():
            with suppress(OSError):
                (mine / "real").rename(mine / "kept")
                (mine / "link").rename(mine / "real")
                (mine / "real").rename(mine / "link")
                (mine / "kept").rename(mine / "real")

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        seen: set[int] = set()
        numbers = count()
        # A machine with other work may let one of the two go on for long before the other's turn.
        while (number := next(numbers)) < 60 or (len(seen) < 2 and number < 3000):
            listed = ann.get("/", params={"path": "real"})
            seen.add(listed.status_code)
            assert "secret" not in listed.text
            assert ann.content("real/secret").status_code in (403, 404)
            ann.post("/directories", params={"path": f"real/made-{number}"})
            ann.delete("/", params={"path": "real/secret"})
    finally:
        over.set()
        swapper.join()
    assert seen <= {200, 403, 404, 409}
    assert len(seen) > 1
    assert [path.name for path in outside.iterdir()] == ["secret"]


def test_a_large_directory_comes_page_by_page(ann: FileProgram, mine: Path) -> None:
    for number in range(250):
        owned(_file(mine / f"f{number:03}", b""))
    names, after = [], ""
    while True:
        page = ann.page(after=after, limit=100)
        assert len(page["entries"]) <= 100
        names += [entry["name"] for entry in page["entries"]]
        if page["next"] is None:
            break
        after = page["next"]
    assert names == [f"f{number:03}" for number in range(250)]


def test_an_upload_goes_on_after_cuts_with_equal_bytes(world: LocalWorld, ann: FileProgram, mine: Path) -> None:
    """Cut by the client, by the end of the program, and by a request that is too short."""
    content = random.Random(2).randbytes(8 * MIB)
    upload = ann.begin("big", len(content)).headers["Upload-Id"]
    endpoint = endpoint_of(world)
    for cut, ending in ((MIB, "client"), (2 * MIB, "program"), (3 * MIB, "client")):
        with socket.create_connection((endpoint.host, endpoint.port)) as bare:
            with FileProgram(endpoint) as program:
                offset = int(program.head(f"/uploads/{upload}").headers["Upload-Offset"])
            head = f"PATCH /workspace/uploads/{upload} HTTP/1.1\r\nAuthorization: Bearer {endpoint.secret}\r\n"
            head += f"Upload-Offset: {offset}\r\nContent-Length: {len(content) - offset}\r\n\r\n"
            bare.sendall(head.encode() + content[offset : offset + cut])
            if ending == "program":
                world.until(lambda at=offset: written(mine, upload) > at)
                kill(world)
                endpoint = endpoint_of(world)
        with FileProgram(endpoint) as program:

            def free(program: FileProgram = program) -> bool:
                offset = program.head(f"/uploads/{upload}").headers["Upload-Offset"]
                return program.append(upload, int(offset), b"").status_code == 204

            world.until(free)
    with FileProgram(endpoint) as program:
        assert program.names() == []
        offset = int(program.head(f"/uploads/{upload}").headers["Upload-Offset"])
        assert 0 < offset < len(content)
        assert program.append(upload, offset, content[offset:]).status_code == 204
        # The answer to the last piece may be lost.
        assert program.head(f"/uploads/{upload}").headers["Upload-Offset"] == str(len(content))
        assert program.names() == ["big"]
    assert hashlib.sha256((mine / "big").read_bytes()).digest() == hashlib.sha256(content).digest()
    assert unfinished(mine) == []


def written(mine: Path, upload: str) -> int:
    return next(mine.glob(f".zoe-uploads-*/{upload}")).stat().st_size


def unfinished(mine: Path) -> list[Path]:
    return list(mine.glob(".zoe-uploads-*/*"))


def test_two_uploads_of_one_name_never_mix(ann: FileProgram, mine: Path) -> None:
    contents = [bytes([letter]) * MIB for letter in b"ab"]
    begun = [ann.begin("same", MIB).headers["Upload-Id"] for _ in contents]
    for half in (0, MIB // 2):
        for upload, content in zip(begun, contents, strict=True):
            ann.append(upload, half, content[half : half + MIB // 2])
    assert (mine / "same").read_bytes() == contents[-1]
    assert ann.names() == ["same"]


def test_an_upload_takes_one_writer_and_only_what_comes_next(ann: FileProgram, world: LocalWorld) -> None:
    endpoint, upload = endpoint_of(world), ann.begin("one", 100).headers["Upload-Id"]
    with socket.create_connection((endpoint.host, endpoint.port)) as slow:
        head = f"PATCH /workspace/uploads/{upload} HTTP/1.1\r\nAuthorization: Bearer {endpoint.secret}\r\n"
        slow.sendall(f"{head}Upload-Offset: 0\r\nContent-Length: 100\r\n\r\n".encode() + b"x" * 10)
        world.until(lambda: ann.head(f"/uploads/{upload}").headers["Upload-Offset"] == "10")
        refused(ann.append(upload, 10, b"y"), 423, "upload_busy")
    world.until(lambda: ann.append(upload, 10, b"y").status_code == 204)
    refused(ann.append(upload, 5, b"z"), 409, "upload_offset")
    refused(ann.append(upload, 11, b"z" * 90), 413, "too_large")
    assert ann.delete(f"/uploads/{upload}").status_code == 204
    refused(ann.append(upload, 11, b"z"), 404, "upload_gone")
    refused(ann.append("0" * 32, 0, b"z"), 404, "upload_gone")
    refused(ann.append("..%2F..%2Fx", 0, b"z"), 404, "upload_gone")


def test_an_upload_that_does_not_go_on_ends_after_a_day(ann: FileProgram, mine: Path) -> None:
    old, young = (ann.begin(name, 10).headers["Upload-Id"] for name in ("old", "young"))
    for path in unfinished(mine):
        if path.name.startswith(old):
            os.utime(path, (time.time() - 90_000,) * 2)
    ann.begin("another", 10)
    assert not [path for path in unfinished(mine) if path.name.startswith(old)]
    assert [path for path in unfinished(mine) if path.name.startswith(young)]


def test_unfinished_uploads_are_bounded(ann: FileProgram) -> None:
    for number in range(100):
        assert ann.begin(f"f{number}", 1).status_code == 201
    refused(ann.begin("one more", 1), 429, "too_many_uploads")


def test_forged_upload_state_is_not_trusted(world: LocalWorld, ann: FileProgram, mine: Path) -> None:
    upload = ann.begin("x", 4).headers["Upload-Id"]
    info = next(mine.glob(".zoe-uploads-*/*.json"))
    for text in ('{"path": "../out", "length": 4}', '{"path": "x"}', "[]", "no", '{"path": "x", "length": "4"}'):
        info.write_text(text)
        refused(ann.append(upload, 0, b"data"), 404, "upload_gone")
    info.unlink()
    os.mkfifo(info)
    owned(info)
    refused(ann.append(upload, 0, b"data"), 404, "upload_gone")
    subprocess.run(["rm", "-rf", str(info.parent)], check=True)
    info.parent.symlink_to(world.base)
    refused(ann.append(upload, 0, b"data"), 404, "upload_gone")
    ann.put_file("x", b"data")
    assert (mine / "x").read_bytes() == b"data"
    assert sorted(path.name for path in world.base.glob("*.json")) == []
    refused(ann.delete("/", params={"path": info.parent.name}), 409, "wrong_kind")


@needs_root
def test_members_of_a_tenant_cannot_keep_each_other_from_uploading(world: LocalWorld) -> None:
    shared = world.settings.workspaces_dir / "tenant" / "shared"
    with (
        FileProgram(endpoint_of(world), root="shared") as ann,
        FileProgram(endpoint_of(world, "bob"), root="shared") as bob,
    ):
        assert ann.names() == bob.names() == []
        assert list(shared.iterdir()) == []  # who only looks leaves nothing behind
        for name in (".zoe-uploads", f".zoe-uploads-{ANN.uid}-0", f".zoe-uploads-{ANN.uid}"):
            (shared / name).mkdir(0o700)
            os.chown(shared / name, BOB.uid, BOB.gid)
        upload = ann.begin("x", 8).headers["Upload-Id"]
        assert ann.append(upload, 0, b"half").status_code == 204
        place = next(path.parent for path in shared.glob(f"*/{upload}"))
        assert (place.stat().st_uid, place.stat().st_mode & 0o777) == (ANN.uid, 0o700)
        refused(bob.delete(f"/uploads/{upload}"), 404, "upload_gone")
        taken = place.rename(shared / "taken")
        place.mkdir(0o777)
        os.chown(place, BOB.uid, BOB.gid)
        refused(ann.append(upload, 4, b"half"), 404, "upload_gone")
        assert list(place.iterdir()) == []
        place.rmdir()
        taken.rename(place)
        assert ann.append(upload, 4, b"half").status_code == 204
        bob.put_file("y", b"y")
        assert (ann.names(), bob.names()) == (["x", "y"], ["x", "y"])
        assert (shared / "x").read_bytes() == b"halfhalf"


@needs_root
def test_a_full_workspace_says_so_and_keeps_what_it_has() -> None:
    world = LocalWorld(files=FileLimits(free_bytes_min=MIB))
    mounted = world.settings.workspaces_dir
    mounted.mkdir(mode=0o711)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=711", "tmpfs", str(mounted)], check=True)
    try:
        with FileProgram(endpoint_of(world)) as ann:
            ann.put_file("kept", b"k" * 4 * MIB)
            assert "delete files" in refused(ann.begin("large", 4 * MIB), 507, "workspace_full")
            two = [ann.begin(name, 2 * MIB) for name in ("one", "two")]
            assert [begun.status_code for begun in two] == [201, 507], "unfinished uploads count"
            (mounted / "tenant" / "ann" / "others").write_bytes(b"o" * 2 * MIB)
            answer = ann.append(two[0].headers["Upload-Id"], 0, b"1" * 2 * MIB)
            refused(answer, 507, "workspace_full")
            assert ann.content("kept").content == b"k" * 4 * MIB
            (mounted / "tenant" / "ann" / "others").unlink()
            offset = int(ann.head(f"/uploads/{two[0].headers['Upload-Id']}").headers["Upload-Offset"])
            assert ann.append(two[0].headers["Upload-Id"], offset, b"1" * (2 * MIB - offset)).status_code == 204
            assert ann.content("one").content == b"1" * 2 * MIB
    finally:
        world.close()
        subprocess.run(["umount", str(mounted)], check=True)
        world.finish()


def test_an_upload_may_be_too_large() -> None:
    world = LocalWorld(files=FileLimits(upload_bytes_max=10))
    try:
        with FileProgram(endpoint_of(world)) as ann:
            assert "at most 10" in refused(ann.begin("x", 11), 413, "too_large")
    finally:
        world.finish()


def test_a_part_of_a_file_and_only_of_the_same_file(ann: FileProgram) -> None:
    ann.put_file("x", b"0123456789")
    whole = ann.content("x")
    tag = whole.headers["ETag"]
    for wanted, content in {
        "bytes=2-4": b"234",
        "bytes=7-": b"789",
        "bytes=-2": b"89",
        "bytes=0-99": whole.content,
    }.items():
        part = ann.content("x", Range=wanted)
        assert (part.status_code, part.content) == (206, content)
    assert ann.content("x", Range="bytes=4-6").headers["Content-Range"] == "bytes 4-6/10"
    refused(ann.content("x", Range="bytes=10-"), 416, "invalid_range")
    for odd in ("bytes=0-1,3-4", "lines=1-2", "bytes=-", "bytes=x-"):
        assert ann.content("x", Range=odd).status_code == 200
    ann.put_file("x", b"abcdefghij")
    again = ann.content("x", **{"Range": "bytes=2-4", "If-Range": tag})
    assert (again.status_code, again.content) == (200, b"abcdefghij")


def test_results_are_files_that_match(world: LocalWorld, ann: FileProgram, mine: Path) -> None:
    outside = world.base / "outside"
    outside.mkdir(mode=0o755)
    (outside / "secret.csv").write_text("secret")
    for name in ("out/a.csv", "out/b.csv", "out/.hidden.csv", "out/c.txt", "deep/x/y.csv", "caf\u00e9.csv"):
        (mine / name).parent.mkdir(parents=True, exist_ok=True)
        owned(_file(mine / name, b"x"))
    os.mkfifo(mine / "out" / "pipe.csv")
    (mine / "link").symlink_to(outside)
    subprocess.run(["chown", "-hR", f"{ANN.uid}:{ANN.gid}", str(mine)], check=IS_ROOT)
    wanted = ["out/*.csv", "*/x/[xyz].csv", "caf?.csv", "link/*.csv", "missing/*", "out"]
    found = ann.get("/matching", params={"pattern": wanted}).json()
    assert [file["path"] for file in found["files"]] == ["deep/x/y.csv", "out/a.csv", "out/b.csv", "out/c.txt"]
    assert found["unmatched"] == ["caf?.csv", "link/*.csv", "missing/*"]
    assert found["complete"]
    assert ann.get("/matching", params={"pattern": "caf*.csv"}).json()["files"][0]["path"] == "caf\u00e9.csv"
    refused(ann.get("/matching", params={"pattern": "../*"}), 422, "invalid_path")


def test_rename_and_delete_lose_nothing(ann: FileProgram, mine: Path) -> None:
    ann.put_file("one", b"1")
    ann.put_file("two", b"2")
    refused(ann.post("/rename", params={"path": "one", "to": "two"}), 409, "file_exists")
    assert ann.post("/directories", params={"path": "d/e"}).status_code == 201
    assert ann.post("/directories", params={"path": "d/e"}).status_code == 200
    refused(ann.post("/directories", params={"path": "one"}), 409, "wrong_kind")
    assert ann.post("/rename", params={"path": "one", "to": "d/e/1"}).status_code == 204
    refused(ann.delete("/", params={"path": "d"}), 409, "wrong_kind")
    refused(ann.delete("/", params={"path": ""}), 422, "invalid_path")
    refused(ann.begin("d", 1), 409, "wrong_kind")
    assert ann.delete("/", params={"path": "d", "recursive": "true"}).status_code == 204
    assert ann.names() == ["two"]
    refused(ann.delete("/", params={"path": "d"}), 404, "not_found")
    refused(ann.content("d/x"), 404, "not_found")


@needs_root
def test_another_user_reaches_only_what_is_shared(world: LocalWorld, ann: FileProgram, mine: Path) -> None:
    ann.put_file("private", b"private")
    with FileProgram(endpoint_of(world), "shared") as ours, FileProgram(endpoint_of(world, "bob"), "shared") as his:
        ours.put_file("ours", b"ours")
        assert his.content("ours").content == b"ours"
        his.put_file("ours", b"his")
        assert ours.content("ours").content == b"his"
        upload = ours.begin("begun", 10).headers["Upload-Id"]
        refused(his.append(upload, 0, b"x"), 404, "upload_gone")
    shared = world.settings.workspaces_dir / "tenant" / "shared"
    assert (shared / "ours").stat().st_gid == ANN.gid
    assert (shared / "ours").stat().st_mode & 0o777 == 0o664
    with FileProgram(endpoint_of(world, "bob")) as bob:
        assert bob.names() == []
        refused(bob.get("/", params={"path": "../ann"}), 422, "invalid_path")


@needs_root
def test_forbidden_file_is_refused(ann: FileProgram, mine: Path) -> None:
    _file(mine / "of-root", b"secret").chmod(0o600)
    (mine / "closed").mkdir(mode=0o700)
    refused(ann.content("of-root"), 403, "file_denied")
    refused(ann.get("/", params={"path": "closed"}), 403, "file_denied")
    refused(ann.begin("closed/x", 1), 403, "file_denied")


def test_names_of_users_that_are_no_directory_are_refused(world: LocalWorld) -> None:
    for tenant, user in (("..", "ann"), ("tenant", "../bob"), ("a/b", "ann")):
        with pytest.raises(BackendError):
            world.backend.files(tenant, user, ANN)


@needs_root
def test_without_a_number_there_are_no_files(world: LocalWorld) -> None:
    with pytest.raises(BackendError, match="user_ids_last"):
        world.backend.files("tenant", "ann", None)
