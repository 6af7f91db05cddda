//! sealite: SQLite with page encryption, for Node.js.
//!
//! | module | what it knows |
//! |---|---|
//! | [`js`] | Node: classes, values, what may run while what is running |
//! | `sqlite` | prepared statements and callbacks that rusqlite leaves out |
//! | [`pager`] | where SQLite's pager meets the codec: keys, PRAGMAs, the page hook |
//! | `vfs` | files that SQLite opens without a name: unreadable, and in which directory |
//! | [`codec`] | page encryption on byte slices: schemes, parameters, keys |
//! | [`inspect`] | what a file is, seen from outside |
//! | `accel` | CPU features found at run time, for the codec |

mod accel;
pub mod codec;
mod error;
mod guard;
pub mod inspect;
pub mod js;
pub mod pager;
mod sqlite;
mod vfs;
