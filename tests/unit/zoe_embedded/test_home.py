from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.postgres import make_home
from zoe_embedded.home import Account, Home, HomeError, write_private

BY_ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not BY_ROOT, reason="needs root")


@pytest.fixture
def directory() -> Iterator[Path]:
    directory = make_home()
    yield directory
    shutil.rmtree(directory)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_every_clone_has_a_home_of_its_own(tmp_path: Path) -> None:
    first, second = Home.find(tmp_path / "a", {}), Home.find(tmp_path / "b", {})
    assert first.path != second.path
    assert first == Home.find(tmp_path / "a", {})
    if BY_ROOT:
        assert first.path.parent == Path("/var/lib/zoe")


def test_a_home_can_be_chosen(tmp_path: Path) -> None:
    assert Home.find(tmp_path, {"ZOE_HOME": str(tmp_path / "x")}).path == tmp_path / "x"
    assert Home.find(tmp_path, {"ZOE_HOME": "x"}).path == Path.cwd() / "x"


def test_the_data_directory_of_a_user_is_respected(tmp_path: Path) -> None:
    home = Home.find(tmp_path, {"XDG_DATA_HOME": str(tmp_path)})
    assert BY_ROOT or home.path.parent == tmp_path / "zoe"


def test_clones_share_runtimes_and_a_chosen_home_has_its_own(tmp_path: Path) -> None:
    user = {"XDG_DATA_HOME": str(tmp_path)}
    first, second = Home.find(tmp_path / "a", user), Home.find(tmp_path / "b", user)
    assert first.runtimes == second.runtimes == first.path.parent / "runtimes"
    assert Home.find(tmp_path, {"ZOE_HOME": str(tmp_path / "x")}).runtimes == tmp_path / "x" / "runtimes"
    both = {"ZOE_HOME": str(tmp_path / "x"), "ZOE_RUNTIMES": str(tmp_path / "y")}
    assert Home.find(tmp_path, both).runtimes == tmp_path / "y"
    assert Home.find(tmp_path, user | {"ZOE_RUNTIMES": "y"}).runtimes == Path.cwd() / "y"


def test_secrets_are_for_their_owner_only(directory: Path) -> None:
    home = Home(directory / "home", BY_ROOT).create()
    secret = home.secret("password")
    assert len(secret) > 40
    assert home.create().secret("password") == secret
    assert home.secret("another") != secret
    assert mode(home.secrets / "password") == 0o600
    assert mode(home.secrets) == 0o700
    assert sorted(path.name for path in home.secrets.iterdir()) == ["another", "password"]


def test_first_written_secret_is_kept(tmp_path: Path) -> None:
    write_private(tmp_path / "s", "first")
    write_private(tmp_path / "s", "second")
    assert (tmp_path / "s").read_text() == "first"


@needs_root
def test_by_root_accounts_are_kept_apart(directory: Path) -> None:
    home = Home(directory / "home", by_root=True).create()
    assert mode(home.path) == 0o711
    daemon = Account.by_name("daemon")
    assert (home.postgres.stat().st_uid, mode(home.postgres)) == (daemon.uid, 0o700)
    for path in (home.workspaces, home.scratch):
        assert (path.stat().st_uid, mode(path)) == (0, 0o711)
    assert mode(home.runtime) == 0o755


@needs_root
def test_directories_of_one_common_user_become_roots(directory: Path) -> None:
    home, nobody = Home(directory / "home", by_root=True).create(), Account.by_name("nobody")
    for path in (home.workspaces, home.scratch):
        os.chown(path, nobody.uid, nobody.gid)
        path.chmod(0o700)
    home.create()
    for path in (home.workspaces, home.scratch):
        assert (path.stat().st_uid, mode(path)) == (0, 0o711)
    home.workspaces.chmod(0o755)
    with pytest.raises(HomeError, match="workspaces"):
        home.create()


def test_by_a_user_all_is_the_users(directory: Path) -> None:
    home = Home(directory / "home", by_root=False).create()
    assert {path.stat().st_uid for path in home.path.iterdir()} == {os.geteuid()}
    assert {mode(path) for path in (home.path, *home.path.iterdir())} == {0o700}


def test_no_directory_that_is_not_ours_changes(directory: Path) -> None:
    home = directory / "home"
    home.mkdir()
    home.chmod(0o751)
    (home / "logs").mkdir()
    (home / "logs").chmod(0o750)
    with pytest.raises(HomeError, match="logs"):
        Home(home, BY_ROOT).create()
    assert mode(home) == 0o751
    assert mode(home / "logs") == 0o750


def test_a_link_is_no_directory_of_ours(directory: Path) -> None:
    (directory / "elsewhere").mkdir(mode=0o700)
    (directory / "home").mkdir()
    (directory / "home").chmod(0o711)
    (directory / "home" / "secrets").symlink_to(directory / "elsewhere")
    with pytest.raises(HomeError, match="secrets"):
        Home(directory / "home", BY_ROOT).create()


@needs_root
def test_a_place_that_the_accounts_cannot_reach_is_refused(directory: Path) -> None:
    (directory / "closed").mkdir(mode=0o700)
    with pytest.raises(HomeError, match="cannot enter"):
        Home(directory / "closed" / "home", by_root=True).create()


def test_an_unknown_account_is_named() -> None:
    with pytest.raises(HomeError, match="no user nobody-knows"):
        Account.by_name("nobody-knows")
