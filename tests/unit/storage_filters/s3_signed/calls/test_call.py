from __future__ import annotations

from typing import Any

import pytest

from storage_filters.s3_signed.calls.call import S3Call
from storage_filters.s3_signed.calls.checksums import Checksum
from storage_filters.s3_signed.calls.conditions import Conditions


def env(method: str, **headers: str) -> dict[str, Any]:
    return {"REQUEST_METHOD": method, **{f"HTTP_{name.upper()}": value for name, value in headers.items()}}


@pytest.mark.parametrize(
    ("method", "query", "kind"),
    [
        ("PUT", {}, "put"),
        ("PUT", {"partNumber": "1", "uploadId": "u"}, "part"),
        ("PUT", {"acl": ""}, "other"),
        ("POST", {"uploads": ""}, "create"),
        ("POST", {"uploadId": "u"}, "complete"),
        ("POST", {"delete": ""}, "other"),
        ("GET", {"uploadId": "u"}, "other"),
        ("HEAD", {}, "read"),
        ("DELETE", {}, "delete"),
        ("DELETE", {"uploadId": "u"}, "other"),
    ],
)
def test_a_call_is_known_by_its_method_and_query(method: str, query: dict[str, str], kind: str) -> None:
    assert S3Call.from_environ(env(method), query).kind == kind


def test_conditions_are_taken_from_s3api_which_refuses_them() -> None:
    request = env("PUT", if_match='"a"')
    call = S3Call.from_environ(request, {})
    call.take(request)
    assert (call.conditions, "HTTP_IF_MATCH" in request) == (Conditions(if_match='"a"'), False)


def test_creation_alone_is_left_to_the_servers_which_do_it_in_one_step() -> None:
    request = env("PUT", if_none_match="*")
    call = S3Call.from_environ(request, {})
    call.take(request)
    assert (bool(call.conditions), request["HTTP_IF_NONE_MATCH"]) == (False, "*")


def test_conditions_of_reads_stay() -> None:
    request = env("GET", if_match='"a"')
    call = S3Call.from_environ(request, {})
    call.take(request)
    assert request["HTTP_IF_MATCH"] == '"a"'


def test_a_checksum_comes_before_or_after_the_body() -> None:
    first = S3Call.from_environ(env("PUT", x_amz_checksum_crc32="JRTCyQ=="), {})
    assert first.stored() == Checksum("CRC32", value="JRTCyQ==")
    last = S3Call.from_environ(env("PUT", x_amz_trailer="x-amz-checksum-crc32c"), {})
    assert last.stored() is None
    last.trailers = {"x-amz-checksum-crc32c": "MDaLrw=="}
    assert last.stored() == Checksum("CRC32C", value="MDaLrw==")
    assert S3Call.from_environ(env("PUT"), {}).sent is None


def test_the_checksum_of_a_whole_is_taken_from_s3api_which_knows_only_those_of_bodies() -> None:
    request = env("POST", x_amz_checksum_sha256="x-2", x_amz_sdk_checksum_algorithm="SHA256")
    call = S3Call.from_environ(request, {"uploadId": "u"})
    call.take(request)
    assert (call.sent, request) == (Checksum("SHA256", value="x-2"), env("POST"))


def test_an_upload_says_which_checksums_its_parts_have() -> None:
    call = S3Call.from_environ(env("POST", x_amz_checksum_algorithm="CRC32"), {"uploads": ""})
    assert call.upload == Checksum("CRC32", "COMPOSITE")
    with pytest.raises(ValueError, match="FULL_OBJECT"):
        S3Call.from_environ(
            env("POST", x_amz_checksum_algorithm="SHA1", x_amz_checksum_type="FULL_OBJECT"), {"uploads": ""}
        )
