//! What rusqlite leaves out: connections whose statements outlive a borrow, and their stepping.
//!
//! Knows neither Node nor ciphers.

pub(crate) mod backup;
pub(crate) mod connection;
pub(crate) mod extension;
pub(crate) mod serialize;
pub(crate) mod sql_text;
pub(crate) mod step;
