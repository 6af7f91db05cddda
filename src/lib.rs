//! sealite: SQLite with page encryption, for Node.js.
//!
//! | module | what it knows |
//! |---|---|
//! | [`js`] | Node: classes, values, what may run while what is running |
//! | `sqlite` | prepared statements and callbacks that rusqlite leaves out |
//! | [`pager`] | where SQLite's pager meets the codec: keys, PRAGMAs, the page hook |
//! | [`codec`] | page encryption on byte slices: schemes, parameters, keys |
//! | `accel` | CPU features found at run time, for the codec |
mod accel;
pub mod codec;
mod error;
mod guard;
pub mod js;
pub mod pager;
mod sqlite;
