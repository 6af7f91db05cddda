//! What a database file is, seen from outside: without opening it as a database, without Node and
//! without writing.
//!
//! | module | what it knows |
//! |---|---|
//! | [`look`] | what the first bytes and the size of a file say |
//! | `wal`, `journal` | what lies in the files beside it, and the page 1 that they hold |
//! | `variants` | which schemes, modes and parameters are tried, cheap ones first |
//! | `attempt` | tries a key; every derivation is made once |
//! | `header` | what page 1 in clear says of its database |
//!
//! Here they are put together. The bytes come from [`crate::pager`]'s `stored`.

mod attempt;
mod header;
mod journal;
pub mod look;
mod variants;
mod wal;

use std::path::Path;

use zeroize::Zeroizing;

pub(crate) use self::attempt::Opened;
pub(crate) use self::header::{AutoVacuum, Header};
pub(crate) use self::journal::Journal;
use self::look::{HEAD_LEN, Kind, Look, Sight, geometry};
pub(crate) use self::variants::LIMITS;
pub(crate) use self::wal::Wal;
use crate::codec::{Salt, Scheme};
use crate::error::Result;
use crate::pager::stored::{StoredFile, len_of};

/// The largest page of SQLite: as much of the file is read.
const MAX_PAGE_LEN: usize = 65536;
/// A page that another process is just writing fits no key; then the file is looked at again.
const MAX_LOOKS: u32 = 3;

/// What is asked.
pub(crate) struct Request {
    /// None: only what can be seen without one.
    pub(crate) key: Option<Zeroizing<Vec<u8>>>,
    /// Only this scheme.
    pub(crate) scheme: Option<&'static Scheme>,
    /// Parameters that are known, as their PRAGMAs would set them.
    pub(crate) params: Vec<(String, String)>,
    /// What `PRAGMA cipher_salt` would set.
    pub(crate) salt: Option<Salt>,
}

/// What was found.
pub(crate) struct Report {
    pub(crate) look: Look,
    pub(crate) wal: Option<Wal>,
    pub(crate) journal: Option<Journal>,
    /// The database is plain, or the key opens it.
    pub(crate) database: Option<Database>,
    /// What was tried, in order.
    pub(crate) tried: Vec<String>,
    /// How many keys were derived.
    pub(crate) derivation_count: usize,
}

/// A page 1 in clear.
pub(crate) struct Database {
    /// None: it is stored so.
    pub(crate) opened: Option<Opened>,
    pub(crate) origin: Origin,
    pub(crate) header: Header,
    pub(crate) problems: Vec<String>,
}

/// Where an image of page 1 was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    File,
    Wal,
    Journal,
}

/// One image of page 1.
struct Image {
    origin: Origin,
    /// A page, when its size is known, else as much as the largest page can be.
    bytes: Vec<u8>,
    /// As the WAL or the journal states it.
    page_size: Option<u32>,
}

/// Looks at a file, and tries the key if there is one.
pub(crate) fn inspect(path: &str, request: &Request) -> Result<Report> {
    let file = StoredFile::open(path)?;
    let mut keys = request.key.as_ref().map(attempt::Keys::new);
    for _ in 1..MAX_LOOKS {
        let images = Seen::of(&file)?;
        let report = examine(&images, request, keys.as_mut());
        if report.database.is_some() || keys.is_none() || !images.has_changed(&file)? {
            return Ok(report);
        }
    }
    Ok(examine(&Seen::of(&file)?, request, keys.as_mut()))
}

/// The file and those beside it at one time.
struct Seen {
    look: Look,
    wal: Option<Wal>,
    journal: Option<Journal>,
    /// The one that counts is first.
    images: Vec<Image>,
    head: Vec<u8>,
}

impl Seen {
    fn of(file: &StoredFile) -> Result<Seen> {
        let len = file.len();
        let head = file.head(MAX_PAGE_LEN)?;
        let beside = |suffix: &str| Some(file.beside(suffix)).filter(|path| path.exists());
        let wal = beside("-wal").map(|path| Wal::read(&path));
        let journal = match beside("-journal") {
            None => None,
            Some(path) => Some(Journal::read(&path, len > 0 && !file.is_being_written()?)),
        };
        let images = images(&head, wal.as_ref(), journal.as_ref());
        let first = images.first().map_or(&[][..], |image| &image.bytes);
        let sight = Sight {
            len,
            head: &first[..first.len().min(HEAD_LEN)],
            wal_len: beside_len(file, "-wal"),
            journal_len: beside_len(file, "-journal"),
        };
        Ok(Seen {
            look: look::look(sight),
            wal,
            journal,
            images,
            head,
        })
    }

    fn has_changed(&self, file: &StoredFile) -> Result<bool> {
        Ok(file.head(MAX_PAGE_LEN)? != self.head)
    }
}

fn beside_len(file: &StoredFile, suffix: &str) -> u64 {
    len_of(Path::new(&file.beside(suffix)))
}

/// A WAL is later than the file; a hot journal holds what the file is rolled back to; one that is in
/// use holds what the file was, should page 1 be in the middle of being written.
fn images(head: &[u8], wal: Option<&Wal>, journal: Option<&Journal>) -> Vec<Image> {
    let of_file = Image {
        origin: Origin::File,
        bytes: head.to_vec(),
        page_size: None,
    };
    if head.is_empty() {
        return vec![of_file];
    }
    let of_wal = wal.and_then(|wal| {
        let page_1 = wal.page_1.as_ref()?;
        Some(Image::of(Origin::Wal, page_1, wal.page_size))
    });
    let of_journal = journal.and_then(|journal| {
        let page_1 = journal.page_1.as_ref()?;
        Some(Image::of(Origin::Journal, page_1, journal.page_size))
    });
    let mut images = vec![of_file];
    images.extend(of_journal);
    if journal.is_some_and(|journal| journal.hot) {
        images.reverse();
    }
    if let Some(of_wal) = of_wal {
        images.insert(0, of_wal);
    }
    images
}

impl Image {
    fn of(origin: Origin, page: &[u8], page_size: u32) -> Image {
        Image {
            origin,
            bytes: page.to_vec(),
            page_size: Some(page_size),
        }
    }
}

fn examine(seen: &Seen, request: &Request, keys: Option<&mut attempt::Keys<'_>>) -> Report {
    let mut report = Report {
        look: seen.look.clone(),
        wal: seen.wal.clone(),
        journal: seen.journal.clone(),
        database: None,
        tried: Vec::new(),
        derivation_count: 0,
    };
    for image in &seen.images {
        if report.database.is_none() {
            report.database = plain(image, seen);
        }
    }
    let Some(keys) = keys.filter(|_| report.database.is_none() && seen.look.kind != Kind::Empty)
    else {
        return report;
    };
    for image in &seen.images {
        let page_sizes = page_sizes(image, seen);
        if let Some((opened, page)) = keys.open(image, &page_sizes, request, &mut report.tried) {
            report.database = Some(database(Some(opened), image.origin, &page, seen));
            break;
        }
    }
    report.derivation_count = keys.derivation_count();
    report
}

fn plain(image: &Image, seen: &Seen) -> Option<Database> {
    let head = &image.bytes[..image.bytes.len().min(HEAD_LEN)];
    let look = look::look(Sight {
        len: image.bytes.len() as u64,
        head,
        wal_len: 0,
        journal_len: 0,
    });
    (look.kind == Kind::Plain).then(|| database(None, image.origin, &image.bytes, seen))
}

fn database(opened: Option<Opened>, origin: Origin, page: &[u8], seen: &Seen) -> Database {
    let header = Header::read(page);
    let reserve_len = opened.as_ref().map(|opened| opened.reserve_len);
    let mut problems = header.problems(reserve_len);
    // What is in the WAL or waits to be rolled back is not yet in the file.
    if origin == Origin::File {
        problems.extend(header.size_problems(seen.look.len));
    }
    Database {
        opened,
        origin,
        header,
        problems,
    }
}

/// The sizes that a page of this image can have.
fn page_sizes(image: &Image, seen: &Seen) -> Vec<u32> {
    let stated = image
        .page_size
        .or_else(|| Some(geometry(&image.bytes)?.page_size));
    if let Some(page_size) = stated {
        return vec![page_size];
    }
    let of_wal = seen.wal.as_ref().map(|wal| wal.page_size);
    let of_journal = seen.journal.as_ref().map(|journal| journal.page_size);
    let beside = [of_wal, of_journal].into_iter().flatten();
    let mut sizes: Vec<u32> = beside.filter(|size| *size > 0).collect();
    // The usual ones first; all of them, as a file may have been cut short.
    for size in [4096, 1024, 8192, 2048, 512, 16384, 32768, 65536] {
        if !sizes.contains(&size) {
            sizes.push(size);
        }
    }
    sizes.retain(|size| *size as usize <= image.bytes.len());
    sizes
}
