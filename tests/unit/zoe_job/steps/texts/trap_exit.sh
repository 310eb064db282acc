#!/bin/bash
set -e
scratch=$(mktemp -d)
trap 'rm -r "$scratch"; echo "removed, $?"' EXIT
echo data > "$scratch/data"
srun cat "$scratch/data"
srun sh -c 'exit 9'
echo never
