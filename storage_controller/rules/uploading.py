"""Uploads of modules: checks before a version is stored."""

from __future__ import annotations

from storage_controller.answers import RequestRefusedError
from storage_controller.rules.module_check import kind_of
from storage_controller.rules.module_ledger import KeptModule, ModuleLedger
from storage_filters.transforms.modules.engine import MODULE_BYTES_MAX

RESERVED = frozenset({"COMPRESSION", "ENCRYPTION", "NOOP", "BANDWIDTH", "CACHING", "MODULE", "DEPENDENCIES"})
"""Names of existing and reserved filters of proxies."""


def keep_module(
    kept: ModuleLedger, tenant: str, name: str, content: bytes, author: str | None, only_author: bool = False
) -> KeptModule:
    """Check and store a module. Raises RequestRefusedError."""
    if name.upper() in RESERVED:
        raise RequestRefusedError(409, f"{name} is the name of another filter: use another name")
    if len(content) > MODULE_BYTES_MAX:
        raise RequestRefusedError(400, f"a module has at most {MODULE_BYTES_MAX} bytes, not {len(content)}")
    return kept.keep(tenant, name, content, kind_of(content), author, only_author)
