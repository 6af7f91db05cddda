//! The cipher of one temporary file: its content under a key that exists in memory only, and only as
//! long as the file is open.
//!
//! ChaCha20 (RFC 8439), which serves any offset; a byte stands where it would stand in clear, so the
//! size of the file is that of its content. There is no tag: who can change a file that has no name
//! can change the process, too.
//!
//! The file is cut into blocks. No byte of key stream is used twice, or whoever watched a place
//! before and after a rewrite would learn how the two differ: a block whose bytes are written again
//! is encrypted anew, whole, under another nonce. Appending, which is most of what SQLite does with
//! these files, goes on in the key stream of the block. The nonce is the number of the block and how
//! many rewrites the file had seen; both are remembered here, eight bytes per block.

use std::ffi::c_int;
use std::iter;

use libsqlite3_sys as ffi;
use zeroize::Zeroizing;

use crate::codec::scheme::chacha20::apply_keystream;

/// A page of SQLite's usual size is one block, so that rewriting it reads nothing.
const BLOCK_LEN: u64 = 4096;
/// ChaCha20's own.
const KEY_STREAM_BLOCK_LEN: usize = 64;

/// Where the encrypted bytes are. Errors are SQLite's result codes.
pub(super) trait Store {
    /// Fills `into`; what is beyond the end of the file is zero and `SQLITE_IOERR_SHORT_READ`.
    fn read(&mut self, into: &mut [u8], at: u64) -> Result<(), c_int>;
    fn write(&mut self, from: &[u8], at: u64) -> Result<(), c_int>;
}

pub(super) struct Veil {
    key: Zeroizing<[u8; 32]>,
    blocks: Vec<Block>,
    rewrite_count: u32,
    /// Encrypted bytes on their way to the store.
    outgoing: Vec<u8>,
}

/// One block as it is in the store. Beyond `len` it reads as zeros.
#[derive(Clone, Copy, Default)]
struct Block {
    /// The rewrite that it was encrypted in.
    rewrite: u32,
    len: u16,
    /// How far the key stream has been used, which truncating does not undo.
    used: u16,
}

/// A part of one block.
#[derive(Clone, Copy)]
struct Part {
    index: usize,
    from: usize,
    to: usize,
}

impl Veil {
    pub(super) fn new() -> Result<Veil, c_int> {
        let mut key = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *key).map_err(|_| ffi::SQLITE_IOERR)?;
        Ok(Veil {
            key,
            blocks: Vec::new(),
            rewrite_count: 0,
            outgoing: Vec::new(),
        })
    }

    /// Reads as [`Store::read`] does.
    pub(super) fn read(
        &self,
        store: &mut impl Store,
        into: &mut [u8],
        at: u64,
    ) -> Result<(), c_int> {
        let read = store.read(into, at);
        if !matches!(read, Ok(()) | Err(ffi::SQLITE_IOERR_SHORT_READ)) {
            return read;
        }
        let mut rest = into;
        for part in parts(at, rest.len())? {
            let (bytes, after) = rest.split_at_mut(part.to - part.from);
            rest = after;
            let block = self.block(part.index);
            let known_len = usize::from(block.len).clamp(part.from, part.to) - part.from;
            let (known, hole) = bytes.split_at_mut(known_len);
            self.apply(part.index, block.rewrite, part.from, known);
            hole.fill(0);
        }
        read
    }

    /// Writes all of it with one call to the store.
    pub(super) fn write(
        &mut self,
        store: &mut impl Store,
        from: &[u8],
        at: u64,
    ) -> Result<(), c_int> {
        let mut rest = from;
        let mut written = Vec::new();
        let mut begin = at;
        self.outgoing.clear();
        for part in parts(at, from.len())? {
            let (bytes, after) = rest.split_at(part.to - part.from);
            rest = after;
            let (start, block) = self.encrypt(store, part, bytes)?;
            if written.is_empty() {
                begin = part.index as u64 * BLOCK_LEN + start as u64;
            }
            // Whether or not the store takes it, this much of the key stream may be on the disk.
            self.grow(part.index)?;
            if block.rewrite == self.blocks[part.index].rewrite {
                self.blocks[part.index].used = block.used;
            }
            written.push((part.index, block));
        }
        store.write(&self.outgoing, begin)?;
        for (index, block) in written {
            self.blocks[index] = block;
        }
        Ok(())
    }

    /// The store has been cut (or extended with zeros) to this length.
    pub(super) fn truncate(&mut self, len: u64) {
        let whole_count = usize::try_from(len / BLOCK_LEN).unwrap_or(usize::MAX);
        for (index, block) in self.blocks.iter_mut().enumerate().skip(whole_count) {
            let kept = if index == whole_count {
                len % BLOCK_LEN
            } else {
                0
            };
            block.len = block.len.min(u16::try_from(kept).unwrap_or(0));
        }
    }

    /// Adds a part to what goes out, with what has to go with it: from where in the block, and how
    /// the block is afterwards.
    fn encrypt(
        &mut self,
        store: &mut impl Store,
        part: Part,
        bytes: &[u8],
    ) -> Result<(usize, Block), c_int> {
        let mut block = self.block(part.index);
        let len = usize::from(block.len);
        let begin = self.outgoing.len();
        let mut start = part.from.min(len);
        if start >= usize::from(block.used) {
            // The gap that SQLite leaves, if any, reads as zeros.
            self.outgoing.extend(iter::repeat_n(0, part.from - start));
            self.outgoing.extend_from_slice(bytes);
        } else {
            start = 0;
            let old = self.read_block(store, part, len)?;
            let before_len = part.from.min(len);
            self.outgoing.extend_from_slice(&old[..before_len]);
            self.outgoing
                .extend(iter::repeat_n(0, part.from - before_len));
            self.outgoing.extend_from_slice(bytes);
            self.outgoing
                .extend_from_slice(old.get(part.to..).unwrap_or_default());
            self.rewrite_count = self.rewrite_count.checked_add(1).ok_or(ffi::SQLITE_FULL)?;
            block.rewrite = self.rewrite_count;
        }
        let mut outgoing = std::mem::take(&mut self.outgoing);
        self.apply(part.index, block.rewrite, start, &mut outgoing[begin..]);
        block.len =
            u16::try_from(start + outgoing.len() - begin).map_err(|_| ffi::SQLITE_INTERNAL)?;
        block.used = block.len;
        self.outgoing = outgoing;
        Ok((start, block))
    }

    /// The content of a block around a part that is rewritten; empty when the part covers it.
    fn read_block(&self, store: &mut impl Store, part: Part, len: usize) -> Result<Vec<u8>, c_int> {
        if part.from == 0 && part.to >= len {
            return Ok(Vec::new());
        }
        let mut old = vec![0; len];
        self.read(store, &mut old, part.index as u64 * BLOCK_LEN)?;
        Ok(old)
    }

    fn block(&self, index: usize) -> Block {
        self.blocks.get(index).copied().unwrap_or_default()
    }

    /// Makes room for a block. A far offset may need much memory, which is an error and no abort.
    fn grow(&mut self, index: usize) -> Result<(), c_int> {
        if index >= self.blocks.len() {
            let missing = index + 1 - self.blocks.len();
            self.blocks
                .try_reserve(missing)
                .map_err(|_| ffi::SQLITE_NOMEM)?;
            self.blocks.resize(index + 1, Block::default());
        }
        Ok(())
    }

    fn apply(&self, index: usize, rewrite: u32, start: usize, bytes: &mut [u8]) {
        let mut nonce = [0; 12];
        nonce[..8].copy_from_slice(&(index as u64).to_le_bytes());
        nonce[8..].copy_from_slice(&rewrite.to_le_bytes());
        let skipped = start % KEY_STREAM_BLOCK_LEN;
        let mut counter = u32::try_from(start / KEY_STREAM_BLOCK_LEN)
            .expect("a block has few blocks of key stream");
        let mut rest = bytes;
        if skipped > 0 {
            let len = rest.len().min(KEY_STREAM_BLOCK_LEN - skipped);
            let (head, after) = rest.split_at_mut(len);
            let mut block = [0; KEY_STREAM_BLOCK_LEN];
            block[skipped..skipped + len].copy_from_slice(head);
            apply_keystream(&self.key, &nonce, counter, &mut block);
            head.copy_from_slice(&block[skipped..skipped + len]);
            (rest, counter) = (after, counter + 1);
        }
        apply_keystream(&self.key, &nonce, counter, rest);
    }
}

/// Cuts a range at the borders of blocks.
fn parts(at: u64, len: usize) -> Result<impl Iterator<Item = Part>, c_int> {
    let end = at.checked_add(len as u64).ok_or(ffi::SQLITE_IOERR)?;
    usize::try_from(end).map_err(|_| ffi::SQLITE_IOERR)?;
    let mut next = at;
    Ok(iter::from_fn(move || {
        let block_at = next - next % BLOCK_LEN;
        let part_end = end.min(block_at + BLOCK_LEN);
        let part = Part {
            index: usize::try_from(block_at / BLOCK_LEN).ok()?,
            from: usize::try_from(next - block_at).ok()?,
            to: usize::try_from(part_end - block_at).ok()?,
        };
        next = part_end;
        (part.from < part.to).then_some(part)
    }))
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use chacha20::ChaCha20Rng;
    use chacha20::rand_core::{Rng, SeedableRng};

    use super::*;

    /// A file in memory that remembers what was written to it, and can refuse writes.
    #[derive(Default)]
    struct Memory {
        bytes: Vec<u8>,
        log: Vec<(usize, Vec<u8>)>,
        full: bool,
    }

    impl Store for Memory {
        fn read(&mut self, into: &mut [u8], at: u64) -> Result<(), c_int> {
            read_from(&self.bytes, into, at)
        }

        fn write(&mut self, from: &[u8], at: u64) -> Result<(), c_int> {
            let at = usize::try_from(at).unwrap();
            self.log.push((at, from.to_vec()));
            if self.full {
                return Err(ffi::SQLITE_FULL);
            }
            write_to(&mut self.bytes, from, at);
            Ok(())
        }
    }

    fn read_from(bytes: &[u8], into: &mut [u8], at: u64) -> Result<(), c_int> {
        let at = usize::try_from(at).unwrap().min(bytes.len());
        let there = into.len().min(bytes.len() - at);
        into.fill(0);
        into[..there].copy_from_slice(&bytes[at..at + there]);
        if there < into.len() {
            return Err(ffi::SQLITE_IOERR_SHORT_READ);
        }
        Ok(())
    }

    fn write_to(bytes: &mut Vec<u8>, from: &[u8], at: usize) {
        if bytes.len() < at + from.len() {
            bytes.resize(at + from.len(), 0);
        }
        bytes[at..at + from.len()].copy_from_slice(from);
    }

    /// A veiled file beside a plain one.
    struct Pair {
        veil: Veil,
        store: Memory,
        plain: Vec<u8>,
        /// Eight bytes of key stream, by where in the file they were used.
        key_streams: HashMap<usize, HashSet<[u8; 8]>>,
    }

    impl Pair {
        fn new() -> Pair {
            Pair {
                veil: Veil::new().unwrap(),
                store: Memory::default(),
                plain: Vec::new(),
                key_streams: HashMap::new(),
            }
        }

        fn write(&mut self, bytes: &[u8], at: usize) {
            self.veil.write(&mut self.store, bytes, at as u64).unwrap();
            write_to(&mut self.plain, bytes, at);
            self.note_key_stream();
        }

        /// Fails when bytes that reach the disk were encrypted with key stream that was used before.
        fn note_key_stream(&mut self) {
            for (at, written) in self.store.log.drain(..) {
                let plain = &self.plain[at..at + written.len()];
                let stream: Vec<u8> = plain.iter().zip(&written).map(|(a, b)| a ^ b).collect();
                for (place, window) in (at..).zip(stream.windows(8)) {
                    let is_new = self
                        .key_streams
                        .entry(place)
                        .or_default()
                        .insert(window.try_into().unwrap());
                    assert!(is_new, "key stream used twice at {place}");
                }
            }
        }

        fn truncate(&mut self, len: usize) {
            self.store.bytes.resize(len, 0);
            self.plain.resize(len, 0);
            self.veil.truncate(len as u64);
        }

        fn check(&mut self, len: usize, at: usize) {
            let (mut got, mut wanted) = (vec![1; len], vec![2; len]);
            let read = self.veil.read(&mut self.store, &mut got, at as u64);
            assert_eq!(read, read_from(&self.plain, &mut wanted, at as u64));
            assert!(got == wanted, "{len} bytes at {at} differ");
        }
    }

    #[test]
    fn it_reads_as_a_plain_file_does_and_never_uses_key_stream_twice() {
        for seed in 0..5 {
            let mut random = ChaCha20Rng::seed_from_u64(seed);
            let mut below = |limit: usize| random.next_u32() as usize % limit;
            let mut pair = Pair::new();
            for _ in 0..200 {
                match below(8) {
                    0 => pair.truncate(below(30_000)),
                    1 => {
                        let end = pair.plain.len();
                        pair.write(&vec![7; 1 + below(9000)], end);
                    }
                    2 => pair.write(&[3; 4096], below(8) * 4096),
                    3..6 => pair.write(&vec![5; 1 + below(5000)], below(30_000)),
                    _ => pair.check(1 + below(20_000), below(30_000)),
                }
            }
            pair.check(60_000, 0);
            assert_eq!(pair.store.bytes.len(), pair.plain.len());
        }
    }

    #[test]
    fn nothing_of_the_content_is_in_the_store() {
        let mut pair = Pair::new();
        pair.write(&b"nobody may read this".repeat(1000), 100);
        let found = pair
            .store
            .bytes
            .windows(6)
            .any(|window| window == b"nobody");
        assert!(!found);
        assert!(pair.plain.windows(6).any(|window| window == b"nobody"));
    }

    #[test]
    fn a_rewrite_that_the_store_refuses_leaves_the_old_content() {
        let mut pair = Pair::new();
        pair.write(&[1; 10_000], 0);
        pair.store.full = true;
        for (len, at) in [(100, 50), (4096, 4096), (5000, 9000)] {
            let refused = pair.veil.write(&mut pair.store, &vec![2; len], at);
            assert_eq!(refused, Err(ffi::SQLITE_FULL));
        }
        pair.store.full = false;
        pair.check(10_000, 0);
        // What the refused writes may have left on the disk counts as used.
        pair.plain.resize(14_000, 2);
        pair.plain[9000..].fill(2);
        pair.store.log.retain(|(at, _)| *at >= 9000);
        pair.note_key_stream();
        pair.plain.truncate(10_000);
        pair.plain[9000..].fill(1);
        pair.write(&[3; 5000], 10_000);
        pair.check(20_000, 0);
    }

    #[test]
    fn a_page_that_is_rewritten_whole_is_not_read_before() {
        struct Unreadable;
        impl Store for Unreadable {
            fn read(&mut self, _into: &mut [u8], _at: u64) -> Result<(), c_int> {
                Err(ffi::SQLITE_IOERR_READ)
            }
            fn write(&mut self, _from: &[u8], _at: u64) -> Result<(), c_int> {
                Ok(())
            }
        }
        let mut veil = Veil::new().unwrap();
        for _ in 0..2 {
            for at in [0, 4096, 8192] {
                veil.write(&mut Unreadable, &[0; 4096], at).unwrap();
            }
        }
        let part = veil.write(&mut Unreadable, &[0; 100], 50);
        assert_eq!(part, Err(ffi::SQLITE_IOERR_READ));
    }
}
