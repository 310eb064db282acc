"""Keys are replaced while master and API run: data encrypted before stays readable, and old keys decrypt nothing."""

from __future__ import annotations

import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.api import MASTER_TIMEOUT_S, Api, problem
from tests.support.manual_clock import ManualClock
from zoe_api.services import key_rotation
from zoe_api.services.key_rotation import rotate_credentials_key
from zoe_lib.messaging.client import MasterClient, MasterUnreachable
from zoe_lib.messaging.keys import replace_keys
from zoe_lib.sealing import KEY_FILE, CannotOpen, Seal
from zoe_lib.store.people import SealedCredential


@pytest.fixture
def keys_dir(api: Api) -> Path:
    return api.settings.keys_dir


def keep(api: Api, tenant: str, secret: str, seal: Seal | None = None) -> None:
    """Store a secret as the API does."""
    sealed = (seal or Seal.from_keys_dir(api.settings.keys_dir)).encrypt(secret, tenant, "swift", "ann")
    api.store.accounts.set_storage_credential(SealedCredential(tenant, "swift", "ann", sealed))


def opened(api: Api, tenant: str) -> str:
    [kept] = api.store.accounts.storage_credentials(tenant)
    return Seal.from_keys_dir(api.settings.keys_dir).decrypt(kept.sealed, tenant, "swift", "ann")


class AtThePause(ManualClock):
    """Instead of waiting, something else happens."""

    def __init__(self, act: Callable[[], object]) -> None:
        super().__init__()
        self._act = act

    def sleep(self, seconds: float) -> None:
        self._act()


def test_credentials_are_encrypted_with_a_new_key_and_the_old_one_is_forgotten(api: Api, keys_dir: Path) -> None:
    api.store.accounts.add_tenant("blue")
    keep(api, "red", "the first")
    old, before = Seal.from_keys_dir(keys_dir), (keys_dir / KEY_FILE).read_text()
    # An API that had read the old key, and another one that reads the keys meanwhile.
    clock = AtThePause(lambda: (keep(api, "red", "late", old), keep(api, "blue", "fresh")))  # type: ignore[func-returns-value]
    assert rotate_credentials_key(api.store.accounts, keys_dir, clock=clock) == 2
    assert (opened(api, "red"), opened(api, "blue")) == ("late", "fresh")
    for tenant in ("red", "blue"):
        [kept] = api.store.accounts.storage_credentials(tenant)
        with pytest.raises(CannotOpen):
            old.decrypt(kept.sealed, tenant, "swift", "ann")
    after = (keys_dir / KEY_FILE).read_text()
    assert len(after.split()) == 1
    assert after != before
    assert stat.S_IMODE((keys_dir / KEY_FILE).stat().st_mode) == 0o600
    assert [path.name for path in keys_dir.iterdir() if path.name.startswith("credentials.")] == [KEY_FILE]


def test_interrupted_rotation_continues_with_the_same_new_key(api: Api, keys_dir: Path) -> None:
    keep(api, "red", "the first")

    def killed() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        rotate_credentials_key(api.store.accounts, keys_dir, clock=AtThePause(killed))
    new, _old = (keys_dir / KEY_FILE).read_text().split()
    assert opened(api, "red") == "the first"
    rotate_credentials_key(api.store.accounts, keys_dir, clock=AtThePause(lambda: None))
    assert (keys_dir / KEY_FILE).read_text().split() == [new]
    assert opened(api, "red") == "the first"


def test_the_old_key_stays_while_something_cannot_be_decrypted(api: Api, keys_dir: Path) -> None:
    keep(api, "red", "of another installation", Seal(bytes(32)))
    with pytest.raises(CannotOpen, match="red swift"):
        rotate_credentials_key(api.store.accounts, keys_dir)
    assert len((keys_dir / KEY_FILE).read_text().split()) == 2


def test_a_removed_credential_does_not_come_back(api: Api) -> None:
    keep(api, "red", "the first")
    [kept] = api.store.accounts.storage_credentials("red")
    api.store.accounts.remove_storage_credential("red", "swift")
    assert not api.store.accounts.reseal_storage_credential(kept, b"otherwise")
    assert api.store.accounts.storage_credentials("red") == []


def test_master_and_api_speak_with_new_keys_once_both_have_been_restarted(api: Api, keys_dir: Path) -> None:
    api.start_master()
    assert api.client().status().master is not None
    replace_keys(keys_dir)
    assert api.client().status().master is not None, "nothing changes before the restart"
    api.stop_master()
    api.start_master()
    with pytest.raises(MasterUnreachable):
        api.master_client.ask("status")
    refused = problem(api.http().get("/api/v1/usage"))
    assert refused["code"] == "master_unreachable"
    for said in (refused["hint"], api.client().status().master_message):
        assert "zoe-keys rotate messaging" in said
        assert "docs/operate/backups.md" in said
    with closing(MasterClient(api.settings.master_endpoint, keys_dir, MASTER_TIMEOUT_S, 20)) as restarted:
        assert restarted.ask("status")
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in keys_dir.glob("*.key_secret")}
    assert modes == {"master.key_secret": 0o600, "api.key_secret": 0o600}


def test_the_command(api: Api, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    keep(api, "red", "the first")
    monkeypatch.setenv("ZOE_DATABASE_URL", api.settings.database_url.get_secret_value())
    monkeypatch.setenv("ZOE_KEYS_DIR", str(api.settings.keys_dir))
    monkeypatch.setattr("sys.argv", ["zoe-keys", "rotate", "credentials"])
    assert key_rotation.main() == 0
    assert "Credentials encrypted with the new key: 1." in capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["zoe-keys", "rotate", "messaging"])
    assert key_rotation.main() == 0
    assert "restart the master and each API" in capsys.readouterr().out
    keep(api, "red", "of another installation", Seal(bytes(32)))
    monkeypatch.setattr("sys.argv", ["zoe-keys", "rotate", "credentials"])
    assert key_rotation.main() == 1
    assert "red swift" in capsys.readouterr().err
    monkeypatch.setenv("ZOE_KEYS_DIR", str(api.settings.keys_dir / "nowhere"))
    monkeypatch.setattr("sys.argv", ["zoe-keys", "rotate", "messaging"])
    assert key_rotation.main() == 1
    assert "set ZOE_CONFIG or ZOE_KEYS_DIR" in capsys.readouterr().err
