"""The revision that programs ask for is the newest migration."""

from __future__ import annotations

from alembic.script import ScriptDirectory

from zoe_lib.store.postgres import migrate
from zoe_lib.store.postgres.revision import REVISION


def test_it_is_the_newest_migration() -> None:
    scripts = ScriptDirectory(str(migrate.scripts_directory()))
    assert scripts.get_current_head() == REVISION


def test_names_of_migrations_sort_by_age() -> None:
    scripts = ScriptDirectory(str(migrate.scripts_directory()))
    names = [script.revision for script in scripts.walk_revisions()]
    assert names == sorted(names, reverse=True)
