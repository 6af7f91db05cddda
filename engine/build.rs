//! Compiles SQLite: the amalgamation of `sqlcipher-src` without SQLCipher's own cryptography, with
//! the edits of `edits.rs`, and our own C files in the same translation unit.

mod edits;
mod options;

use std::path::{Path, PathBuf};
use std::{env, fs};

/// The amalgamation keeps SQLCipher's codec and its providers between these two markers.
const CRYPTO_BEGIN: &str = "/************** Begin file sqlcipher.c ***";
const CRYPTO_END: &str = "/************** Begin file walker.c ***";

fn main() {
    for file in [
        "build.rs",
        "edits.rs",
        "options.rs",
        "bridge.c",
        "gather.c",
        "limit_clause.c",
    ] {
        println!("cargo:rerun-if-changed={file}");
    }
    let out_dir = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let source = out_dir.join("sqlite3.c");
    fs::write(&source, amalgamation()).expect("OUT_DIR is writable");
    compile(&source);
}

fn amalgamation() -> String {
    let path = sqlcipher_src::source_dir().join(sqlcipher_src::SOURCE_FILE);
    let bytes = fs::read(&path).expect("sqlcipher-src ships its amalgamation");
    let text = String::from_utf8_lossy(&bytes);
    let text = edits::apply(&without_crypto(&text));
    let own: String = ["limit_clause.c", "gather.c", "bridge.c"]
        .map(|file| format!("#include \"{file}\"\n"))
        .concat();
    format!("{text}\n{own}")
}

fn without_crypto(text: &str) -> String {
    let begin = edits::only_place(text, CRYPTO_BEGIN, "the begin of SQLCipher's codec");
    let end = edits::only_place(text, CRYPTO_END, "the end of SQLCipher's codec");
    assert!(
        begin < end,
        "the markers of SQLCipher's codec have changed places"
    );
    format!("{}{}", &text[..begin], &text[end..])
}

fn compile(source: &Path) {
    let mut build = cc::Build::new();
    build
        .file(source)
        .include(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"))
        .opt_level(3)
        .warnings(false)
        // Nothing of SQLite may be visible outside the addon: node carries a SQLite of its own.
        .flag_if_supported("-fvisibility=hidden");
    for (name, value) in options::OPTIONS {
        build.define(name, *value);
    }
    // A debug build of SQLite's asserts is for `SEALITE_SQLITE_DEBUG=1 cargo test`.
    println!("cargo:rerun-if-env-changed=SEALITE_SQLITE_DEBUG");
    if env::var_os("SEALITE_SQLITE_DEBUG").is_some() {
        build.define("SQLITE_DEBUG", None);
    } else {
        build.define("NDEBUG", None);
    }
    println!("cargo:rerun-if-env-changed=SEALITE_SANITIZE");
    if let Some(sanitizer) = env::var("SEALITE_SANITIZE").ok().filter(|s| !s.is_empty()) {
        build
            .flag(format!("-fsanitize={sanitizer}"))
            .flag("-fno-omit-frame-pointer");
    }
    build.compile("sqlite3");
}
