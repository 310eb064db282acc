"""Jars that Spark needs for an object store: from Maven Central, checked by hash, kept in the user's cache."""

from __future__ import annotations

import hashlib
import os
import sys
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path

from zoe_embedded.home import Home, cache_directory
from zoe_embedded.runtimes.pip_configuration import trust_context
from zoe_embedded.runtimes.store import make_readable

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
"""Path in the repository, and the file's sha256."""
S3A = {
    "org/apache/hadoop/hadoop-aws/3.3.4/hadoop-aws-3.3.4.jar": (
        "53f9ae03c681a30a50aa17524bd9790ab596b28481858e54efd989a826ed3a4a"
    ),
    "com/amazonaws/aws-java-sdk-bundle/1.12.262/aws-java-sdk-bundle-1.12.262.jar": (
        "873fe7cf495126619997bec21c44de5d992544aea7e632fdc77adb1a0915bae5"
    ),
    # It is not published for 3.5.9; its commit protocol is the same.
    "org/apache/spark/spark-hadoop-cloud_2.12/3.5.8/spark-hadoop-cloud_2.12-3.5.8.jar": (
        "9c9be6d3e185c2c9f53e66f8781f0fa32944882ced2c5c08945a78eb2f989ced"
    ),
}
"""The same for Hadoop's S3A in Spark's version of Hadoop, and for Spark's use of its committers; 280 MB."""
COMPILER = {
    "org/eclipse/jdt/ecj/3.38.0/ecj-3.38.0.jar": "97c566b120009c203a2fc8b291f4a9adbc171cf1ccb70f06f6b4e1828c00ce8e",
}
"""The same for Eclipse's compiler of Java, which runs on a Java without one."""


class JarError(Exception):
    """A jar cannot be downloaded, or has the wrong hash; the message says which."""


def stocator_jars() -> list[Path]:
    """Return Stocator and its dependencies, downloading missing ones. Raises JarError."""
    return _jars(STOCATOR)


def s3a_jars() -> list[Path]:
    """Return S3A and its dependencies, downloading missing ones. Raises JarError."""
    return _jars(S3A)


def compiler_jar() -> Path:
    """Return the compiler, downloading it if it is missing. Raises JarError."""
    return _jars(COMPILER)[0]


def readable_jars(home: Home) -> list[str]:
    """Return Stocator's jars where components may read them, whatever user they run as. Raises JarError."""
    return readable_copies(home, stocator_jars())


def readable_copies(home: Home, jars: Sequence[Path]) -> list[str]:
    """Return copies of jars that components may read."""
    directory = home.runtime / "jars"
    directory.mkdir(exist_ok=True)
    for jar in jars:
        copy = directory / jar.name
        if not copy.exists() or copy.stat().st_size != jar.stat().st_size:
            copy.write_bytes(jar.read_bytes())
    make_readable(directory)
    return [str(directory / jar.name) for jar in jars]


def _jars(wanted: Mapping[str, str]) -> list[Path]:
    cache = cache_directory() / "jars"
    cache.mkdir(parents=True, exist_ok=True)
    return [_jar(cache, path, sha256) for path, sha256 in wanted.items()]


def _jar(cache: Path, path: str, sha: str) -> Path:
    jar = cache / path.rpartition("/")[2]
    if not jar.exists() or _hash(jar.read_bytes()) != sha:
        try:
            context = trust_context(Path(sys.executable))
            with urllib.request.urlopen(_MAVEN + path, timeout=120, context=context) as answer:  # noqa: S310 - constant
                content = answer.read()
        except OSError as error:
            raise JarError(f"{_MAVEN}{path}: {error}") from error
        if _hash(content) != sha:
            raise JarError(f"the download of {path} does not have the expected SHA-256")
        draft = jar.with_name(f"{jar.name}.{os.getpid()}")
        draft.write_bytes(content)
        draft.replace(jar)
    return jar


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
