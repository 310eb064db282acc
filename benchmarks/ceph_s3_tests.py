"""Ceph's suite for S3 (ceph/s3-tests), at bare stores and at the gateway before them.

    python -m benchmarks.ceph_s3_tests DIRECTORY PYTHON
    python -m benchmarks.ceph_s3_tests DIRECTORY PYTHON swift gateway --results FILE

DIRECTORY is a clone of https://github.com/ceph/s3-tests, PYTHON an interpreter with its requirements and
pytest-timeout. Each store takes some ten minutes. Only features that `docs/store/s3.md` claims are tested: tests with
one of the marks below, and forms (`POST` of an object), are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.gateway import gateway_before_seaweedfs, gateway_before_swift
from tests.support.object_store import object_store
from zoe_embedded.ceph.store import CephStore
from zoe_embedded.home import Home
from zoe_embedded.runtimes.runtime import CLONE
from zoe_embedded.seaweedfs.store import SeaweedStore, ensure_seaweedfs
from zoe_embedded.swift.configuration import StoreUser
from zoe_embedded.swift.store import ObjectStore

USERS = tuple(StoreUser(name, name, f"{name}-secret") for name in ("main", "alt", "tenant", "iam"))
NOT_CLAIMED = (
    "abac_test", "appendobject", "bucket_encryption", "bucket_logging", "bucket_logging_cleanup", "bucket_policy",
    "cloud_restore", "cloud_transition", "delete_marker", "encryption", "group", "group_policy", "iam_account",
    "iam_cross_account", "iam_role", "iam_tenant", "iam_user", "lifecycle", "lifecycle_expiration",
    "lifecycle_transition", "object_lock", "object_ownership", "role_policy", "s3select", "s3website",
    "s3website_redirect_location", "s3website_routing_rules", "session_policy", "sns", "sse_s3", "storage_class",
    "tagging", "target_by_bucket", "test_of_sts", "user_policy", "versioning", "webidentity_test",
)  # fmt: skip
"""Marks of features that no page of Zoe claims."""
NOT_CLAIMED_NAMES = (
    "post_object", "_sse_", "encrypted", "object_lock", "public_block", "public_access", "cors", "torrent",
    "current_object_if", "current_if_match", "version_if_match", "versioning", "versioned",
    "block_public", "publicpolicy",
)  # fmt: skip
BESIDE = re.compile(
    "acl|grant|access_bucket|upload_owner|anon_put|not_owned|special_key_names|recreate_(new|over)|exists_nonowner|"
    "ignore_public|policy|expected_bucket_owner|anonymous|raw_get|raw_put|object_attributes|cksum_helper|usage|"
    "unordered|extended|authorization_none|authorization_empty"
)
"""Tests of access lists of S3, requests without a signature, `GetObjectAttributes`, policies and Ceph's extensions,
which the docs refuse; they run, and are counted apart.
"""
PLAIN = (
    "catch_errors gatekeeper healthcheck proxy-logging cache listing_formats bulk s3api tempauth copy slo dlo "
    "proxy-logging proxy-server"
)
"""Swift's own filters, with S3 and large objects."""
_TEST_S_MAX = 60
# Without it, most of the time goes into removing all buckets before and after each test. Tests that count the buckets
# of an account come first.
_PLUGIN = """\
import s3tests.functional
s3tests.functional.setup = s3tests.functional.teardown = lambda: None
def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: "list_buckets" not in item.name)
"""
_KEYS = {user.name: (user.login, user.key) for user in USERS}


@dataclass(frozen=True)
class S3Place:
    """Host and port of a store; the access keys of users, each with its secret."""

    netloc: str
    keys: Mapping[str, tuple[str, str]]


def main() -> int:
    """Print the results at each store, and the differences between a gateway and the bare store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory", type=Path)
    parser.add_argument("python", type=Path)
    parser.add_argument("stores", nargs="*", choices=[*_STORES, []], default=list(_STORES))
    parser.add_argument("--results", type=Path, help="keep the outcome of each test in this JSON file")
    parser.add_argument("-k", default="", help="only tests of this expression")
    given = parser.parse_args()
    found: dict[str, dict[str, str]] = {}
    if given.results and given.results.exists():
        found = json.loads(given.results.read_text())
    for name in given.stores:
        with _STORES[name]() as place, tempfile.TemporaryDirectory(prefix="zoe-s3-tests-") as directory:
            found[name] = _run(given.python.absolute(), given.directory, place, Path(directory), given.k)
        if given.results:
            given.results.write_text(json.dumps(found, indent=1))
    for name, outcomes in found.items():
        claimed = {test: text for test, text in outcomes.items() if not BESIDE.search(test)}
        for what, these in (("all", outcomes), ("claimed", claimed)):
            counted = Counter(text.partition(":")[0] for text in these.values())
            print(f"{name}, {what}: " + ", ".join(f"{number} {text}" for text, number in sorted(counted.items())))
    for bare, before in (("swift", "gateway"), ("seaweedfs", "gateway-seaweedfs")):
        for test, outcome in sorted(found.get(before, {}).items()):
            if outcome.startswith("failed"):
                print(f"  {before}: {test}: {outcome} (bare: {found.get(bare, {}).get(test)})")
    return 0


def _place_of(store: ObjectStore) -> S3Place:
    return S3Place(urlsplit(store.auth_url).netloc, _KEYS)


@contextmanager
def _swift() -> Iterator[S3Place]:
    with object_store(users=USERS, nodes=1, replicas=1, filters=False, s3=True, pipeline=PLAIN) as store:
        yield _place_of(store)


@contextmanager
def _gateway() -> Iterator[S3Place]:
    with gateway_before_swift(users=USERS) as pair:
        yield _place_of(pair.gateway)


@contextmanager
def _seaweedfs() -> Iterator[S3Place]:
    program = ensure_seaweedfs(Home.find(CLONE).create())
    keys = {user.login: user.key for user in USERS}
    with (
        tempfile.TemporaryDirectory(prefix="zoe-seaweedfs-") as directory,
        SeaweedStore(program, Path(directory) / "data", keys) as store,
    ):
        yield S3Place(urlsplit(store.url).netloc, _KEYS)


@contextmanager
def _before_seaweedfs() -> Iterator[S3Place]:
    with gateway_before_seaweedfs(users=USERS) as store:
        yield _place_of(store)


@contextmanager
def _ceph() -> Iterator[S3Place]:
    with tempfile.TemporaryDirectory(prefix="zoe-ceph-") as directory, CephStore(Path(directory)) as store:
        for user in USERS:
            keys = (f"--access-key={user.name}", f"--secret-key={user.key}", f"--email={user.name}@example.com")
            tenant = ("--tenant=tenant",) if user.name == "tenant" else ()
            store.admin("user", "create", f"--uid={user.name}", f"--display-name={user.name}", *keys, *tenant)
        yield S3Place(urlsplit(store.url).netloc, {user.name: (user.name, user.key) for user in USERS})


_STORES: Mapping[str, Callable[[], AbstractContextManager[S3Place]]] = {
    "swift": _swift,
    "gateway": _gateway,
    "seaweedfs": _seaweedfs,
    "gateway-seaweedfs": _before_seaweedfs,
    "ceph": _ceph,
}


def _configuration(place: S3Place) -> str:
    host, port = place.netloc.split(":")
    lines = ["[DEFAULT]", f"host = {host}", f"port = {port}", "is_secure = False", "ssl_verify = False", "[fixtures]"]
    lines += ["bucket prefix = zoe-{random}-", "iam name prefix = s3-tests-", "iam path prefix = /s3-tests/"]
    sections = {"s3 main": "main", "s3 alt": "alt", "s3 tenant": "tenant"}
    sections |= {"iam": "iam", "iam root": "iam", "iam alt root": "iam"}
    for section, user in sections.items():
        key, secret = place.keys[user]
        lines += [f"[{section}]", f"display_name = {key}", f"user_id = {key}", f"email = {user}@example.com"]
        lines += [f"access_key = {key}", f"secret_key = {secret}", "api_name = us-east-1", "tenant = tenant"]
    return "\n".join(lines) + "\n"


def _run(python: Path, tests: Path, place: S3Place, directory: Path, only: str) -> dict[str, str]:
    """Return the outcome of each test at a store."""
    configuration, results = directory / "s3tests.conf", directory / "results.xml"
    configuration.write_text(_configuration(place))
    names = " and ".join(f"not {name}" for name in NOT_CLAIMED_NAMES)
    (directory / "keep_buckets.py").write_text(_PLUGIN)
    command: Sequence[str | Path] = [
        *(python, "-m", "pytest", "-q", "--tb=line", "--timeout", str(_TEST_S_MAX), "-p", "no:cacheprovider"),
        *("-p", "keep_buckets"),
        *("-m", f"not ({' or '.join(NOT_CLAIMED)})", "-k", f"{names} and ({only})" if only else names),
        *(f"--junitxml={results}", "s3tests/functional/test_s3.py", "s3tests/functional/test_headers.py"),
    ]
    environment = {name: text for name, text in os.environ.items() if not name.startswith("AWS_")}
    environment |= {"S3TEST_CONF": str(configuration), "PYTHONPATH": f"{directory}:{tests}"}
    subprocess.run(command, cwd=tests, env=environment, stdout=sys.stderr, check=False)
    return {str(case.get("name")): _outcome(case) for case in ET.parse(results).iter("testcase")}


def _outcome(case: ET.Element) -> str:
    if case.find("skipped") is not None:
        return "skipped"
    wrong = case.find("failure")
    wrong = case.find("error") if wrong is None else wrong
    return "passed" if wrong is None else f"failed: {str(wrong.get('message'))[:160]}"


if __name__ == "__main__":
    sys.exit(main())
