"""What goes through filters comes back byte for byte, any range of it, and what is damaged does not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage_filters.compression import LEVELS, Compression
from storage_filters.encryption import SEGMENT_BYTES, Encryption
from storage_filters.keyring import Key, Keyring
from storage_filters.records import filters_of, parsed
from storage_filters.stream_filters import (
    DamagedObjectError,
    FilterRefused,
    Noop,
    StreamFilter,
    exactly,
    read_back,
    spans,
    stored,
)

KEY = Key("k1", bytes(range(32)))
ENCRYPTION = st.builds(lambda: Encryption(KEY))
COMPRESSION = st.one_of(
    [st.builds(Compression, st.just(kind), st.integers(1, min(most, 9))) for kind, most in LEVELS.items()]
)
CHAINS = st.lists(ENCRYPTION | COMPRESSION | st.builds(Noop), max_size=4)
LENGTHS = st.integers(0, 300) | st.sampled_from(
    [SEGMENT_BYTES - 1, SEGMENT_BYTES, SEGMENT_BYTES + 1, 2 * SEGMENT_BYTES, 3 * SEGMENT_BYTES + 7]
)
BODIES = st.builds(lambda seed, length: (seed * (length // len(seed) + 1))[:length], st.binary(min_size=1), LENGTHS)
PIECES = st.integers(1, 100_000)


def cut(body: bytes, piece: int) -> Iterator[bytes]:
    return (body[at : at + piece] for at in range(0, len(body), piece))


@given(CHAINS, BODIES, PIECES, PIECES)
def test_what_was_put_is_what_is_read(chain: list[StreamFilter], body: bytes, piece: int, other: int) -> None:
    kept = b"".join(stored(chain, cut(body, max(piece, len(body) // 50 + 1))))
    pieces = cut(kept, max(other, len(kept) // 50 + 1))
    assert b"".join(exactly(read_back(chain, pieces, 0, None), len(body))) == body


@given(CHAINS, BODIES, st.data())
def test_any_range_of_it(chain: list[StreamFilter], body: bytes, data: st.DataObject) -> None:
    first = data.draw(st.integers(0, max(0, len(body) - 1)))
    end = data.draw(st.none() | st.integers(min(first + 1, len(body)), len(body)))
    kept = b"".join(stored(chain, cut(body, 50_000)))
    asked = [*spans(chain, first, end)]
    start, stop = (asked[-1].first, asked[-1].end) if asked else (first, end)
    part = kept[start:stop]
    assert b"".join(read_back(chain, cut(part, 10_000), first, end)) == body[first:end]
    if chain and all(isinstance(one, Encryption | Noop) for one in chain) and end is not None:
        assert len(part) <= (end - first) + 2 * len(chain) * (SEGMENT_BYTES + 16)  # not from the start


@given(st.lists(ENCRYPTION | COMPRESSION, min_size=1, max_size=3), BODIES, st.data())
def test_a_changed_or_shortened_object_is_never_read_as_another_one(
    chain: list[StreamFilter], body: bytes, data: st.DataObject
) -> None:
    """It is refused, or what is damaged is nothing that the format uses; fewer bytes are an error in any case."""
    kept = bytearray(b"".join(stored(chain, cut(body, 50_000))))
    if data.draw(st.booleans()):
        place = data.draw(st.integers(0, len(kept) - 1))
        kept[place] ^= 1 << data.draw(st.integers(0, 7))
    else:
        del kept[data.draw(st.integers(0, len(kept) - 1)) :]
    got = bytearray()
    try:
        for chunk in exactly(read_back(chain, cut(bytes(kept), 10_000), 0, None), len(body)):
            got += chunk
    except DamagedObjectError:
        if any(isinstance(one, Encryption) for one in chain):
            assert body.startswith(bytes(got))
        return
    assert got == body


def test_an_object_that_unpacks_to_more_than_was_put_ends_there() -> None:
    packed = b"".join(stored([Compression("ZSTD")], [bytes(10**7)]))
    got: list[bytes] = []
    with pytest.raises(DamagedObjectError, match="more bytes"):
        got.extend(exactly(read_back([Compression("ZSTD")], [packed], 0, None), 1000))
    assert b"".join(got) == bytes(1000)
    for kind in LEVELS:  # in pieces, however much they unpack to
        packed = b"".join(stored([Compression(kind)], [bytes(10**7)]))
        assert max(map(len, read_back([Compression(kind)], [packed], 0, None))) <= 65536


def _ring(tmp_path: Path, document: object) -> Keyring:
    (tmp_path / "keys").write_text(json.dumps(document))
    return Keyring(tmp_path / "keys")


def test_keys_rotate_and_missing_or_wrong_ones_are_named(tmp_path: Path) -> None:
    first, second = "11" * 32, "22" * 32
    ring = _ring(tmp_path, {"acme": {"current": "a1", "keys": {"a1": first}}})
    encryption = Encryption(ring.current("acme"))
    text = json.dumps([encryption.record()])
    kept = b"".join(encryption.forward([b"secret"]))
    assert first not in text
    assert b"secret" not in kept

    def read() -> bytes:
        return b"".join(read_back(filters_of(text, "acme", ring), [kept], 0, None))

    assert read() == b"secret"
    _ring(tmp_path, {"acme": {"current": "a2", "keys": {"a1": first, "a2": second}}})
    assert (ring.current("acme").name, read()) == ("a2", b"secret")
    _ring(tmp_path, {"acme": {"current": "a2", "keys": {"a2": second}}})
    with pytest.raises(FilterRefused, match="encrypted with key a1, which the keyring of this proxy lacks"):
        read()
    _ring(tmp_path, {"acme": {"current": "a1", "keys": {"a1": second}}})
    with pytest.raises(FilterRefused, match="key a1 is not the one"):
        read()
    with pytest.raises(FilterRefused, match="no key encrypts objects of beta"):
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
    with pytest.raises(FilterRefused, match=r"^(the keyring of this proxy cannot be read|no key encrypts)"):
        _ring(tmp_path, document).current("a")


@pytest.mark.parametrize("text", ["", "{}", "[1]", "[" + "{}," * 8 + "{}]", "nonsense"])
def test_records_that_make_no_sense_are_damage(text: str) -> None:
    with pytest.raises(DamagedObjectError):
        parsed(text)
