//! What rusqlite leaves out: connections whose statements outlive a borrow, their stepping, and
//! what SQLite calls: functions, aggregates, virtual tables.
//!
//! Knows neither Node nor ciphers.

pub(crate) mod backup;
pub(crate) mod callback;
pub(crate) mod connection;
pub(crate) mod extension;
pub(crate) mod kept;
pub(crate) mod serialize;
pub(crate) mod sql_text;
pub(crate) mod step;
pub(crate) mod virtual_table;
