"""Data that goes through filters comes back byte for byte, any range of it, and damaged data does not."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace

import lz4.frame  # type: ignore[import-untyped]
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from storage_filters.filter_host.applied_filters import AppliedFilters
from storage_filters.filter_host.records import filters_of, parse_records
from storage_filters.transforms.compression import LEVELS, Compression
from storage_filters.transforms.encryption import MARK, SEGMENT_BYTES, Encryption, check_unencrypted
from storage_filters.transforms.keyring import Key, Keyring
from storage_filters.transforms.seek_table import FRAME_BYTES, SeekTable
from storage_filters.transforms.stream_filters import (
    DamagedObjectError,
    FilterRefusedError,
    Noop,
    StreamFilter,
    exactly,
    read_tables,
    run_backward,
    run_forward,
    spans,
)
from storage_filters.wsgi.headers import NODE_DONE, PUT_ETAG, PUT_SIZE

KEY = Key("k1", bytes(range(32)))
NAME = b"AUTH_acme/c/o"
ENCRYPTION = st.builds(lambda name: Encryption(KEY, name=name), st.sampled_from([NAME, None]))
COMPRESSION = st.one_of(
    [st.builds(Compression, st.just(kind), st.integers(1, min(most, 9))) for kind, most in LEVELS.items()]
)
CHAINS = st.lists(ENCRYPTION | COMPRESSION | st.builds(Noop), max_size=4)
BOUNDS = (SEGMENT_BYTES, 2 * SEGMENT_BYTES, 3 * SEGMENT_BYTES, FRAME_BYTES, 2 * FRAME_BYTES, 5 * FRAME_BYTES)
LENGTHS = st.integers(0, 300) | st.sampled_from([bound + more for bound in BOUNDS for more in (-1, 0, 1, 7)])
BODIES = st.builds(lambda seed, length: (seed * (length // len(seed) + 1))[:length], st.binary(min_size=1), LENGTHS)
PIECES = st.integers(1, 100_000)


def cut(body: bytes, piece: int) -> Iterator[bytes]:
    return (body[at : at + piece] for at in range(0, len(body), piece))


@given(CHAINS, BODIES, PIECES, PIECES)
def test_filtered_data_is_read_back_unchanged(chain: list[StreamFilter], body: bytes, piece: int, other: int) -> None:
    kept = b"".join(run_forward(chain, cut(body, max(piece, len(body) // 50 + 1))))
    pieces = cut(kept, max(other, len(kept) // 50 + 1))
    assert b"".join(exactly(run_backward(chain, pieces, 0, None), len(body))) == body


@given(CHAINS, BODIES, st.data())
def test_any_range_of_it(chain: list[StreamFilter], body: bytes, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, max(0, len(body) - 1)))
    end = data.draw(st.none() | st.integers(min(first + 1, len(body)), len(body)))
    kept = b"".join(run_forward(chain, cut(body, 50_000)))
    if data.draw(st.booleans()):
        chain = _again(chain)
        read_tables(chain, lambda start, stop: cut(kept[start:stop], 10_000))
    asked = [*spans(chain, first, end)]
    start, stop = (asked[-1].first, asked[-1].end) if asked else (first, end)
    part = kept[start:stop]
    assert b"".join(run_backward(chain, cut(part, 10_000), first, end)) == body[first:end]
    if chain and all(isinstance(entry, Encryption | Noop) for entry in chain) and end is not None:
        assert len(part) <= (end - first) + 2 * len(chain) * (SEGMENT_BYTES + 16)  # not from the start


def _again(chain: list[StreamFilter]) -> list[StreamFilter]:
    """Return the same filters as a reader of the object makes them."""
    ring = SimpleNamespace(key_named=lambda _, name: KEY if name == KEY.name else None)
    return filters_of(json.dumps([entry.record() for entry in chain]), "acme", ring, NAME)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["ZSTD", "LZ4"])
@pytest.mark.parametrize(
    "later", [[], [Encryption(KEY)], [Compression("GZIP")], [Compression("ZSTD"), Encryption(KEY)]]
)
def test_a_range_is_read_from_its_frame_on(kind: str, later: list[StreamFilter]) -> None:
    body = random.Random(1).randbytes(9 * FRAME_BYTES + 5)
    chain: list[StreamFilter] = [Compression(kind), *later]
    kept = b"".join(run_forward(chain, cut(body, 50_000)))
    reading = _again(chain)
    read: list[tuple[int, int | None]] = []

    def of_store(first: int, end: int | None) -> Iterator[bytes]:
        read.append((first, end))
        return cut(kept[first:end], 10_000)

    read_tables(reading, of_store)
    for first, end in (
        (7 * FRAME_BYTES + 3, 7 * FRAME_BYTES + 9),
        (FRAME_BYTES, 2 * FRAME_BYTES),
        (len(body) - 5, None),
    ):
        last = spans(reading, first, end)[-1]
        assert b"".join(run_backward(reading, of_store(last.first, last.end), first, end)) == body[first:end]
        if not any(isinstance(entry, Compression) and entry.record()["type"] == "GZIP" for entry in later):
            assert last.first > 0
            assert (last.end or len(kept)) - last.first < 3 * FRAME_BYTES
    read_tables(reading, of_store)
    tables = sum(isinstance(entry, Compression) and "table" in entry.record() for entry in chain)
    assert len(read) == tables + 3  # known data is not read again


def test_objects_of_earlier_versions_are_read_from_the_start() -> None:
    body = random.Random(2).randbytes(3 * FRAME_BYTES)
    for kind, kept in (
        ("ZSTD", zstandard.ZstdCompressor(write_checksum=True).compress(body)),
        ("LZ4", lz4.frame.compress(body, content_checksum=True)),
    ):
        found = filters_of(json.dumps([{"filter": "COMPRESSION", "type": kind}]), "acme", Keyring(None), NAME)
        assert [(span.first, span.end) for span in spans(found, FRAME_BYTES, None)] == [(0, None)]
        assert b"".join(run_backward(found, cut(kept, 9999), FRAME_BYTES, None)) == body[FRAME_BYTES:]


def test_others_unpack_what_is_stored() -> None:
    body = bytes(3 * FRAME_BYTES)
    kept = {kind: b"".join(run_forward([Compression(kind)], [body])) for kind in LEVELS}
    reader = zstandard.ZstdDecompressor().stream_reader(kept["ZSTD"], read_across_frames=True)
    assert reader.read(len(body) + 1) == body
    assert gzip.decompress(kept["GZIP"]) == body
    with lz4.frame.open(BytesIO(kept["LZ4"])) as file:
        assert file.read() == body


@pytest.mark.parametrize("place", [0, 4, 9, -1, -5, -9])
def test_a_table_that_is_none_is_damage(place: int) -> None:
    raw = bytearray(SeekTable([(10, FRAME_BYTES), (30, 40)]).to_frame())
    assert SeekTable.parse(bytes(raw)).stored_size == 40
    raw[place] ^= 0x80
    one = Compression("ZSTD", table_at=(40, 40 + len(raw)))
    with pytest.raises(DamagedObjectError):
        one.learn(bytes(raw))


@given(st.lists(ENCRYPTION | COMPRESSION, min_size=1, max_size=3), BODIES, st.data())
def test_a_changed_or_shortened_object_is_never_read_as_another_one(
    chain: list[StreamFilter], body: bytes, data: st.DataObject
) -> None:
    """It is refused, or the damage is in bytes that the format does not use; fewer bytes are an error in any case."""
    kept = bytearray(b"".join(run_forward(chain, cut(body, 50_000))))
    if data.draw(st.booleans()):
        place = data.draw(st.integers(0, len(kept) - 1))
        kept[place] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del kept[data.draw(st.integers(0, len(kept) - 1)) :]
    got = bytearray()
    try:
        for chunk in exactly(run_backward(chain, cut(bytes(kept), 10_000), 0, None), len(body)):
            got += chunk
    except DamagedObjectError:
        if any(isinstance(entry, Encryption) for entry in chain):
            assert body.startswith(bytes(got))
        return
    assert got == body


def test_an_object_that_unpacks_to_more_than_was_put_ends_there() -> None:
    packed = b"".join(run_forward([Compression("ZSTD")], [bytes(10**7)]))
    got: list[bytes] = []
    with pytest.raises(DamagedObjectError, match="more bytes"):
        got.extend(exactly(run_backward([Compression("ZSTD")], [packed], 0, None), 1000))
    assert b"".join(got) == bytes(1000)
    for kind in LEVELS:  # in pieces, however much they unpack to
        packed = b"".join(run_forward([Compression(kind)], [bytes(10**7)]))
        assert max(map(len, run_backward([Compression(kind)], [packed], 0, None))) <= 65536


def _ring(tmp_path: Path, document: object) -> Keyring:
    (tmp_path / "keys").write_text(json.dumps(document))
    return Keyring(tmp_path / "keys")


def test_keys_rotate_and_missing_or_wrong_ones_are_named(tmp_path: Path) -> None:
    first, second = "11" * 32, "22" * 32
    ring = _ring(tmp_path, {"acme": {"current": "a1", "keys": {"a1": first}}})
    encryption = Encryption(ring.current("acme"), name=NAME)
    text = json.dumps([encryption.record()])
    kept = b"".join(encryption.forward([b"secret"]))
    assert first not in text
    assert b"secret" not in kept

    def read() -> bytes:
        return b"".join(run_backward(filters_of(text, "acme", ring, NAME), [kept], 0, None))

    assert read() == b"secret"
    _ring(tmp_path, {"acme": {"current": "a2", "keys": {"a1": first, "a2": second}}})
    assert (ring.current("acme").name, read()) == ("a2", b"secret")
    _ring(tmp_path, {"acme": {"current": "a2", "keys": {"a2": second}}})
    with pytest.raises(FilterRefusedError, match="the keyring of this server lacks the key a1"):
        read()
    _ring(tmp_path, {"acme": {"current": "a1", "keys": {"a1": second}}})
    with pytest.raises(FilterRefusedError, match="key a1 differs from the key"):
        read()
    with pytest.raises(FilterRefusedError, match="no key for objects of beta"):
        ring.current("beta")
    _ring(tmp_path, {"*": {"current": "all", "keys": {"all": second}}})
    assert ring.current("beta").name == "all"


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"a": 1},
        {"a": {"current": "x", "keys": {}}},
        {"a": {"current": "x", "keys": {"x": "12"}}},
        {"a": {"keys": {}}},
    ],
)
def test_a_keyring_that_makes_no_sense_is_said_without_its_keys(tmp_path: Path, document: object) -> None:
    with pytest.raises(FilterRefusedError, match=r"^(the keyring of this server cannot be read|no key encrypts)"):
        _ring(tmp_path, document).current("a")


@pytest.mark.parametrize("text", ["", "{}", "[1]", "[" + "{}," * 8 + "{}]", "nonsense"])
def test_records_that_make_no_sense_are_damage(text: str) -> None:
    with pytest.raises(DamagedObjectError):
        parse_records(text)


@given(
    st.sampled_from(["ZSTD", "LZ4"]),
    st.integers(0, 10**6),
    st.integers(0, 7),
    st.integers(0, 3 * FRAME_BYTES),
    st.integers(1, FRAME_BYTES),
)
def test_a_flipped_bit_never_gives_other_bytes_in_a_range(
    kind: str, place: int, bit: int, first: int, length: int
) -> None:
    """A frame is checked before any of it is returned: it is the stored data, or an error."""
    assert _TEXT[first : first + length].startswith(_read_with_flipped(kind, place, bit, first, length))


@pytest.mark.parametrize("kind", ["ZSTD", "LZ4"])
def test_nor_does_any_of_the_table(kind: str) -> None:
    [chain] = [entry for entry in _COMPRESSED[kind] if isinstance(entry, Compression)]
    from_byte, to_byte = chain.record()["table"]
    first = FRAME_BYTES + 1000
    for place in range(from_byte, to_byte):
        for bit in range(8):
            found = _read_with_flipped(kind, place, bit, first, 2000)
            assert found in (b"", _TEXT[first : first + 2000]), (place, bit)


def _read_with_flipped(kind: str, place: int, bit: int, first: int, length: int) -> bytes:
    damaged = bytearray(_KEPT[kind])
    damaged[place % len(damaged)] ^= 1 << bit
    end = min(first + length, len(_TEXT))
    chain = _again(_COMPRESSED[kind])
    given_bytes = b""
    try:
        if first >= FRAME_BYTES:
            read_tables(chain, lambda start, stop: cut(bytes(damaged[start:stop]), 10_000))
        [span] = spans(chain, first, end)
        for piece in run_backward(chain, cut(bytes(damaged[span.first : span.end]), 10_000), first, end):
            given_bytes += piece
    except DamagedObjectError:
        pass
    return given_bytes


_TEXT = b"".join(b"%d: some words of %d\n" % (number, number % 97) for number in range(40_000))
_COMPRESSED: dict[str, list[StreamFilter]] = {kind: [Compression(kind, 1)] for kind in ("ZSTD", "LZ4")}
_KEPT = {kind: b"".join(run_forward(chain, cut(_TEXT, 50_000))) for kind, chain in _COMPRESSED.items()}


def test_encrypted_object_is_read_only_under_its_own_name() -> None:
    """An object that somebody with access to the disks puts in place of another one is not taken for it."""
    sealing = Encryption(KEY, name=NAME)
    kept, record = b"".join(sealing.forward([b"secret"])), sealing.record()
    assert b"".join(Encryption.from_record(record, KEY, NAME).reverse([kept], 0, True)) == b"secret"
    with pytest.raises(DamagedObjectError, match="another name"):
        Encryption.from_record(record, KEY, b"AUTH_acme/c/other")
    # By its bytes, too: records of some earlier versions did not tell.
    unbound = {name: value for name, value in record.items() if name != "bound"}
    other = Encryption.from_record(unbound, KEY, b"AUTH_acme/c/other")
    with pytest.raises(DamagedObjectError, match="another name"):
        b"".join(other.reverse([kept], 0, True))
    assert b"".join(Encryption.from_record(unbound, KEY, NAME).reverse([kept], 0, True)) == b"secret"
    without = {name: value for name, value in record.items() if name != "form"}
    with pytest.raises(DamagedObjectError):
        b"".join(Encryption.from_record(without, KEY, NAME).reverse([kept], 0, True))
    with pytest.raises(FilterRefusedError, match="upgrade this server"):
        Encryption.from_record({**record, "form": 3}, KEY, NAME)


def test_objects_of_earlier_versions_are_read_under_any_name() -> None:
    before = Encryption(KEY)
    kept = b"".join(before.forward([b"secret"]))
    assert "form" not in before.record()
    assert b"".join(Encryption.from_record(before.record(), KEY, NAME).reverse([kept], 0, True)) == b"secret"


@pytest.mark.parametrize("piece", [1, 7, 16, 1000])
def test_encrypted_data_is_never_returned_as_contents(piece: int) -> None:
    kept = b"".join(Encryption(KEY, name=NAME).forward([b"secret" * 100]))
    given_out: list[bytes] = []
    with pytest.raises(DamagedObjectError, match="metadata that record its encryption are missing"):
        given_out.extend(check_unencrypted(cut(kept, piece)))
    assert given_out == []
    for plain in (b"", MARK[:-1], MARK[:3] + b"x" * 50, b"a,b\n" * 100):
        assert b"".join(check_unencrypted(cut(plain, piece))) == plain


def test_a_part_of_the_metadata_that_is_missing_is_noticed() -> None:
    assert AppliedFilters.from_headers({"Etag": "x"}) is None
    for name in (PUT_ETAG, PUT_SIZE, NODE_DONE):
        with pytest.raises(DamagedObjectError, match="metadata"):
            AppliedFilters.from_headers({name: "x"})
