"""List Zoe's dependencies (`make sbom`) and their known vulnerabilities (`make audit`), from the lock files.

The tools have a separate environment, build/audit, away from Zoe's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zoe_embedded.runtimes.jars import S3A, STOCATOR

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("server", "zoe", "runtime", "jupyter", "jupyter-lab", "notebook", "mpi", "swift", "bonsai", "docs")
ENVIRONMENT = ROOT / "build" / "audit"
SBOM = ROOT / "build" / "sbom"
BIN = Path(sys.executable).parent
UNANSWERED = 2


def main() -> int:
    """Run `sbom`, which writes build/sbom, or `audit`: 1 if vulnerabilities are known, 2 if an index could not check
    everything.
    """
    prepare()
    return sbom() if sys.argv[1:] == ["sbom"] else audit()


def sbom() -> int:
    """Write one CycloneDX file for each lock file, one for the web UI, one for the jars."""
    SBOM.mkdir(parents=True, exist_ok=True)
    for name in LOCKS:
        lock = ROOT / "requirements" / f"{name}.lock"
        _run(ENVIRONMENT / "bin" / "cyclonedx-py", "requirements", "-o", SBOM / f"{name}.cdx.json", lock)
    (SBOM / "web.cdx.json").write_text(_npm("sbom", "--sbom-format", "cyclonedx", "--package-lock-only"))
    (SBOM / "jars.cdx.json").write_text(json.dumps(jars({**STOCATOR, **S3A}), indent=2))
    for path in sorted(SBOM.glob("*.json")):
        print(f"{len(json.loads(path.read_text())['components']):5} components  {path.relative_to(ROOT)}")
    return 0


def jars(by_path: Mapping[str, str]) -> dict[str, Any]:
    """Return a CycloneDX document of Maven artifacts; `by_path` is their path in a repository and their sha256."""
    components = []
    for path, digest in by_path.items():
        *group, name, version, _file = path.split("/")
        purl = f"pkg:maven/{'.'.join(group)}/{name}@{version}"
        hashes = [{"alg": "SHA-256", "content": digest}]
        one = {"type": "library", "group": ".".join(group), "name": name, "version": version}
        components.append({**one, "purl": purl, "bom-ref": purl, "hashes": hashes})
    return {"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": components}


def audit() -> int:
    """Query the indexes for known vulnerabilities of the locked packages, and name the unchecked packages."""
    known, unanswered = False, []
    for name in LOCKS:
        lock = ROOT / "requirements" / f"{name}.lock"
        command: list[str | Path] = [
            ENVIRONMENT / "bin" / "pip-audit",
            "-r",
            lock,
            "--disable-pip",
            "--require-hashes",
            "-f",
            "json",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        found = json.loads(done.stdout)["dependencies"] if done.stdout else []
        skipped = [entry["name"] for entry in found if "skip_reason" in entry]
        bad = [entry for entry in found if entry.get("vulns")]
        for entry in bad:
            ids = ", ".join(each["id"] for each in entry["vulns"])
            print(f"{name}: {entry['name']} {entry['version']}: {ids}")
        print(f"{name}.lock: {len(found)} packages, {len(bad)} with known vulnerabilities, {len(skipped)} not answered")
        known |= bool(bad)
        unanswered += [f"{name}.lock"] if skipped or not found else []
    counts = json.loads(_npm("audit", "--json") or "{}").get("metadata", {}).get("vulnerabilities")
    print(f"web: {'not answered' if counts is None else counts}")
    if known or (counts and counts["total"]):
        return 1
    unanswered += ["web/package-lock.json"] if counts is None else []
    if unanswered:
        print(f"The package index answered for no or not all packages of: {', '.join(unanswered)}", file=sys.stderr)
    return UNANSWERED if unanswered else 0


def prepare() -> None:
    """Install the tools, unless they are there."""
    stamp, lock = ENVIRONMENT / "zoe.stamp", ROOT / "requirements" / "audit.lock"
    if stamp.exists() and stamp.read_text() == lock.read_text():
        return
    _run(BIN / "uv", "venv", "-q", "--clear", "--python", sys.executable, ENVIRONMENT)
    install = (BIN / "uv", "pip", "install", "-q", "--python", ENVIRONMENT / "bin" / "python")
    _run(*install, "--require-hashes", "-r", lock)
    stamp.write_text(lock.read_text())


def _npm(*arguments: str) -> str:
    env = {**os.environ, "PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}"}
    command: list[str | Path] = [BIN / "npm", *arguments]
    done = subprocess.run(command, cwd=ROOT / "web", env=env, stdout=subprocess.PIPE, text=True, check=False)
    return str(done.stdout)


def _run(*command: object) -> None:
    subprocess.run([str(word) for word in command], check=True)


if __name__ == "__main__":
    sys.exit(main())
