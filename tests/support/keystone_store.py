"""A Swift whose users are Keystone's: its proxy has the sections in the documentation."""

from __future__ import annotations

import re
from typing import Any

from tests.support.keystone import Keystone, KeystoneUser, keystones_environment
from tests.support.swift_forks import ForkedStore
from zoe_embedded.runtimes.runtime import CLONE

_PAGE = CLONE / "docs" / "store" / "keystone.md"
_SECTION = re.compile(r"^    \[([^]]+)\]\n((?:    .+\n)+)", re.M)
# Swift's own environment with Keystone's filters, which it lacks, behind its own.
_LAUNCH = "import site\nsite.addsitedir({!r})\nexec(compile({!r}, 'launch', 'exec'), {{'__name__': '__main__'}})\n"


def documented(keystone: Keystone, user: KeystoneUser) -> dict[str, str]:
    """Return the sections of the page by name, with the address and the user of this Keystone. user: of `s3token`."""
    text = _PAGE.read_text().split("\n## Keystone\n")[1].split("\n## ")[0]
    filled = text.replace("https://keystone:5000/v3", keystone.url).replace("PASSWORD", user.password)
    found = {name: re.sub(r"^ {4}", "", lines, flags=re.M) for name, lines in _SECTION.findall(filled)}
    assert {"pipeline:main", "filter:authtoken", "filter:s3token", "filter:keystoneauth"} <= found.keys()
    return found


class KeystoneStore(ForkedStore):
    """An object store whose proxy has these sections instead of those of its configuration."""

    sections: dict[str, str]

    def _spawn(self, name: str, command: list[str]) -> None:
        if name == "proxy":
            file = self.directory / "proxy.conf"
            file.write_text(self._with_sections(file.read_text()))
            [packages] = keystones_environment().glob("lib/python3*/site-packages")
            python, option, text, *arguments = command
            command = [python, option, _LAUNCH.format(str(packages), text), *arguments]
        super()._spawn(name, command)

    def _with_sections(self, text: str) -> str:
        for name, lines in self.sections.items():
            text = re.sub(rf"^\[{re.escape(name)}\]\n(?:(?!\[).*\n)*", "", text, flags=re.M)
            text += f"[{name}]\n{lines}"
        return text


def with_sections(sections: dict[str, str]) -> Any:
    """Return the class of a store with these sections, for `object_store`."""
    return type("Documented", (KeystoneStore,), {"sections": sections})
