"""storage credentials: keys come from files or standard input, and are never shown."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Zoe
from tests.cli.server import OTHER, READER, Server

KEY = "a-key-that-nobody-may-see"


def test_credentials_are_set_shown_and_removed(server: Server, zoe: Zoe, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY + "\n")
    by_file = zoe("storage", "credentials", "set", "zoe", "--user", "lab:ada", "--key-file", str(tmp_path / "key"))
    by_pipe = zoe("storage", "credentials", "set", "s3a", "--user", "AK", stdin=KEY.encode())
    assert (by_file.code, by_pipe.code) == (0, 0)
    shown = zoe("storage", "credentials", "show")
    assert [line.split()[:3] for line in shown.out.splitlines()[1:]] == [
        ["s3a", "AK", "lab"],
        ["zoe", "lab:ada", "lab"],
    ]
    assert shown.err == ""
    assert KEY not in "".join(result.out + result.err for result in (by_file, by_pipe, shown))
    assert KEY not in zoe("storage", "credentials", "show", "-o", "json").out
    assert zoe("storage", "credentials", "remove", "s3a", "-o", "json").json() == {"removed": "s3a"}
    assert zoe("storage", "credentials", "show").err == "without credentials: s3a\n"
    assert zoe("storage", "credentials", "remove", "s3a").code == 3
    assert zoe("storage", "credentials", "remove", "zoe").code == 0


def test_caveats_of_proxies_are_shown_to_operators_and_the_tenant(server: Server, zoe: Zoe) -> None:
    told = [{"tenant": tenant, "sentence": f"{tenant} is granted too much"} for tenant in ("lab", "other")]
    server.master.storage = {"configured": True, "caveats": told}
    assert zoe("storage", "status").err == "note: lab is granted too much\nnote: other is granted too much\n"
    assert zoe("storage", "status", token=OTHER).err == "note: other is granted too much\n"
    assert zoe("storage", "status", "-o", "json").json()["caveats"] == told
    server.master.storage = {"configured": True, "warnings": ["no SLO is kept"]}
    assert zoe("storage", "status", token=OTHER).err == "warning: no SLO is kept\n"


def test_others_may_not_and_what_makes_no_sense_is_told(server: Server, zoe: Zoe, tmp_path: Path) -> None:
    asked = ("storage", "credentials", "set", "zoe", "--user", "u")
    assert zoe(*asked, stdin=b"k", token=READER).code == 4
    assert zoe(*asked, "--tenant", "lab", stdin=b"k", token=OTHER).code == 4
    assert zoe(*asked, "--tenant", "other", stdin=b"k").code == 0
    assert zoe("storage", "credentials", "show", token=OTHER).out.splitlines()[1].split()[-1] == "ada"
    assert zoe("storage", "credentials", "set", "nowhere", "--user", "u", stdin=b"k").code == 3
    assert zoe(*asked, stdin=b"").code == 2
    assert zoe(*asked, "--key-file", str(tmp_path / "missing")).code == 2
