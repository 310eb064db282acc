"""Sources of files, and requests to a user's program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.plain_api import TENANT, USER, caller_of, person, refusal, request, run, services
from zoe_api.files import sources as file_sources
from zoe_api.files.sources import ProgramFiles, check_paths
from zoe_api.http.problems.codes import Code
from zoe_api.services.file_programs import FileRequest
from zoe_lib.sealing import Seal
from zoe_lib.store.people import SealedCredential


@pytest.mark.parametrize("path", ["", "a", "a/b.txt", "%20"])
def test_paths_are_checked_before_they_are_sent(path: str) -> None:
    check_paths(path, "also/this")


@pytest.mark.parametrize("path", ["../a", "a/../b", "a%00b"])
def test_invalid_path_is_refused(path: str) -> None:
    with refusal(Code.INVALID_PATH):
        check_paths("a", path)


def there(tmp_path: Path, **changes: str) -> Any:
    made = services(
        keys_dir=tmp_path,
        storage_services={
            "zoe": {"url": "http://swift/auth"},
            "s3a": {"url": "http://s3", **({"swift_url": changes["swift_url"]} if "swift_url" in changes else {})},
        },
    )
    seal = Seal.from_keys_dir(tmp_path)
    found = [
        SealedCredential(TENANT, service, "acme:ann", seal.encrypt(f"key of {service}", TENANT, service, "acme:ann"))
        for service in ("zoe", "s3a")
    ]
    made.accounts.storage_credentials = lambda tenant: found if tenant == TENANT else []
    made.found = found
    return made


def test_a_tenant_signs_in_with_its_own_credential(tmp_path: Path) -> None:
    login = file_sources._login_of("zoe", caller_of(there(tmp_path), person()))
    assert (login.service, login.auth_url, login.user, login.key) == (
        "zoe",
        "http://swift/auth",
        "acme:ann",
        "key of zoe",
    )
    other = file_sources._login_of("s3a", caller_of(there(tmp_path, swift_url="http://swift2"), person()))
    assert (other.auth_url, other.key) == ("http://swift2", "key of s3a")


def test_a_service_that_cannot_be_reached_is_refused(tmp_path: Path) -> None:
    for service, who, code in (
        ("none", person(), Code.NOT_FOUND),
        ("s3a", person(), Code.WRONG_KIND),
        ("zoe", person(tenant="elsewhere"), Code.FILE_DENIED),
    ):
        with refusal(code):
            file_sources._login_of(service, caller_of(there(tmp_path), who))
    made = there(tmp_path)
    made.found[0] = SealedCredential(TENANT, "zoe", "acme:bob", made.found[0].sealed)
    with refusal(Code.FILE_DENIED) as found:
        file_sources._login_of("zoe", caller_of(made, person()))
    assert "cannot decrypt" in found.problem.detail


class Programs:
    def __init__(self) -> None:
        self.asked: list[FileRequest] = []
        self.headers: dict[str, str] = {}

    async def answer(self, ask: Any, principal: Any, wanted: FileRequest, request_id: str) -> httpx.Response:
        assert (principal.user, request_id) == (USER, "r")
        self.asked.append(wanted)
        return httpx.Response(200, headers=self.headers)


def asked(work: str, *given: Any, **more: Any) -> tuple[FileRequest, Any]:
    made, programs = services(), Programs()
    programs.headers = {"upload-id": "u", "upload-offset": "3", "x-other": "y"}
    made.files = programs
    files = ProgramFiles("shared", caller_of(made, person(), request(state={"request_id": "r"})))
    answer = run(getattr(files, work)(*given, **more))
    return programs.asked[0], answer


@pytest.mark.parametrize(
    ("work", "given", "more", "method", "path", "query", "headers"),
    [
        ("content", ("a", {"range": "x"}), {}, "GET", "/shared/content", {"path": "a"}, {"range": "x"}),
        ("make_directory", ("a",), {}, "POST", "/shared/directories", {"path": "a"}, {}),
        ("rename", ("a", "b"), {}, "POST", "/shared/rename", {"path": "a", "to": "b"}, {}),
        ("delete", ("a",), {"recursive": True}, "DELETE", "/shared", {"path": "a", "recursive": "true"}, {}),
        ("begin_upload", ("a", 5), {}, "POST", "/shared/uploads", {"path": "a"}, {"Upload-Length": "5"}),
        ("find_upload", ("n",), {}, "HEAD", "/shared/uploads/n", {}, {}),
        ("end_upload", ("n",), {}, "DELETE", "/shared/uploads/n", {}, {}),
        (
            "append",
            ("n", 3, 5, None),
            {},
            "PATCH",
            "/shared/uploads/n",
            {},
            {"Upload-Offset": "3", "Content-Length": "5"},
        ),
    ],
)
def test_each_operation_is_a_request_to_the_users_program(
    work: str, given: Any, more: Any, method: str, path: str, query: Any, headers: Any
) -> None:
    wanted, answer = asked(work, *given, **more)
    assert (wanted.method, wanted.path, wanted.query, wanted.headers) == (method, path, query, headers)
    if work in ("begin_upload", "find_upload", "append"):
        assert (answer.id, answer.headers) == ("u", {"Upload-Offset": "3"})


def test_a_path_that_is_none_is_not_sent() -> None:
    for work, given in (("make_directory", ("..",)), ("rename", ("a", ".."))):
        with refusal(Code.INVALID_PATH):
            asked(work, *given)
