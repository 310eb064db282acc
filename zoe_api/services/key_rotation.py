"""The command zoe-keys: replace the keys of an installation."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from zoe_lib.clock import SYSTEM_CLOCK, Clock
from zoe_lib.messaging.keys import replace_keys
from zoe_lib.sealing import CannotOpen, Seal, add_key, drop_older_keys
from zoe_lib.settings.config import Settings
from zoe_lib.settings.file_settings import read_settings
from zoe_lib.store.errors import StoreError
from zoe_lib.store.postgres.accounts import AccountStore
from zoe_lib.store.postgres.store import PostgresStore

# Time for an API that has just read the old key to write a value encrypted with it.
_LATE_WRITES_S = 2.0


def main() -> int:
    """Replace the given keys; return 1 without a keys_dir or a database, or if a value cannot be decrypted."""
    options = _options()
    settings = read_settings(Settings, "zoe-keys")
    keys_dir = Path(settings.keys_dir)
    if not keys_dir.is_dir():
        print(f"zoe-keys: keys_dir {keys_dir} is not a directory; set ZOE_CONFIG or ZOE_KEYS_DIR", file=sys.stderr)
        return 1
    if options.keys == "messaging":
        replace_keys(keys_dir)
        print(f"New key pairs are in {keys_dir}. Copy them to every host, then restart the master and each API.")
        return 0
    try:
        store = PostgresStore(settings.database_url.get_secret_value())
        try:
            count = rotate_credentials_key(store.accounts, keys_dir)
        finally:
            store.close()
    except (StoreError, CannotOpen) as refusal:
        print(f"zoe-keys: {refusal}", file=sys.stderr)
        return 1
    print(f"Credentials encrypted with the new key: {count}. Restart the master to renew the secrets of applications.")
    return 0


def rotate_credentials_key(
    accounts: AccountStore, keys_dir: Path, late_writes_s: float = _LATE_WRITES_S, clock: Clock = SYSTEM_CLOCK
) -> int:
    """Encrypt the credentials and secrets of all tenants with a new key, remove the old key, and return their number.

    Masters and APIs continue meanwhile, since they can decrypt with both keys. An interrupted rotation resumes. If a
    value cannot be decrypted, CannotOpen names its owner, and the old key stays.
    """
    add_key(keys_dir)
    _reseal(accounts, keys_dir)
    clock.sleep(late_writes_s)
    count = _reseal(accounts, keys_dir)
    drop_older_keys(keys_dir)
    return count


def _reseal(accounts: AccountStore, keys_dir: Path) -> int:
    seal, count = Seal.from_keys_dir(keys_dir), 0
    for tenant in accounts.tenants():
        for credential in accounts.storage_credentials(tenant.name):
            belongs_to = (credential.tenant, credential.service, credential.login)
            secret = seal.decrypt(credential.sealed, *belongs_to)
            # Credentials set meanwhile were encrypted with the new key.
            accounts.reseal_storage_credential(credential, seal.encrypt(secret, *belongs_to))
            count += 1
        for stored in accounts.secrets_of_tenant(tenant.name):
            value = seal.decrypt(stored.sealed, *stored.belongs_to)
            accounts.reseal_secret(stored, seal.encrypt(value, *stored.belongs_to))
            count += 1
        for volume in (entry for entry in accounts.volumes(tenant.name, None) if entry.sealed):
            key = seal.decrypt(volume.sealed, *volume.belongs_to)
            accounts.reseal_volume(volume, seal.encrypt(key, *volume.belongs_to))
            count += 1
        for target in accounts.targets_of_tenant(tenant.name):
            value = seal.decrypt(target.sealed, *target.belongs_to)
            accounts.reseal_target(target, seal.encrypt(value, *target.belongs_to))
            count += 1
    return count


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="zoe-keys", description="Replace the keys of this installation.")
    parser.add_argument("action", choices=["rotate"])
    parser.add_argument(
        "keys",
        choices=["messaging", "credentials"],
        help="messaging: keys between master and API; credentials: key of storage credentials, "
        "secrets of users and tenants, and secrets of applications",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
