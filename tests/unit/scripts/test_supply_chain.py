"""What the bill of materials says of jars, which no tool reads for us."""

from __future__ import annotations

from scripts.supply_chain import LOCKS, ROOT, jars


def test_a_jar_is_named_as_in_its_repository_with_its_hash() -> None:
    [found] = jars({"com/ibm/stocator/stocator/1.1.4/stocator-1.1.4.jar": "f3"})["components"]
    assert found["purl"] == "pkg:maven/com.ibm.stocator/stocator@1.1.4"
    assert found["hashes"] == [{"alg": "SHA-256", "content": "f3"}]


def test_every_lock_file_of_what_is_shipped_or_run_is_listed() -> None:
    tools = {"bootstrap", "audit", "swift-tests", "rclone", "seaweedfs", "keystone"}  # the last ones for tests alone
    assert {path.stem for path in (ROOT / "requirements").glob("*.lock")} - tools == set(LOCKS)
