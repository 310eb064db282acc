"""Jars that Spark needs for an object store: from Maven Central, by hash, kept in the user's cache."""

from __future__ import annotations

import hashlib
import os
import urllib.request
from pathlib import Path

_MAVEN = "https://repo1.maven.org/maven2/"
STOCATOR = {
    "com/ibm/stocator/stocator/1.1.4/stocator-1.1.4.jar": (
        "f322669b7dbe9d5f5281eeb8969284e4c6ef60e951f3330ac1aae2a4494d5565"
    ),
    "org/javaswift/joss/0.10.3/joss-0.10.3.jar": "38e03567392ef9b92d5060694478755992aba563eb15de648b46c3c14faacfb7",
    "com/googlecode/json-simple/json-simple/1.1.1/json-simple-1.1.1.jar": (
        "4e69696892b88b41c55d49ab2fdcc21eead92bf54acc588c0050596c3b75199c"
    ),
}
"""Path in the repository to the sha256 of the file."""


class JarError(Exception):
    """A jar cannot be had, or is not what it was; the message says which."""


def stocator_jars() -> list[Path]:
    """Stocator and its needs; fetched where they are not in the cache yet."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "zoe" / "jars"
    cache.mkdir(parents=True, exist_ok=True)
    return [_jar(cache, path, wanted) for path, wanted in STOCATOR.items()]


def _jar(cache: Path, path: str, wanted: str) -> Path:
    kept = cache / path.rpartition("/")[2]
    if not kept.exists() or _hash(kept.read_bytes()) != wanted:
        try:
            with urllib.request.urlopen(_MAVEN + path, timeout=120) as answer:  # noqa: S310 - a constant address
                content = answer.read()
        except OSError as error:
            raise JarError(f"{_MAVEN}{path}: {error}") from error
        if _hash(content) != wanted:
            raise JarError(f"{path} is not what it was when its hash was written down")
        draft = kept.with_name(f"{kept.name}.{os.getpid()}")
        draft.write_bytes(content)
        draft.replace(kept)
    return kept


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
