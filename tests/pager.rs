//! Keys and pages through SQLite itself: what the addon does, without Node.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail with the test")]

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use sealite::pager;

fn open(path: &Path) -> Connection {
    pager::install();
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(path, flags).unwrap()
}

fn keyed(path: &Path, cipher: &str, key: &str) -> Connection {
    let db = open(path);
    pragma(&db, &format!("cipher='{cipher}'"));
    pager::key(&db, "main", key.as_bytes()).unwrap();
    db
}

fn pragma(db: &Connection, text: &str) -> String {
    db.query_row(&format!("PRAGMA {text}"), [], |row| {
        row.get::<_, rusqlite::types::Value>(0)
    })
    .map(|value| format!("{value:?}"))
    .unwrap()
}

fn count(db: &Connection) -> rusqlite::Result<i64> {
    db.query_row("SELECT count(*) FROM t", [], |row| row.get(0))
}

fn fill(db: &Connection, rows: usize) {
    db.execute_batch("CREATE TABLE IF NOT EXISTS t(a INTEGER PRIMARY KEY, b BLOB); BEGIN")
        .unwrap();
    for _ in 0..rows {
        db.execute("INSERT INTO t(b) VALUES (randomblob(700))", [])
            .unwrap();
    }
    db.execute_batch("COMMIT").unwrap();
}

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("sealite-pager-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(&dir).unwrap();
        Scratch(dir)
    }

    fn file(&self) -> PathBuf {
        self.0.join("m.db")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn is_plain(path: &Path) -> bool {
    fs::read(path).unwrap().starts_with(b"SQLite format 3\0")
}

#[test]
fn a_keyed_database_comes_back_in_every_journal_mode() {
    for cipher in ["chacha20", "aes256cbc"] {
        for mode in ["delete", "wal", "truncate", "persist", "memory"] {
            let scratch = Scratch::new(&format!("modes-{cipher}-{mode}"));
            let db = keyed(&scratch.file(), cipher, "k");
            pragma(&db, &format!("journal_mode={mode}"));
            fill(&db, 300);
            db.execute_batch("BEGIN; DELETE FROM t; ROLLBACK").unwrap();
            db.execute_batch(
                "SAVEPOINT s; UPDATE t SET b = zeroblob(900); ROLLBACK TO s; RELEASE s",
            )
            .unwrap();
            db.execute_batch("VACUUM").unwrap();
            assert_eq!(count(&db), Ok(300), "{cipher} {mode}");
            db.close().unwrap();
            assert!(!is_plain(&scratch.file()));
            let db = keyed(&scratch.file(), cipher, "k");
            assert_eq!(count(&db), Ok(300), "{cipher} {mode}");
            assert_eq!(pragma(&db, "integrity_check"), "Text(\"ok\")");
        }
    }
}

#[test]
fn every_rekey_leaves_a_database_that_only_the_new_key_opens() {
    let schemes = ["", "chacha20", "aes256cbc"];
    for mode in ["delete", "wal"] {
        for from in schemes {
            for to in schemes {
                let what = format!("{mode}-{from}-{to}");
                let scratch = Scratch::new(&format!("rekey-{what}"));
                let db = open(&scratch.file());
                if !from.is_empty() {
                    pragma(&db, &format!("cipher='{from}'"));
                    pager::key(&db, "main", b"old").unwrap();
                }
                pragma(&db, &format!("journal_mode={mode}"));
                fill(&db, 200);
                if !to.is_empty() {
                    pragma(&db, &format!("cipher='{to}'"));
                }
                let new: &[u8] = if to.is_empty() { b"" } else { b"new" };
                pager::rekey(&db, "main", new).unwrap();
                assert_eq!(count(&db), Ok(200), "{what}");
                fill(&db, 10);
                db.close().unwrap();
                assert_eq!(is_plain(&scratch.file()), to.is_empty(), "{what}");
                let db = if to.is_empty() {
                    open(&scratch.file())
                } else {
                    keyed(&scratch.file(), to, "new")
                };
                assert_eq!(count(&db), Ok(210), "{what}");
                assert_eq!(pragma(&db, "integrity_check"), "Text(\"ok\")", "{what}");
            }
        }
    }
}

#[test]
fn a_small_cache_that_writes_pages_out_of_order_disturbs_nobody() {
    for page_size in [512, 4096] {
        for first in [0, 1, 2, 3, 5, 8, 13] {
            let what = format!("holes-{page_size}-{first}");
            let scratch = Scratch::new(&what);
            let db = keyed(&scratch.file(), "chacha20", "k");
            for setting in [
                format!("page_size={page_size}"),
                "auto_vacuum=1".to_owned(),
                "cache_size=1".to_owned(),
            ] {
                db.execute_batch(&format!("PRAGMA {setting}")).unwrap();
            }
            for table in 0..first {
                db.execute_batch(&format!("CREATE TABLE before_{table}(a)"))
                    .unwrap();
            }
            db.execute_batch("BEGIN; CREATE VIRTUAL TABLE words USING fts5(z)")
                .unwrap();
            for table in 0..40 {
                let width = table * 13 % 90;
                let sql = format!(
                    "CREATE TABLE within_{table}(a, b DEFAULT '{:x<width$}')",
                    ""
                );
                db.execute_batch(&sql).expect(&what);
            }
            db.execute_batch("COMMIT; VACUUM").expect(&what);
            assert_eq!(pragma(&db, "integrity_check"), "Text(\"ok\")", "{what}");
        }
    }
}
