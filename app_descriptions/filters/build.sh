#!/bin/sh
# Builds the modules by Debian 12's clang 14, lld 14 and rustc 1.63 with libstd-rust-dev-wasm32: sh build.sh DIRECTORY
set -eu
out="$(cd "$1" && pwd)"
cd "$(dirname "$0")"
"${CLANG:-clang-14}" --target=wasm32 -Os -std=c11 -Wall -Wextra -Werror -nostdlib -fuse-ld="${WASM_LD:-lld}" \
    -Wl,--no-entry -Wl,--strip-all -o "$out/mask.wasm" mask.c
"${RUSTC:-/usr/bin/rustc}" --target wasm32-unknown-unknown --edition 2021 --crate-type cdylib -C opt-level=2 \
    -C panic=abort -C strip=symbols -C linker=wasm-ld -C linker-flavor=wasm-ld -C link-arg=--strip-all \
    --remap-path-prefix "$(pwd)=." -o "$out/columns.wasm" columns.rs
