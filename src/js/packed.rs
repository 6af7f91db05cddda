//! Batches of values on their way to JavaScript without a call for each.
//!
//! A cell is eight bytes and a kind. The batch fills up here, where nothing that runs between two
//! rows can disturb it, and is copied into memory that JavaScript sees when `lib/rows.js` is called
//! to read it. Short texts of one byte per character go into one string, from which JavaScript
//! takes slices; a slice of more than a dozen characters keeps that string alive, so it is short.
//! What fits no cell (long or other texts, blobs) goes along as an argument.

use super::node_api::{Env, Value};
use super::value::{self, Integers};
use crate::error::Result;
use crate::sqlite::step::{Column, RawStatement};

/// Cells on their way.
#[derive(Default)]
pub(crate) struct Batch {
    cells: Vec<[u8; 8]>,
    kinds: Vec<u8>,
    text: Vec<u8>,
}

/// What the cells of a batch refer to; it lives in the handle scope of the batch.
pub(crate) type Others<'s> = Vec<Value<'s>>;

/// As in `lib/rows.js`.
const CELL_COUNT: usize = 1024;
const ROW_LEFT: i32 = 1;
const NULL: u8 = 0;
const INTEGER: u8 = 1;
const REAL: u8 = 2;
const TEXT: u8 = 3;
const BIGINT: u8 = 4;
const OTHER: u8 = 5;

/// A text that is longer is a string of its own.
const MAX_SLICE_LEN: usize = 256;
/// A batch with more text is not continued.
const MAX_TEXT_LEN: usize = 4096;

impl Batch {
    /// Adds the first `column_count` values of the current row.
    pub(crate) fn add_row<'s>(
        &mut self,
        env: Env<'s>,
        raw: &RawStatement,
        column_count: usize,
        integers: Integers,
        others: &mut Others<'s>,
    ) -> Result<()> {
        for index in 0..column_count {
            let column = raw.column(index)?;
            if !self.add_cell(column, integers) {
                self.add(OTHER, pair(others.len(), 0));
                others.push(value::to_js(env, column, integers)?);
            }
        }
        Ok(())
    }

    /// Whether another row of this width should not be added.
    pub(crate) fn is_full(&self, column_count: usize) -> bool {
        self.cells.len() + column_count > CELL_COUNT || self.text.len() > MAX_TEXT_LEN
    }

    /// Hands the batch to `rows`, a function of `lib/rows.js`, and empties it.
    pub(crate) fn give<'s>(
        &mut self,
        env: Env<'s>,
        rows: Value<'s>,
        array: Value<'s>,
        row_count: u32,
        others: &[Value<'s>],
    ) -> Result<()> {
        self.copy(env, &[])?;
        let count = env.number(f64::from(row_count))?;
        let text = env.latin1(&self.text)?;
        self.clear();
        if others.is_empty() {
            return env.call(rows, &[array, count, text]).map(drop);
        }
        env.call(rows, &[&[array, count, text], others].concat())
            .map(drop)
    }

    /// Leaves the batch, which is one row, for the JavaScript that called; the result is its text.
    ///
    /// Nothing that runs JavaScript may come between this and the end of the method.
    pub(crate) fn leave_row<'e>(&self, env: Env<'e>) -> Result<Value<'e>> {
        self.copy(env, &ROW_LEFT.to_ne_bytes())?;
        if self.kinds.contains(&TEXT) {
            env.latin1(&self.text)
        } else {
            env.undefined()
        }
    }

    /// Leaves integers for the JavaScript that called, as `leave_row` does.
    pub(crate) fn leave_integers(env: Env<'_>, values: &[(i64, Integers)]) -> Result<()> {
        let mut batch = env.state()?.take_batch();
        for &(number, integers) in values {
            batch.add_cell(Column::Integer(number), integers);
        }
        batch.copy(env, &[])?;
        env.state()?.keep_batch(batch);
        Ok(())
    }

    /// Adds the current row, if each of its values fits a cell.
    pub(crate) fn try_row(
        &mut self,
        raw: &RawStatement,
        column_count: usize,
        integers: Integers,
    ) -> Result<bool> {
        for index in 0..column_count {
            if !self.add_cell(raw.column(index)?, integers) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn copy(&self, env: Env<'_>, left: &[u8]) -> Result<()> {
        let memory = env.state()?.scripts()?.memory.get(env)?;
        let parts = [
            (0, self.cells.as_flattened()),
            (CELL_COUNT * 8, &self.kinds[..]),
            (CELL_COUNT * 9, left),
        ];
        env.write_bytes(memory, &parts)
    }

    /// Forgets what is in it.
    pub(crate) fn clear(&mut self) {
        self.cells.clear();
        self.kinds.clear();
        self.text.clear();
    }

    /// Puts the value into a cell, if it fits one.
    fn add_cell(&mut self, column: Column<'_>, integers: Integers) -> bool {
        match (column, integers) {
            (Column::Null, _) => self.add(NULL, [0; 8]),
            (Column::Integer(number), Integers::Bigint) => self.add(BIGINT, number.to_ne_bytes()),
            (Column::Integer(number), Integers::Number) => match i32::try_from(number) {
                Ok(small) => self.add(INTEGER, pair_of(small.cast_unsigned(), 0)),
                #[expect(clippy::cast_precision_loss, reason = "numbers are so in JavaScript")]
                Err(_) => self.add(REAL, (number as f64).to_ne_bytes()),
            },
            (Column::Real(number), _) => self.add(REAL, number.to_ne_bytes()),
            (Column::Text(text), _) => {
                let start = self.text.len();
                if text.len() > MAX_SLICE_LEN || !push_latin1(&mut self.text, text) {
                    return false;
                }
                self.add(TEXT, pair(start, self.text.len()));
            }
            (Column::Blob(_), _) => return false,
        }
        true
    }

    fn add(&mut self, kind: u8, cell: [u8; 8]) {
        self.kinds.push(kind);
        self.cells.push(cell);
    }
}

/// Appends UTF-8 as Latin-1; appends nothing when it has other characters, or is no UTF-8.
fn push_latin1(out: &mut Vec<u8>, text: &[u8]) -> bool {
    if text.is_ascii() {
        out.extend_from_slice(text);
        return true;
    }
    let start = out.len();
    let mut rest = text;
    loop {
        rest = match rest {
            [] => return true,
            [byte, rest @ ..] if byte.is_ascii() => {
                out.push(*byte);
                rest
            }
            // U+0080 to U+00FF: two bits of the lead byte, six of the other.
            [lead @ 0xC2..=0xC3, tail @ 0x80..=0xBF, rest @ ..] => {
                out.push(lead << 6 | tail & 0x3F);
                rest
            }
            _ => {
                out.truncate(start);
                return false;
            }
        };
    }
}

/// Two numbers that are far below 2^31, as the batch is small.
fn pair(first: usize, second: usize) -> [u8; 8] {
    let half = |number| u32::try_from(number).unwrap_or(u32::MAX);
    pair_of(half(first), half(second))
}

fn pair_of(first: u32, second: u32) -> [u8; 8] {
    let (low, high) = if cfg!(target_endian = "little") {
        (first, second)
    } else {
        (second, first)
    };
    (u64::from(high) << 32 | u64::from(low)).to_ne_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latin1(text: &[u8]) -> Option<Vec<u8>> {
        let mut out = b"before".to_vec();
        let fits = push_latin1(&mut out, text);
        assert!(fits || out == b"before");
        fits.then(|| out.split_off(6))
    }

    #[test]
    fn characters_up_to_u00ff_become_one_byte() {
        assert_eq!(latin1(b"").unwrap(), b"");
        assert_eq!(
            latin1("a\u{7f}\u{80}ä\u{ff}z".as_bytes()).unwrap(),
            b"a\x7f\x80\xe4\xffz"
        );
    }

    #[test]
    fn other_characters_and_bad_utf8_do_not_fit() {
        for text in [
            "ä\u{100}".as_bytes(),
            "€".as_bytes(),
            b"a\xff",
            b"a\xc3",
            b"\xc3a",
            b"\xc0\x80",
            b"\x80",
        ] {
            assert_eq!(latin1(text), None);
        }
    }
}
