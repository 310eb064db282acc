"""Put a release into one folder: wheels, bills of materials, known vulnerabilities, and signed checksums of all.

    make release KEY=~/.ssh/id_ed25519

Recipients run `ssh-keygen -Y verify -n zoe-release -I NAME -f SIGNERS -s SHA256SUMS.sig < SHA256SUMS`, and then
`sha256sum -c SHA256SUMS`.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import shutil
import subprocess
import sys
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import version
from pathlib import Path

from scripts import supply_chain

ROOT = Path(__file__).resolve().parent.parent
NAMESPACE = "zoe-release"
SUMS, KNOWN = "SHA256SUMS", "known-vulnerabilities.txt"


def main() -> int:
    """Write dist/zoe-VERSION; return 1 with an error message on failure."""
    parser = argparse.ArgumentParser(prog="python -m scripts.release", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("key", type=Path, help="private key of ssh that signs the checksums")
    key = parser.parse_args().key.expanduser()
    number = version("zoe-analytics")
    wheels = sorted((ROOT / "dist").glob(f"zoe_*-{number}-*.whl"))
    if not key.is_file() or not wheels:
        print(f"release: there is no {key if wheels else f'wheel of {number} in dist'}", file=sys.stderr)
        return 1
    supply_chain.prepare()
    supply_chain.sbom()
    with redirect_stdout(io.StringIO()) as told, redirect_stderr(told):
        supply_chain.audit()
    place = ROOT / "dist" / f"zoe-{number}"
    shutil.rmtree(place, ignore_errors=True)
    try:
        gather(place, [*wheels, *sorted(supply_chain.SBOM.glob("*.cdx.json"))], told.getvalue(), key)
    except subprocess.CalledProcessError as error:
        print(f"release: {error.stderr.strip()}", file=sys.stderr)
        return 1
    print(f"{place.relative_to(ROOT)}: {len(list(place.iterdir()))} files, signed by {key}")
    return 0


def gather(place: Path, files: Iterable[Path], known: str, key: Path) -> None:
    """Copy files into a new folder, with a text of known vulnerabilities, checksums and their signature.

    Raises CalledProcessError if ssh-keygen does not sign them.
    """
    place.mkdir(parents=True)
    for file in files:
        shutil.copy(file, place)
    (place / KNOWN).write_text(known)
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(place.iterdir())]
    (place / SUMS).write_text("".join(sums))
    command = ("ssh-keygen", "-q", "-Y", "sign", "-f", str(key), "-n", NAMESPACE, str(place / SUMS))
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, capture_output=True, text=True)


if __name__ == "__main__":
    sys.exit(main())
