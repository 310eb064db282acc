from __future__ import annotations

import base64
import hashlib
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage_filters.s3_signed.calls.checksums import COMPOSITE, FULL_OBJECT, Checksum, are_same, of_parts, of_upload

PART = 5 * 2**20


def crc32(content: bytes) -> str:
    return base64.b64encode(zlib.crc32(content).to_bytes(4, "big")).decode()


def no_hasher() -> Any:
    raise AssertionError("the check of the whole is made from those of its parts")


# Three parts of 5 MiB, of A, B and C, and the whole: from Ceph's suite for S3.
@pytest.mark.parametrize(
    ("algorithm", "values", "whole"),
    [
        ("CRC32", ("JRTCyQ==", "QoZTGg==", "YAgjqw=="), "WgDhBQ=="),
        ("CRC32C", ("MDaLrw==", "TH4EZg==", "Z7mBIQ=="), "xU+Krw=="),
        ("CRC64NVME", ("L/E4WYn8v98=", "xW1l19VobYM=", "cK5MnNaWrW4="), "i+6LR0y3eFo="),
    ],
)
def test_the_check_of_a_whole_is_combined_from_its_parts(algorithm: str, values: tuple[str, ...], whole: str) -> None:
    made = of_parts(of_upload(algorithm, FULL_OBJECT), [(value, PART) for value in values], no_hasher)
    assert made == Checksum(algorithm, FULL_OBJECT, whole)


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=5))
def test_parts_of_any_lengths_combine(parts: list[bytes]) -> None:
    made = of_parts(of_upload("CRC32", FULL_OBJECT), [(crc32(part), len(part)) for part in parts], no_hasher)
    assert made.value == crc32(b"".join(parts))


def test_a_composite_is_the_hash_of_the_parts_with_their_number() -> None:
    values = (
        "275VF5loJr1YYawit0XSHREhkFXYkkPKGuoK0x9VKxI=",
        "mrHwOfjTL5Zwfj74F05HOQGLdUb7E5szdCbxgUSq6NM=",
        "Vw7oB/nKQ5xWb3hNgbyfkvDiivl+U+/Dft48nfJfDow=",
    )
    made = of_parts(of_upload("SHA256", ""), [(value, PART) for value in values], hashlib.sha256)
    assert made == Checksum("SHA256", COMPOSITE, "uWBwpe1dxI4Vw8Gf0X9ynOdw/SS6VBzfWm9giiv1sf4=-3")
    assert are_same(made.value, made.value)
    assert are_same(made.value.partition("-")[0], made.value)
    assert not are_same("AAAA", made.value)


@pytest.mark.parametrize(
    ("algorithm", "kind", "sentence"),
    [
        ("MD5", "", "The checksum algorithm MD5 is not known"),
        ("CRC32", "HALF", "The checksum type HALF is not known"),
        ("SHA256", "FULL_OBJECT", "The FULL_OBJECT checksum type cannot be used with the SHA256 checksum algorithm."),
        ("CRC64NVME", "COMPOSITE", "The COMPOSITE checksum type cannot be used with the CRC64NVME checksum algorithm."),
    ],
)
def test_what_no_upload_can_have_is_refused(algorithm: str, kind: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        of_upload(algorithm, kind)


def test_a_kept_text_is_read_back_and_any_other_is_none() -> None:
    for found in (Checksum("CRC32", FULL_OBJECT, "JRTCyQ=="), Checksum("SHA256", COMPOSITE)):
        assert Checksum.from_text(found.text) == found
    for text in (None, "", "CRC32", "MD5 FULL_OBJECT x", "CRC32 FULL_OBJECT x y"):
        assert Checksum.from_text(text) is None
