//! `sqlcipher-peer <file>` opens a database with stock SQLCipher and runs one statement per line of
//! its standard input. It answers each with one line of JSON: the rows as arrays, or `{"error": …}`.
//! Blobs are hexadecimal. The line `.abort` ends the process at once, as a crash would.

use std::io::{self, BufRead, Write};

use rusqlite::Connection;
use rusqlite::types::ValueRef;
use serde_json::{Value, json};

fn main() -> io::Result<()> {
    let path = std::env::args()
        .nth(1)
        .expect("usage: sqlcipher-peer <file>");
    let db = Connection::open(path).expect("the file can be opened");
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line == ".abort" {
            std::process::abort();
        }
        let answer = match rows(&db, &line) {
            Ok(rows) => Value::Array(rows),
            Err(error) => json!({ "error": error.to_string() }),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn rows(db: &Connection, sql: &str) -> rusqlite::Result<Vec<Value>> {
    let mut statement = db.prepare(sql)?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let values = (0..columns).map(|at| row.get_ref(at).map(shown));
        found.push(Value::Array(values.collect::<rusqlite::Result<_>>()?));
    }
    Ok(found)
}

fn shown(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => json!(number),
        ValueRef::Real(number) => json!(number),
        ValueRef::Text(text) => json!(String::from_utf8_lossy(text)),
        ValueRef::Blob(bytes) => json!(
            bytes
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect::<String>()
        ),
    }
}
