//! Files without a name: whatever SQLite puts on disk for its own use (runs of a sort, temporary and
//! transient tables, statement journals, VACUUM's copy) is unreadable to others.
//!
//! | module | what it knows |
//! |---|---|
//! | `veil` | the cipher of one such file: blocks, nonces, rewrites; no I/O |
//! | `nameless` | the file that SQLite sees, around the one of the system |
//! | `directory` | in which directory such files are made, per connection |
//!
//! SQLite asks for such a file in one place (`sqlite3OsOpen`, see `engine/edits.rs`), which calls
//! [`nameless::open`]. Files with a name are the system's own and never come here.

mod directory;
mod nameless;
mod veil;

pub(crate) use directory::Vfs;
pub(crate) use nameless::open;
