"""The lines before and after the chunks of a body."""

from __future__ import annotations

import io

import pytest

from storage_filters.s3_signed.aws_chunks import LINE_BYTES_MAX, ChunkLines, size_of

SIGNED = b";chunk-signature=" + b"ab" * 32


class BadLineError(Exception):
    """What a test's body raises."""


def body(content: bytes) -> ChunkLines:
    return ChunkLines(io.BytesIO(content), BadLineError)


def test_sizes_are_hexadecimal_digits() -> None:
    for line, size in ((b"0\r\n", 0), (b"a\r\n", 10), (b"1F" + SIGNED + b"\r\n", 31), (b"000A;x\r\n", 10)):
        assert size_of(line) == size


@pytest.mark.parametrize(
    "text", [b"+5", b"-5", b"-0", b"0x5", b"0X5", b"1_0", b" 5", b"5 ", b"\t5", b"", b"g", "٥".encode(), b"1" * 17]
)
def test_numbers_that_only_python_reads_are_refused(text: bytes) -> None:
    for line in (text + b"\r\n", text + SIGNED + b"\r\n"):
        assert size_of(line) is None
        with pytest.raises(BadLineError):
            body(line).readline()


def test_a_line_ends_as_the_book_says() -> None:
    for line in (b"5\n", b"5\r", b"5", b"5\r\r\n", b"5;a\rb\r\n"):
        with pytest.raises(BadLineError):
            body(line).readline()


def test_a_line_has_a_bound() -> None:
    longest = b"5;" + b"a" * (LINE_BYTES_MAX - 4) + b"\r\n"
    assert body(longest).readline() == longest
    source = io.BytesIO(b"5;" + b"a" * (1 << 20))
    with pytest.raises(BadLineError, match="more than 1024 bytes"):
        ChunkLines(source, BadLineError).readline()
    assert source.tell() == LINE_BYTES_MAX + 1


def test_contents_and_trailers_pass() -> None:
    chunks = body(b"5\r\n+5\r\nx\r\n0\r\nx-amz-checksum-crc32:AAAAAA==\r\n\r\n")
    assert chunks.readline() == b"5\r\n"
    assert chunks.readline(4) == b"+5\r\n", "with a size it is content"
    assert chunks.read(1) == b"x"
    assert chunks.read(2) == b"\r\n"
    assert chunks.readline() == b"0\r\n"
    assert [chunks.readline() for _ in range(3)] == [b"x-amz-checksum-crc32:AAAAAA==\r\n", b"\r\n", b""]
    chunks.close()


def test_trailers_have_the_same_bound() -> None:
    chunks = body(b"0\r\n" + b"x" * 5000)
    chunks.readline()
    with pytest.raises(BadLineError):
        chunks.readline()


def test_other_attributes_are_those_of_the_body() -> None:
    assert body(b"abc").getvalue() == b"abc"
