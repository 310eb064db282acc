"""Keys for TLS between the test and its engines, made anew for each swarm."""

from __future__ import annotations

import subprocess
from pathlib import Path


def make_certificates(directory: Path, addresses: list[str]) -> None:
    """`ca.pem`, `server.pem`, `server-key.pem` for all addresses, and `cert.pem`, `key.pem` for the client."""
    directory.mkdir()
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    _openssl(directory, "req", "-x509", *key, "-subj", "/CN=test authority", "-keyout", "ca-key.pem", "-out", "ca.pem")
    names = ",".join(f"IP:{address}" for address in addresses)
    _signed(directory, "server-key.pem", "server.pem", f"subjectAltName={names}\nextendedKeyUsage=serverAuth\n")
    _signed(directory, "key.pem", "cert.pem", "extendedKeyUsage=clientAuth\n")


def _signed(directory: Path, key: str, certificate: str, extensions: str) -> None:
    (directory / "extensions").write_text(extensions)
    _openssl(
        directory, "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
        "-subj", "/CN=zoe test", "-keyout", key, "-out", "request.pem",
    )  # fmt: skip
    _openssl(
        directory, "x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca-key.pem", "-CAcreateserial",
        "-days", "2", "-extfile", "extensions", "-out", certificate,
    )  # fmt: skip


def _openssl(directory: Path, *arguments: str) -> None:
    subprocess.run(["openssl", *arguments], cwd=directory, capture_output=True, check=True, timeout=30)
