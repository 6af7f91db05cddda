//! The compile-time options of SQLite: those of the package that sealite replaces, so that users
//! find the same SQL (docs/architecture.md says what each gives), and those that the hooks need.

type Option_ = (&'static str, Option<&'static str>);

pub(crate) const OPTIONS: &[Option_] = &[
    // What SQLite is told of the platform.
    ("HAVE_USLEEP", Some("1")),
    ("HAVE_STDINT_H", Some("1")),
    ("HAVE_INT8_T", Some("1")),
    ("HAVE_INT16_T", Some("1")),
    ("HAVE_INT32_T", Some("1")),
    ("HAVE_UINT8_T", Some("1")),
    ("HAVE_UINT16_T", Some("1")),
    ("HAVE_UINT32_T", Some("1")),
    ("_POSIX_THREAD_SAFE_FUNCTIONS", None),
    // It is linked into the addon; extensions get the table of its functions.
    ("SQLITE_CORE", None),
    // The pager's hooks for a codec.
    ("SQLITE_HAS_CODEC", Some("1")),
    // The options of the replaced package.
    ("SQLITE_DEFAULT_CACHE_SIZE", Some("-16000")),
    ("SQLITE_DEFAULT_FOREIGN_KEYS", Some("1")),
    ("SQLITE_DEFAULT_MEMSTATUS", Some("0")),
    ("SQLITE_DEFAULT_WAL_SYNCHRONOUS", Some("1")),
    ("SQLITE_DQS", Some("0")),
    ("SQLITE_ENABLE_COLUMN_METADATA", None),
    ("SQLITE_ENABLE_DBSTAT_VTAB", None),
    ("SQLITE_ENABLE_DESERIALIZE", None),
    ("SQLITE_ENABLE_FTS3", None),
    ("SQLITE_ENABLE_FTS3_PARENTHESIS", None),
    ("SQLITE_ENABLE_FTS4", None),
    ("SQLITE_ENABLE_FTS5", None),
    ("SQLITE_ENABLE_GEOPOLY", None),
    ("SQLITE_ENABLE_JSON1", None),
    ("SQLITE_ENABLE_MATH_FUNCTIONS", None),
    ("SQLITE_ENABLE_PERCENTILE", None),
    ("SQLITE_ENABLE_RTREE", None),
    ("SQLITE_ENABLE_STAT4", None),
    // The clause itself is in limit_clause.c.
    ("SQLITE_ENABLE_UPDATE_DELETE_LIMIT", None),
    ("SQLITE_LIKE_DOESNT_MATCH_BLOBS", None),
    ("SQLITE_OMIT_DEPRECATED", None),
    ("SQLITE_OMIT_PROGRESS_CALLBACK", None),
    ("SQLITE_OMIT_SHARED_CACHE", None),
    ("SQLITE_OMIT_TCL_VARIABLE", None),
    ("SQLITE_SOUNDEX", None),
    ("SQLITE_THREADSAFE", Some("2")),
    ("SQLITE_TRACE_SIZE_LIMIT", Some("32")),
    ("SQLITE_USE_URI", Some("0")),
];
