"""Rules of before run the version of each module that they ran."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import psycopg2
import pytest

from tests.support.postgres import PostgresServer
from zoe_lib.store.postgres import migrate

_BEFORE = """
INSERT INTO sds.module_contents (sha256, data, reads, same_size, sent)
    SELECT sha256, 'x', true, true, false FROM unnest(ARRAY['a1', 'b1', 's1', 'o1']) AS sha256;
INSERT INTO sds.modules (tenant, name, sha256, author, created_s) VALUES
    ('acme', 'mask', 'a1', 'ann', 1), ('beta', 'mask', 'b1', 'ben', 1), ('', 'late', 's1', 'root', 1),
    ('acme', 'late', 'o1', 'ann', 1);
INSERT INTO sds.groups (name, members) VALUES ('those', '["acme/people", "beta", "gamma"]');
INSERT INTO sds.filter_words (name, filter, parameters, attributes) VALUES ('HIDE', 'mask', '{}', '{}');
INSERT INTO sds.policies (target, rule, actions, removed_s) VALUES
    ('CONTAINER:acme/people', 'x', '[{"verb": "SET", "filter": "MASK"}, {"verb": "SET", "filter": "late"}]', NULL),
    ('G:those', 'x', '[{"verb": "SET", "filter": "mask"}]', NULL),
    ('TENANT:beta', 'x', '[{"verb": "SET", "filter": "hide"}, {"verb": "SET", "filter": "COMPRESSION"}]', NULL),
    ('TENANT:acme', 'x', '[{"verb": "SET", "filter": "mask"}]', 5),
    ('TENANT:acme', 'x', '[{"verb": "DELETE", "filter": "mask"}]', NULL),
    ('TENANT:gamma', 'x', '[{"verb": "SET", "filter": "mask"}]', NULL);
"""


@pytest.fixture
def url(postgres_server: PostgresServer) -> Iterator[str]:
    url = postgres_server.create_empty_database()
    yield url
    postgres_server.drop_database(url)


def test_present_rules_are_pinned_to_what_they_ran(url: str) -> None:
    migrate.upgrade(url, "0058")
    with closing(psycopg2.connect(url.replace("+psycopg2", ""))) as connection, connection.cursor() as cursor:
        cursor.execute(_BEFORE)
        connection.commit()
    migrate.upgrade(url)
    with closing(psycopg2.connect(url.replace("+psycopg2", ""))) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT rule, tenant, name, sha256 FROM sds.rule_modules ORDER BY 1, 2, 3")
        assert cursor.fetchall() == [
            (1, "", "late", "s1"),
            (1, "acme", "mask", "a1"),
            (2, "acme", "mask", "a1"),
            (2, "beta", "mask", "b1"),
            (3, "beta", "mask", "b1"),
        ]
        cursor.execute("SELECT count(*) FROM sds.module_versions")
        assert cursor.fetchone() == (4,)
    migrate.downgrade(url, "0058")
