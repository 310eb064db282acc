"""Programs of further nodes as one short text: the files of all components of a description have at most 384 KiB."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping

_PACKAGE = "zoe_job"
_LOADER = '''\
"""The programs of a batch job, packed; those of its first node are the same, as plain text."""

import base64, importlib.abc, importlib.util, json, sys, zlib

TEXTS = json.loads(zlib.decompress(base64.b64decode("{0}")))


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    def find_spec(self, name, path=None, target=None):
        return importlib.util.spec_from_loader(name, self) if name in TEXTS or self.is_package(name) else None

    def is_package(self, name):
        return any(one.startswith(name + ".") for one in TEXTS)

    def get_source(self, name):
        return TEXTS.get(name, "")


sys.meta_path.insert(0, _Finder())
'''


def pack(programs: Mapping[str, str]) -> dict[str, str]:
    """Return these files with the modules of the package inside its `__init__`."""
    texts = {}
    others = {}
    for name, text in programs.items():
        if name.startswith(f"{_PACKAGE}/"):
            texts[name.removesuffix(".py").replace("/", ".")] = text
        else:
            others[name] = text
    texts.pop(f"{_PACKAGE}.__init__")
    data = base64.b64encode(zlib.compress(json.dumps(texts).encode(), 9)).decode()
    return {**others, f"{_PACKAGE}/__init__.py": _LOADER.format(data)}
