"""Swift's own functional tests and its tests of S3, at a Swift, and at a gateway before one.

    python -m benchmarks.swifts_own_tests

Takes about twenty minutes. The tests are those of Swift's source package, at the version and with the hash of
`requirements/swift-tests.lock`. The gateway runs with Zoe's filters, the Swift that it is compared with without.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

from tests.support.gateway import gateway_before_swift
from zoe_embedded.home import Home
from zoe_embedded.interpreters import ANY, find_python
from zoe_embedded.runtime import CLONE, make_virtual_environment
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
    """Print how the tests ended at both, and name those that end otherwise at the gateway."""
    with tempfile.TemporaryDirectory(prefix="zoe-swifts-tests-") as directory:
        python, source = _installed(Home.find(CLONE).create().runtime / "swift-tests"), Path(directory)
        tests = _unpacked(python, source)
        with gateway_before_swift(users=USERS) as pair:
            found = {
                name: _run(python, tests, store, source / name)
                for name, store in (("Swift", pair.behind), ("the gateway", pair.gateway))
            }
    for name, outcomes in found.items():
        counted = Counter(outcomes.values())
        print(f"{name}: " + ", ".join(f"{counted[one]} {one}" for one in (_PASSED, _FAILED, _SKIPPED)))
    swift, gateway = found.values()
    differ = sorted(test for test in swift | gateway if swift.get(test) != gateway.get(test))
    for test in differ:
        print(f"  {test}: {swift.get(test)} at Swift, {gateway.get(test)} at the gateway")
    return 0


def _installed(directory: Path) -> Path:
    """Return the interpreter of an environment with what the tests need."""
    if not (directory / "stamp").exists() or (directory / "stamp").read_text() != LOCK.read_text():
        make_virtual_environment(directory, find_python(ANY, "Swift's tests"), LOCK)
        (directory / "stamp").write_text(LOCK.read_text())
    return directory / "bin" / "python"


def _unpacked(python: Path, directory: Path) -> Path:
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
    """Return how each test ended at a store."""
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
