//! Sequences of the PRAGMAs about keys with values of any text, on a file, through SQLite: none panics or
//! breaks the connection. An input is a list of name, quoting and length, each with its text.
#![no_main]

use std::path::PathBuf;

use libfuzzer_sys::fuzz_target;
use rusqlite::{Connection, OpenFlags};
use sealite::pager;

const NAMES: &[&str] = &[
    "cipher",
    "key",
    "hexkey",
    "textkey",
    "rekey",
    "hexrekey",
    "textrekey",
    "cipher_salt",
    "hmac_check",
    "mc_legacy_wal",
    "legacy",
    "legacy_page_size",
    "kdf_iter",
    "fast_kdf_iter",
    "hmac_use",
    "hmac_pgno",
    "hmac_salt_mask",
    "kdf_algorithm",
    "hmac_algorithm",
    "hmac_algorithm_compat",
    "plaintext_header_size",
    "tcost",
    "mcost",
    "pcost",
    "algorithm",
    "page_size",
    "journal_mode",
];
const SCHEMES: &[&str] = &[
    "chacha20",
    "aes128cbc",
    "aes256cbc",
    "sqlcipher",
    "rc4",
    "ascon128",
    "aegis",
];

fuzz_target!(|input: &[u8]| {
    pager::install();
    let file = Scratch::new();
    let db = open(&file.0);
    run(&db, "PRAGMA synchronous=OFF");
    let mut rest = input;
    while let [name, form, len, text @ ..] = rest {
        let (text, next) = text.split_at(text.len().min(usize::from(*len)));
        rest = next;
        let name = NAMES[usize::from(*name) % NAMES.len()];
        if name.contains("key") {
            make_cheap(&db);
        }
        run(&db, &pragma(name, *form, text));
    }
    // The connection answers: with its data, or with an error.
    let _ = db.execute_batch("CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES (1)");
    let _ = db.query_row("SELECT count(*) FROM t", [], |row| row.get::<_, i64>(0));
});

fn pragma(name: &str, form: u8, text: &[u8]) -> String {
    // A few words, as the fuzzer would be long in finding them.
    let text = match form >> 4 {
        0..7 => SCHEMES[usize::from(form >> 4)].to_owned(),
        _ => String::from_utf8_lossy(text).replace('\0', ""),
    };
    let schema = ["", "main.", "temp."][usize::from(form % 3)];
    match form & 12 {
        0 => format!("PRAGMA {schema}{name}"),
        4 => format!("PRAGMA {schema}{name}={text}"),
        8 => format!("PRAGMA {schema}{name}='{}'", text.replace('\'', "''")),
        _ => format!("PRAGMA {schema}{name}(\"{}\")", text.replace('"', "\"\"")),
    }
}

/// Derivations that an absurd parameter makes endless are slow, not wrong.
fn make_cheap(db: &Connection) {
    for schema in ["main", "temp"] {
        for setting in [
            "kdf_iter=1",
            "fast_kdf_iter=1",
            "tcost=1",
            "mcost=8",
            "pcost=1",
        ] {
            run(db, &format!("PRAGMA {schema}.{setting}"));
        }
    }
}

/// Prepares the first statement only, whatever follows it in the text, and steps it.
fn run(db: &Connection, sql: &str) {
    let Ok(mut statement) = db.prepare(sql) else {
        return;
    };
    if let Ok(mut rows) = statement.query([]) {
        while let Ok(Some(_)) = rows.next() {}
    }
}

fn open(path: &PathBuf) -> Connection {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).expect("a file in the directory for temporary files")
}

struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Scratch {
        let name = format!("sealite-fuzz-{}.db", std::process::id());
        let scratch = Scratch(std::env::temp_dir().join(name));
        scratch.remove();
        scratch
    }

    fn remove(&self) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{suffix}", self.0.display()));
        }
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        self.remove();
    }
}
