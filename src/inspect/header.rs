//! What page 1 in clear says of its database, and what in it cannot be right.
//!
//! The layout is in SQLite's file format documentation, section 1.3.

use super::look::geometry;

/// The header of a database.
#[derive(Debug, Clone, Default)]
pub(crate) struct Header {
    pub(crate) page_size: u32,
    pub(crate) reserve: u8,
    write_version: u8,
    read_version: u8,
    pub(crate) change_counter: u32,
    /// Pages of the database, where the header can be believed.
    pub(crate) page_count: Option<u32>,
    pub(crate) free_page_count: u32,
    schema_format: u32,
    pub(crate) encoding: u32,
    pub(crate) auto_vacuum: AutoVacuum,
    pub(crate) user_version: i32,
    pub(crate) application_id: i32,
    pub(crate) sqlite_version: u32,
}

/// How free pages are given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum AutoVacuum {
    #[default]
    None,
    Full,
    Incremental,
}

impl Header {
    pub(crate) fn read(page: &[u8]) -> Header {
        let number = |at: usize| number_at(page, at);
        let byte = |at: usize| page.get(at).copied().unwrap_or_default();
        let (page_size, reserve) = geometry(page).map_or((0, 0), |g| (g.page_size, g.reserve));
        // A program that does not keep the count writes no "valid for" either.
        let believed = number(24) == number(92) && number(28) > 0;
        Header {
            page_size,
            reserve,
            write_version: byte(18),
            read_version: byte(19),
            change_counter: number(24),
            page_count: believed.then(|| number(28)),
            free_page_count: number(36),
            schema_format: number(44),
            encoding: number(56),
            auto_vacuum: match (number(52), number(64)) {
                (0, _) => AutoVacuum::None,
                (_, 0) => AutoVacuum::Full,
                _ => AutoVacuum::Incremental,
            },
            user_version: number(60).cast_signed(),
            application_id: number(68).cast_signed(),
            sqlite_version: number(96),
        }
    }

    /// Whether the database is in WAL mode.
    pub(crate) fn is_wal(&self) -> bool {
        self.read_version == 2
    }

    /// What SQLite would refuse, or what does not fit the scheme.
    pub(crate) fn problems(&self, scheme_reserve_len: Option<usize>) -> Vec<String> {
        let mut problems = Vec::new();
        let mut note = |wrong: bool, text: String| {
            if wrong {
                problems.push(text);
            }
        };
        let versions = (self.write_version, self.read_version);
        note(
            !matches!(versions, (1, 1) | (2, 2)),
            format!(
                "the header states the format versions {} and {}",
                self.write_version, self.read_version
            ),
        );
        let kept = scheme_reserve_len.unwrap_or(usize::from(self.reserve));
        // SQLCipher itself reserves 80 bytes in each of its formats; what is more than needed is content.
        note(
            kept > usize::from(self.reserve),
            format!(
                "the header reserves {} bytes per page, the scheme keeps {kept}",
                self.reserve
            ),
        );
        note(
            self.schema_format > 4,
            format!("the schema has the unknown format {}", self.schema_format),
        );
        note(
            self.encoding > 3,
            format!("the text has the unknown encoding {}", self.encoding),
        );
        note(
            self.page_count
                .is_some_and(|count| self.free_page_count >= count),
            format!(
                "the header counts {} free pages, more than there can be",
                self.free_page_count
            ),
        );
        problems
    }

    /// What does not fit the length of the file.
    pub(crate) fn size_problems(&self, len: u64) -> Vec<String> {
        let page_len = u64::from(self.page_size.max(1));
        let mut problems = Vec::new();
        if !len.is_multiple_of(page_len) {
            problems.push(format!("the file ends within a page ({len} bytes)"));
        }
        let page_count = len / page_len;
        if let Some(counted) = self.page_count
            && u64::from(counted) > page_count
        {
            problems.push(format!(
                "the header counts {counted} pages, the file has {page_count}"
            ));
        }
        problems
    }
}

fn number_at(page: &[u8], at: usize) -> u32 {
    page.get(at..)
        .and_then(|rest| rest.first_chunk())
        .map_or(0, |bytes| u32::from_be_bytes(*bytes))
}
