"""Credentials of executions at Swift."""

from __future__ import annotations

import pathlib
from dataclasses import dataclass

from storage_filters.execution_auth.names import ExecutionUser, key_of, read_secrets


@dataclass(frozen=True, slots=True)
class ExecutionKeys:
    """Derives the credentials of executions from the secret that it shares with the proxies."""

    secret: bytes
    account_prefix: str

    @classmethod
    def read(cls, secret_file: pathlib.Path, account_prefix: str) -> ExecutionKeys:
        """Read the first secret of the file. Raises OSError and ValueError."""
        return cls(read_secrets(secret_file)[0], account_prefix)

    def credential(self, tenant: str, execution: str, generation: int) -> dict[str, str]:
        """Return user and key."""
        user = ExecutionUser(tenant, execution, generation)
        return {"user": user.login, "key": key_of(self.secret, self.account_prefix + tenant, user)}
