"""Recognise objects that are not plain CSV, by their first bytes or their name: such objects have no views."""

from __future__ import annotations

import re

_COMPRESSED = {
    "gzip": rb"\x1f\x8b",
    "zstd": rb"\x28\xb5\x2f\xfd",
    "bzip2": rb"BZh[1-9]1AY&SY",
    "xz": rb"\xfd7zXZ\x00",
    "lz4": rb"\x04\x22\x4d\x18",
    "snappy": rb"\xff\x06\x00\x00sNaPpY",
    "zip": rb"PK\x03\x04",
}
# A text may begin with these letters, too, but has no control characters soon after them.
_BINARY = rb".{0,7}[\x00-\x08\x0b\x0c\x0e-\x1f]"
_COLUMNAR = {"Parquet": rb"PAR1" + _BINARY, "ORC": rb"ORC" + _BINARY}
_OTHERS = {"Avro": rb"Obj\x01", "UTF-16": rb"\xff\xfe|\xfe\xff"}
_KINDS = {name: re.compile(pattern, re.DOTALL) for name, pattern in {**_COMPRESSED, **_COLUMNAR, **_OTHERS}.items()}
_SUFFIXES = {
    ".gz": "gzip", ".bz2": "bzip2", ".zst": "zstd", ".lz4": "lz4", ".snappy": "snappy", ".deflate": "deflate",
    ".parquet": "Parquet", ".orc": "ORC", ".avro": "Avro",
}  # fmt: skip


def why_not_csv(name: str, start: bytes = b"") -> str:
    """Return why an object has no view, as part of a sentence; empty for one that may be CSV.

    start: its first bytes, as far as known. Spark also decides by the end of the name.
    """
    lower = name.lower()
    kind = next((kind for kind, pattern in _KINDS.items() if pattern.match(start)), None)
    kind = kind or next((kind for suffix, kind in _SUFFIXES.items() if lower.endswith(suffix)), None)
    if kind is None:
        return ""
    if kind in _COLUMNAR:
        return f"{name} is {kind}: Spark itself reads only the columns and parts that it needs, so a view is not needed"
    if kind in _OTHERS:
        return f"{name} is {kind}, and views need CSV in UTF-8"
    return f"{name} is compressed ({kind}): its records cannot be found without unpacking all of it"
