"""Swift's own functional tests and its tests of S3, at a Swift, at a gateway before one, and through filters.

    python -m benchmarks.swifts_own_tests
    python -m benchmarks.swifts_own_tests filters

Takes about half an hour; of one of `swift`, `gateway` and `filters`, ten minutes. The tests are those of Swift's source
package, at the version and with the hash of `requirements/swift-tests.lock`. `swift` has only Zoe's filter of S3
signatures, the gateway has all without rules, and `filters` is a Swift whose rules compress and encrypt all objects of
the tests.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from storage_bridge.model import WHY_HEADER
from storage_controller.rules.dsl import parse_rule
from storage_filters.rules.documents import RuleBook, book_document
from storage_filters.rules.file import RuleFile
from tests.support.gateway import gateway_before_swift
from tests.support.object_store import logged_in, object_store
from zoe_embedded.home import Account, Home
from zoe_embedded.runtimes.interpreters import ANY, find_python
from zoe_embedded.runtimes.runtime import CLONE, make_virtual_environment
from zoe_embedded.runtimes.store import Recipe, provide
from zoe_embedded.swift.configuration import S3_REGION, StoreUser
from zoe_embedded.swift.store import ObjectStore

LOCK = CLONE / "requirements" / "swift-tests.lock"
USERS = (
    StoreUser("test", "tester", "testing"),
    StoreUser("test", "tester2", "testing2"),
    StoreUser("test2", "tester2", "testing2"),
    StoreUser("test", "tester3", "testing3", ()),
    StoreUser("admin", "admin", "admin", (".admin", ".reseller_admin")),
)
CONFIGURATION = """\
[s3api_test]
endpoint = {place}
region = {region}
access_key1 = test:tester
secret_key1 = testing
access_key2 = test:tester2
secret_key2 = testing2
access_key3 = test:tester3
secret_key3 = testing3
s3_acl_tests_enabled = False
[func_test]
auth_uri = {auth_url}
s3_storage_url = {place}/
s3_region = {region}
account = test
username = tester
password = testing
s3_access_key = test:tester
s3_secret_key = testing
account2 = test2
username2 = tester2
password2 = testing2
username3 = tester3
password3 = testing3
s3_access_key2 = test:tester2
s3_secret_key2 = testing2
s3_access_key3 = test:tester3
s3_secret_key3 = testing3
account6 = admin
username6 = admin
password6 = admin
collate = C
insecure = no
storage_domain =
[swift-constraints]
"""
_TEST_S_MAX = 100
_PASSED, _FAILED, _SKIPPED = "passed", "failed", "skipped"


def main() -> int:
    """Print the results of each, the failures, and the differences from the first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="*", choices=[*_STORES, []], default=list(_STORES))
    wanted = parser.parse_args().stores
    with tempfile.TemporaryDirectory(prefix="zoe-swifts-tests-") as directory:
        python, source = _install(Home.find(CLONE).create()), Path(directory)
        tests = _unpack(python, source)
        found: dict[str, dict[str, str]] = {}
        for name in wanted:
            with _STORES[name]() as store:
                found[name] = _run(python, tests, store, source / name)
    for name, outcomes in found.items():
        counted = Counter(outcomes.values())
        print(f"{name}: " + ", ".join(f"{counted[text]} {text}" for text in (_PASSED, _FAILED, _SKIPPED)))
        for test in sorted(test for test, outcome in outcomes.items() if outcome == _FAILED):
            print(f"  failed: {test}")
    first, *others = found.items()
    for name, outcomes in others:
        for test in sorted(test for test in first[1] | outcomes if first[1].get(test) != outcomes.get(test)):
            print(f"  {test}: {first[1].get(test)} at {first[0]}, {outcomes.get(test)} at {name}")
    return 0


@contextmanager
def _swift() -> Iterator[ObjectStore]:
    with object_store(users=USERS, nodes=1, replicas=1, filters=False, s3=True) as store:
        yield store


@contextmanager
def _gateway() -> Iterator[ObjectStore]:
    with gateway_before_swift(users=USERS) as pair:
        yield pair.gateway


@contextmanager
def _filters() -> Iterator[ObjectStore]:
    def keys(apart: Path, account: Account | None) -> str:
        path = apart / "keyring.json"
        path.write_text(json.dumps({"*": {"current": "k", "keys": {"k": "11" * 32}}}))
        if account is not None:
            os.chown(path, account.uid, account.gid)
        return str(path)

    accounts = sorted({user.account for user in USERS})
    texts = [f"FOR TENANT {account} DO SET COMPRESSION, SET ENCRYPTION" for account in accounts]
    rules = tuple(replace(parse_rule(text), id=number) for number, text in enumerate(texts, 1))
    with object_store(users=USERS, nodes=1, replicas=1, s3=True, keyring=keys) as store:
        RuleFile(store.directory / "rates.rules").write(book_document(RuleBook(rules)))
        with logged_in(store, USERS[0].login) as person:
            person.put("tried")
            person.put("tried/object", b"what is put")
            done = person.call("HEAD", "tried/object", headers={WHY_HEADER: "yes"}).headers.get(WHY_HEADER, "[]")
            if [load["filter"] for load in json.loads(done)] != ["COMPRESSION", "ENCRYPTION"]:
                raise SystemExit(f"the rules are not in force: {done}")
            for path in ("tried/object", "tried"):
                person.call("DELETE", path)
        yield store


_STORES: Mapping[str, Callable[[], AbstractContextManager[ObjectStore]]] = {
    "swift": _swift,
    "gateway": _gateway,
    "filters": _filters,
}


def _install(home: Home) -> Path:
    """Return the interpreter of an environment with the requirements of the tests."""
    python = find_python(ANY, "Swift's tests")
    parts = (str(python).encode(), LOCK.read_bytes())
    made = provide(home, Recipe("swift-tests", parts, lambda place: make_virtual_environment(place, python, LOCK)))
    return made / "bin" / "python"


def _unpack(python: Path, directory: Path) -> Path:
    """Return the directory of Swift's source package, whose hash is that of the lock file."""
    lines = LOCK.read_text().split("\nswift==")[1].splitlines()
    end = next(number for number, line in enumerate(lines) if not line.endswith("\\"))
    (directory / "swift.txt").write_text("swift==" + "\n".join(lines[: end + 1]) + "\n")
    fetch: list[str | Path] = [
        python,
        "-m",
        "pip",
        "download",
        "-q",
        "--no-deps",
        "--no-binary",
        "swift",
        "--require-hashes",
    ]
    subprocess.run([*fetch, "-r", directory / "swift.txt", "-d", directory], check=True)
    (package,) = directory.glob("swift-*.tar.gz")
    with tarfile.open(package) as archive:
        archive.extractall(directory, filter="data")
    return directory / package.name.removesuffix(".tar.gz")


def _run(python: Path, tests: Path, store: ObjectStore, report: Path) -> dict[str, str]:
    """Return the result of each test at a store."""
    place = urlsplit(store.auth_url)
    configuration, results = report.with_suffix(".conf"), report.with_suffix(".xml")
    configuration.write_text(
        CONFIGURATION.format(place=f"http://{place.netloc}", auth_url=store.auth_url, region=S3_REGION)
    )
    command: list[str | Path] = [python, "-m", "pytest", "-q", "--timeout", str(_TEST_S_MAX), "-p", "no:cacheprovider"]
    subprocess.run(
        [*command, f"--junitxml={results}", "test/functional", "test/s3api"],
        cwd=tests,
        env={**os.environ, "SWIFT_TEST_CONFIG_FILE": str(configuration)},
        stdout=sys.stderr,
        check=False,
    )
    return {
        f"{case.get('classname')}.{case.get('name')}": _outcome(case) for case in ET.parse(results).iter("testcase")
    }


def _outcome(case: ET.Element) -> str:
    if case.find("skipped") is not None:
        return _SKIPPED
    return _PASSED if case.find("failure") is None and case.find("error") is None else _FAILED


if __name__ == "__main__":
    sys.exit(main())
