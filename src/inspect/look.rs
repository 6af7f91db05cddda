//! What a file looks like before any key is tried: from its size, its first bytes and the files
//! beside it. A pure function; who reads the bytes is no matter here.
//!
//! The hint of a NOTADB error (`pager`) and `Database.inspect` both ask this.

use std::fmt;

/// How many bytes from the start of the file are looked at; fewer when the file is shorter.
pub const HEAD_LEN: usize = 512;

const MAGIC: &[u8] = b"SQLite format 3\0";
/// A rollback journal starts with this, a WAL with one of the two below.
const JOURNAL_MAGIC: &[u8] = &[0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
const WAL_MAGICS: [&[u8]; 2] = [&[0x37, 0x7f, 0x06, 0x82], &[0x37, 0x7f, 0x06, 0x83]];
/// Where the header of a database ends and the root of its schema begins.
const HEADER_LEN: usize = 100;

/// What is looked at.
#[derive(Debug, Clone, Copy)]
pub struct Sight<'f> {
    /// Length of the file in bytes.
    pub len: u64,
    /// Its first bytes: `HEAD_LEN` of them, or all.
    pub head: &'f [u8],
    /// Length of the file `-wal` beside it; 0 when there is none.
    pub wal_len: u64,
    /// Length of the file `-journal` beside it; 0 when there is none.
    pub journal_len: u64,
}

/// What it looks like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// Length of the file in bytes.
    pub len: u64,
    /// The kind of file.
    pub kind: Kind,
    /// Page size and reserved bytes where the file shows them.
    pub geometry: Option<Geometry>,
    /// Whether a `-wal` with content is beside it.
    pub has_wal: bool,
    /// Whether a `-journal` with content is beside it.
    pub has_journal: bool,
}

/// Page size and reserve as bytes 16..24 of page 1 tell them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Bytes of a page.
    pub page_size: u32,
    /// Bytes at the end of each page that SQLite leaves alone.
    pub reserve: u8,
}

/// The kinds of file that can be told apart without a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// No bytes: a new database.
    Empty,
    /// Nothing but zeros, as far as was looked.
    Zeros,
    /// A database in clear.
    Plain,
    /// A header in clear over pages that are not: encrypted with a plaintext header, or a clear
    /// database whose first page is damaged.
    PlainHeader,
    /// No database header, but page size and reserve in clear: an encrypted database.
    Encrypted,
    /// Nothing to recognise: encrypted in a legacy mode or as rc4, or no database at all.
    Opaque,
    /// The WAL of a database.
    Wal,
    /// The rollback journal of a database.
    Journal,
}

/// Says what a file looks like.
pub fn look(sight: Sight<'_>) -> Look {
    let kind = kind(sight);
    let shows_geometry = matches!(kind, Kind::Plain | Kind::PlainHeader | Kind::Encrypted);
    Look {
        len: sight.len,
        kind,
        geometry: geometry(sight.head).filter(|_| shows_geometry),
        has_wal: sight.wal_len > 0,
        has_journal: sight.journal_len > 0,
    }
}

impl Look {
    /// The file is shorter than one page of the size that it shows, or than any page.
    pub fn is_shorter_than_a_page(&self) -> bool {
        let page_size = self.geometry.map_or(512, |geometry| geometry.page_size);
        self.len > 0 && self.len < u64::from(page_size)
    }

    /// The file does not end where a page of the size that it shows ends; where it shows none, no page
    /// of any size.
    pub fn is_no_multiple_of_a_page(&self) -> bool {
        let page_size = self.geometry.map_or(512, |geometry| geometry.page_size);
        !self.len.is_multiple_of(u64::from(page_size))
    }

    /// The page sizes that the file can have.
    pub fn page_sizes(&self) -> Vec<u32> {
        if let Some(geometry) = self.geometry {
            return vec![geometry.page_size];
        }
        let sizes = (9..=16).map(|bits| 1 << bits);
        let len = self.len;
        sizes
            .filter(|size| len > 0 && len.is_multiple_of(u64::from(*size)))
            .collect()
    }

    /// The schemes, as they are with their defaults or in their known modes, that such a file can have.
    pub fn schemes(&self) -> &'static [&'static str] {
        let reserve = self.geometry.map(|geometry| geometry.reserve);
        match (self.kind, reserve) {
            (Kind::Encrypted, Some(0)) => &["aes256cbc", "aes128cbc"],
            (Kind::Encrypted | Kind::PlainHeader, Some(16)) => &["sqlcipher with hmac_use=0"],
            (Kind::Encrypted | Kind::PlainHeader, Some(32)) => &["chacha20", "ascon128"],
            (Kind::Encrypted | Kind::PlainHeader, Some(48)) => &[
                "aegis with an algorithm of the 128 family",
                "sqlcipher with an HMAC of SHA-1 or SHA-256",
            ],
            (Kind::Encrypted | Kind::PlainHeader, Some(64)) => &["aegis"],
            (Kind::Encrypted | Kind::PlainHeader, Some(80)) => &["sqlcipher"],
            (Kind::Opaque, _) => &[
                "sqlcipher with legacy=1 to 4",
                "chacha20 with legacy=1",
                "aes256cbc or aes128cbc with legacy=1",
                "rc4",
            ],
            _ => &[],
        }
    }
}

/// In words, as one or more sentences.
impl fmt::Display for Look {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            Kind::Empty => return f.write_str("The file is empty."),
            Kind::Zeros => "begins with nothing but zeros",
            Kind::Plain => "looks like a plain SQLite database",
            Kind::PlainHeader => "has a plain SQLite header over an encrypted or damaged page",
            Kind::Encrypted => "looks like an encrypted database",
            Kind::Opaque => {
                "shows no database header: it is encrypted as a whole, or it is no database"
            }
            Kind::Wal => "is the WAL of a database, not a database",
            Kind::Journal => "is the rollback journal of a database, not a database",
        };
        write!(f, "The file ({} bytes) {what}", self.len)?;
        if let Some(Geometry { page_size, reserve }) = self.geometry {
            write!(
                f,
                " (page size {page_size}, {reserve} reserved bytes per page)"
            )?;
        }
        f.write_str(".")?;
        self.fmt_schemes(f)?;
        self.fmt_size(f)?;
        if self.has_wal {
            f.write_str(" A -wal file lies beside it.")?;
        }
        if self.has_journal {
            f.write_str(" A -journal file lies beside it.")?;
        }
        Ok(())
    }
}

impl Look {
    fn fmt_schemes(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.schemes(), self.kind) {
            ([], _) => Ok(()),
            (schemes, Kind::PlainHeader) => write!(
                f,
                " With plaintext_header_size, this fits {}.",
                schemes.join(", ")
            ),
            (schemes, _) => write!(f, " This fits {}.", schemes.join(", ")),
        }
    }

    fn fmt_size(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Kind::Wal | Kind::Journal | Kind::Empty => Ok(()),
            _ if self.is_shorter_than_a_page() => f.write_str(" It is shorter than one page."),
            _ if self.is_no_multiple_of_a_page() => {
                f.write_str(" Its length is not a multiple of a page size: it is cut short, or something was added.")
            }
            Kind::Opaque => {
                let sizes: Vec<_> = self.page_sizes().iter().map(u32::to_string).collect();
                write!(f, " Its length fits page sizes {}.", sizes.join(", "))
            }
            _ => Ok(()),
        }
    }
}

fn kind(sight: Sight<'_>) -> Kind {
    let head = sight.head;
    if sight.len == 0 {
        return Kind::Empty;
    }
    if head.starts_with(JOURNAL_MAGIC) {
        return Kind::Journal;
    }
    if WAL_MAGICS.iter().any(|magic| head.starts_with(magic)) {
        return Kind::Wal;
    }
    if head.iter().all(|byte| *byte == 0) {
        return Kind::Zeros;
    }
    match (head.starts_with(MAGIC), geometry(head)) {
        (true, Some(geometry)) if is_clear(head, geometry) => Kind::Plain,
        (true, Some(_)) => Kind::PlainHeader,
        (false, Some(_)) => Kind::Encrypted,
        (_, None) => Kind::Opaque,
    }
}

/// Page size and reserve from bytes 16..24, if those can be a database's.
pub fn geometry(head: &[u8]) -> Option<Geometry> {
    let header = head.get(16..24)?;
    let page_size = match u32::from(header[0]) << 8 | u32::from(header[1]) {
        1 => 65536,
        size => size,
    };
    let fits = page_size.is_power_of_two()
        && (512..=65536).contains(&page_size)
        && header[5..] == [64, 32, 32];
    fits.then_some(Geometry {
        page_size,
        reserve: header[4],
    })
}

/// Whether this is the first page of a database in clear, as far as its first bytes tell.
pub fn is_database(head: &[u8]) -> bool {
    head.starts_with(MAGIC) && geometry(head).is_some_and(|geometry| is_clear(head, geometry))
}

/// Whether the rest of the header and the b-tree page after it are in clear. Twenty bytes of the
/// header are zero in every database; the page is a table, with its cells within it.
fn is_clear(head: &[u8], geometry: Geometry) -> bool {
    let Some(page) = head.get(HEADER_LEN..HEADER_LEN + 8) else {
        return false;
    };
    let number = |at: usize| usize::from(page[at]) << 8 | usize::from(page[at + 1]);
    let page_size = geometry.page_size as usize;
    let (header_len, is_tree) = match page[0] {
        0x0d | 0x0a => (8, true),
        0x05 | 0x02 => (12, true),
        _ => (0, false),
    };
    let cells_at = match number(5) {
        0 => 65536,
        at => at,
    };
    let pointers_end = HEADER_LEN + header_len + 2 * number(3);
    head[72..92].iter().all(|byte| *byte == 0)
        && is_tree
        && pointers_end <= cells_at
        && cells_at <= page_size
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Page 1 of an empty table of schemas.
    fn plain(page_size: u16, reserve: u8) -> Vec<u8> {
        let mut page = vec![0; usize::from(page_size)];
        page[..16].copy_from_slice(MAGIC);
        page[16..18].copy_from_slice(&page_size.to_be_bytes());
        page[18..24].copy_from_slice(&[1, 1, reserve, 64, 32, 32]);
        page[100] = 0x0d;
        let content = page_size - u16::from(reserve);
        page[105..107].copy_from_slice(&content.to_be_bytes());
        page
    }

    fn cipher_text(page: &mut [u8]) {
        for (byte, other) in page.iter_mut().zip((0..=255).cycle()) {
            *byte = u8::wrapping_mul(other, 97) ^ 0x5a;
        }
    }

    fn look_at(head: &[u8], len: u64) -> Look {
        look(Sight {
            len,
            head: &head[..head.len().min(HEAD_LEN)],
            wal_len: 0,
            journal_len: 0,
        })
    }

    #[test]
    fn the_kinds_are_told_apart() {
        let clear = plain(4096, 32);
        let mut header = clear.clone();
        cipher_text(&mut header[32..]);
        let mut encrypted = header.clone();
        cipher_text(&mut encrypted[..16]);
        let mut opaque = encrypted.clone();
        cipher_text(&mut opaque[16..24]);
        let cases = [
            (Vec::new(), Kind::Empty),
            (vec![0; 512], Kind::Zeros),
            (clear, Kind::Plain),
            (header, Kind::PlainHeader),
            (encrypted, Kind::Encrypted),
            (opaque, Kind::Opaque),
            (vec![1], Kind::Opaque),
            (JOURNAL_MAGIC.to_vec(), Kind::Journal),
            (WAL_MAGICS[1].to_vec(), Kind::Wal),
        ];
        for (head, kind) in cases {
            assert_eq!(look_at(&head, head.len() as u64).kind, kind, "{kind:?}");
        }
    }

    #[test]
    fn a_header_of_100_bytes_in_clear_is_not_a_plain_database() {
        let mut page = plain(4096, 32);
        cipher_text(&mut page[100..]);
        assert_eq!(look_at(&page, 4096).kind, Kind::PlainHeader);
    }

    #[test]
    fn a_length_that_no_page_fits_is_told() {
        let page = plain(4096, 0);
        assert!(!look_at(&page, 8192).is_no_multiple_of_a_page());
        assert!(look_at(&page, 8193).is_no_multiple_of_a_page());
        assert!(look_at(&page, 4095).is_shorter_than_a_page());
        let mut opaque = page;
        cipher_text(&mut opaque);
        assert_eq!(look_at(&opaque, 3072).page_sizes(), [512, 1024]);
        assert!(look_at(&opaque, 3073).is_no_multiple_of_a_page());
        assert!(look_at(&opaque, 300).is_shorter_than_a_page());
    }

    #[test]
    fn the_words_name_page_size_reserve_and_what_fits() {
        let mut page = plain(1024, 80);
        cipher_text(&mut page[..16]);
        let mut look = look_at(&page, 2048);
        look.has_wal = true;
        assert_eq!(
            look.to_string(),
            "The file (2048 bytes) looks like an encrypted database (page size 1024, 80 reserved bytes per \
             page). This fits sqlcipher. A -wal file lies beside it."
        );
    }

    #[test]
    fn any_bytes_can_be_looked_at() {
        for len in 0..HEAD_LEN {
            for fill in [0, 1, 2, 13, 64, 255] {
                let mut head = vec![fill; len];
                let _words = look_at(&head, len as u64).to_string();
                let magic_len = len.min(MAGIC.len());
                head[..magic_len].copy_from_slice(&MAGIC[..magic_len]);
                let _words = look_at(&head, u64::MAX).to_string();
            }
        }
    }
}
