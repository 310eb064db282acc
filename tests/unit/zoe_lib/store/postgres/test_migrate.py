from __future__ import annotations

from pathlib import Path

import pytest

import zoe_lib
from zoe_lib.store.errors import StoreError
from zoe_lib.store.postgres.migrate import scripts_directory
from zoe_lib.store.sql.connection.database import with_driver


def test_a_clone_has_its_migrations_beside_the_package() -> None:
    assert (scripts_directory() / "versions" / "0057_tables_of_0_3_0.sql").is_file()


def test_an_installed_package_has_them_inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "zoe_lib" / "migrations"
    inside.mkdir(parents=True)
    monkeypatch.setattr(zoe_lib, "__file__", str(tmp_path / "zoe_lib" / "__init__.py"))
    with pytest.raises(StoreError, match="the migrations of the database are missing"):
        scripts_directory()
    (inside / "env.py").touch()
    assert scripts_directory() == inside


def test_the_driver_is_the_installed_one() -> None:
    assert with_driver("postgresql://host/zoe").drivername == "postgresql+psycopg2"
    assert with_driver("postgresql+psycopg2://host/zoe").drivername == "postgresql+psycopg2"
