#!/usr/bin/env bash
# Makes engine/src/bindings.rs from the header of sqlcipher-src. Needs bindgen (cargo install
# bindgen-cli) and libclang (LIBCLANG_PATH where it is not found by itself; a libclang without its own
# headers wants BINDGEN_EXTRA_CLANG_ARGS="-I$(cc -print-file-name=include)").
set -euo pipefail
cd "$(dirname "$0")/.."
manifest=$(cargo metadata --format-version 1 | python3 -c '
import json, sys
print(next(p["manifest_path"] for p in json.load(sys.stdin)["packages"] if p["name"] == "sqlcipher-src"))')
header="$(dirname "$manifest")/sqlcipher/sqlite3.h"
bindgen "$header" \
  --allowlist-item '(sqlite3|SQLITE|sqlite_|fts5|Fts5|FTS5).*' \
  --blocklist-item 'SQLITE_(STATIC|TRANSIENT)' \
  --blocklist-function 'sqlite3_.*16.*|sqlite3_v?(m|sn)printf|sqlite3_str_v?appendf|sqlite3_activate_see|sqlite3_(cancel_)?auto_extension' \
  --blocklist-type '.*va_list.*' \
  --blocklist-function 'sqlite3_progress_handler|sqlite3_enable_shared_cache' \
  --rust-edition 2024 --rust-target 1.85 --no-layout-tests --no-doc-comments \
  --default-macro-constant-type signed --generate-cstr --merge-extern-blocks --sort-semantically \
  -o engine/src/bindings.rs -- -DSQLITE_HAS_CODEC
rustfmt --edition 2024 engine/src/bindings.rs
