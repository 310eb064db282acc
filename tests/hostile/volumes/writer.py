"""Write to a mounted volume at random, and say on standard output what is tried and what is flushed.

A record is `HEAD BODY DIGEST`; each line of output is `try KIND KEY NUMBER` or `done KIND KEY NUMBER`.
"""

from __future__ import annotations

import hashlib
import os
import random
import sys
from itertools import count
from pathlib import Path

BLOCK, BLOCKS, FILES = 4096, 128, 8
RECORD = 200


def record(kind: str, key: int, number: int, size: int) -> bytes:
    """Return the content for one number, of this size."""
    head = f"{kind} {key} {number} ".encode()
    body = hashlib.shake_128(head).digest(size - len(head) - 32)
    return head + body + hashlib.sha256(head + body).digest()


def number_of(data: bytes, kind: str, key: int) -> int | None:
    """Return the number of a record; None if it is torn or another one."""
    words = data.split(b" ", 3)
    if len(words) < 4 or words[0] != kind.encode() or words[1] != str(key).encode() or not words[2].isdigit():
        return None
    number = int(words[2])
    return number if data == record(kind, key, number, len(data)) else None


def main() -> None:
    """Write until an error, or a kill."""
    directory, seed, first = sys.argv[1], sys.argv[2], int(sys.argv[3])
    draw = random.Random(seed)
    try:
        for number in count(first):
            kind = draw.choice(("log", "block", "block", "file"))
            key = {"log": 0, "block": draw.randrange(BLOCKS), "file": draw.randrange(FILES)}[kind]
            _say("try", kind, key, number)
            _WRITES[kind](directory, key, number)
            _say("done", kind, key, number)
    except OSError as error:
        print("error", error.errno, flush=True)


def _say(word: str, kind: str, key: int, number: int) -> None:
    print(word, kind, key, number, flush=True)


def _append(directory: str, key: int, number: int) -> None:
    with Path(directory, "log").open("ab", buffering=0) as file:
        file.write(record("log", key, number, RECORD))
        os.fsync(file.fileno())


def _overwrite(directory: str, key: int, number: int) -> None:
    descriptor = os.open(f"{directory}/blocks", os.O_RDWR | os.O_CREAT, 0o600)
    try:
        os.pwrite(descriptor, record("block", key, number, BLOCK), key * BLOCK)
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)


def _replace(directory: str, key: int, number: int) -> None:
    path = Path(directory, f"file-{key}")
    draft = path.with_suffix(".new")
    with draft.open("wb", buffering=0) as file:
        file.write(record("file", key, number, RECORD))
        os.fsync(file.fileno())
    draft.rename(path)
    holder = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(holder)
    finally:
        os.close(holder)


_WRITES = {"log": _append, "block": _overwrite, "file": _replace}

if __name__ == "__main__":
    main()
