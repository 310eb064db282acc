#!/bin/sh
# Writes the lock files: versions and hashes, no hosts.
set -eu
cd "$(dirname "$0")/.."
compile() { .venv/bin/uv pip compile -q --generate-hashes --no-annotate --no-header --python-version 3.11 "$@"; }
compile requirements/bootstrap.in -o requirements/bootstrap.lock
compile pyproject.toml --extra embedded --group dev -o requirements/zoe.lock
compile requirements/runtime.in -o requirements/runtime.lock
compile requirements/jupyter.in -o requirements/jupyter.lock
compile requirements/mpi.in -o requirements/mpi.lock
compile requirements/swift.in -o requirements/swift.lock
compile requirements/audit.in -o requirements/audit.lock
# The same versions, without what only tests and the embedded database need.
compile pyproject.toml --constraint requirements/zoe.lock -o requirements/server.lock
