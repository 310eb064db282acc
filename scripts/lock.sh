#!/bin/sh
# Writes the lock files: versions and hashes, no hosts.
set -eu
cd "$(dirname "$0")/.."
draft="$(mktemp)"
trap 'rm -f "$draft"' EXIT
lock() { .venv/bin/uv pip compile -q --generate-hashes --no-annotate --no-header "$@"; }
# For the one Python that a runtime names.
compile() { lock --python-version 3.11 "$@"; }
# For every Python on which Zoe runs: one file serves all of them, as long as all of them get the same packages.
compile_for_all() {
    output="requirements/$1.lock"
    shift
    compile "$@" -o "$output"
    cp "$output" "$draft"
    lock --python-version 3.13 "$@" -o "$draft"
    diff -u "$output" "$draft" || { echo "$output does not serve Python 3.13: see the difference" >&2; exit 1; }
}
compile_for_all bootstrap requirements/bootstrap.in
compile_for_all zoe pyproject.toml --extra embedded --group dev
compile requirements/runtime.in -o requirements/runtime.lock
compile requirements/jupyter.in -o requirements/jupyter.lock
compile requirements/jupyter-lab.in -o requirements/jupyter-lab.lock
# With markers, since some of its packages differ between versions of Python.
lock --universal --python-version 3.11 requirements/notebook.in -o requirements/notebook.lock
compile_for_all mpi requirements/mpi.in
compile_for_all swift requirements/swift.in
compile_for_all seaweedfs requirements/seaweedfs.in
compile_for_all rclone requirements/rclone.in
compile_for_all bonsai requirements/bonsai.in
compile requirements/swift-tests.in -o requirements/swift-tests.lock
compile_for_all keystone requirements/keystone.in
compile_for_all docs requirements/docs.in
compile requirements/audit.in -o requirements/audit.lock
# The same versions, without what only tests and the embedded database need.
compile_for_all server pyproject.toml --constraint requirements/zoe.lock
