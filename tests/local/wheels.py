"""Small wheels, made here: environments need no network."""

from __future__ import annotations

import base64
import hashlib
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path


def make_wheel(
    directory: Path,
    name: str,
    version: str = "1.0",
    requires: tuple[str, ...] = (),
    files: Mapping[str, str] | None = None,
    mode: int = 0o644,
) -> Path:
    """Write a wheel whose module NAME has VERSION, and a program NAME."""
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    contents = {
        f"{name}.py": f"VERSION = {version!r}\ndef main():\n    print({name!r}, VERSION)\n",
        **(files or {}),
        f"{info}/METADATA": metadata + "".join(f"Requires-Dist: {line}\n" for line in requires),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\n{name} = {name}:main\n",
    }
    record = "".join(f"{path},sha256={_digest(text)},{len(text.encode())}\n" for path, text in contents.items())
    wheel = directory / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in {**contents, f"{info}/RECORD": record + f"{info}/RECORD,,\n"}.items():
            entry = zipfile.ZipInfo(path)
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, text)
    wheel.chmod(0o644)
    return wheel


def wheelhouse() -> Path:
    """Return a directory of wheels that all users can read."""
    directory = Path(tempfile.mkdtemp(prefix="zoe-wheels-"))
    directory.chmod(0o755)
    make_wheel(directory, "apple", "1.0")
    make_wheel(directory, "apple", "2.0")
    make_wheel(directory, "pear", "1.0", ("apple<2",))
    return directory


def _digest(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
