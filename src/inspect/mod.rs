//! What a database file is, seen from outside: without SQLite, without Node and without writing.
//!
//! | module | what it knows |
//! |---|---|
//! | [`look`] | what the first bytes and the size of a file say |

pub mod look;
