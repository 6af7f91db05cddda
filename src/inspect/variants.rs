//! Which schemes, modes and parameters are tried on a page 1, cheap ones first.
//!
//! Bytes 16..24 decide a great deal: in clear they name page size and reserve, and no mode that
//! encrypts them fits; otherwise only such modes do. What the user states is taken as stated.

use super::look::Geometry;
use crate::codec::{CipherConfig, Reach, SCHEMES, Scheme, Settings};

/// One scheme with its parameters.
#[derive(Clone)]
pub(super) struct Variant {
    scheme: &'static Scheme,
    settings: Sets,
    pub(super) config: CipherConfig,
}

/// Names and values, in the order in which they are set.
type Sets = Vec<(&'static str, u32)>;

/// A parameter whose derivation would take too long or too much memory.
pub(crate) struct Limit {
    pub(crate) name: &'static str,
    pub(crate) most: u32,
}

/// What a derivation may cost.
pub(crate) const LIMITS: &[Limit] = &[
    Limit {
        name: "kdf_iter",
        most: 10_000_000,
    },
    Limit {
        name: "fast_kdf_iter",
        most: 10_000_000,
    },
    Limit {
        name: "tcost",
        most: 100,
    },
    Limit {
        name: "mcost",
        most: 1 << 20,
    },
    Limit {
        name: "pcost",
        most: 64,
    },
];

/// What can fit a page 1 with this header: in clear (`geometry`), and with SQLite's magic (`magic`).
pub(super) fn variants(
    geometry: Option<Geometry>,
    magic: bool,
    only: Option<&'static Scheme>,
    params: &[(String, String)],
) -> Vec<Variant> {
    let stated = params
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(HEADER));
    let stated = stated.and_then(|(_, text)| text.parse().ok());
    let known = match (geometry, magic) {
        (Some(_), true) => plain_header(stated),
        (Some(_), false) => clear_fields(),
        (None, _) => opaque(magic),
    };
    let known = known
        .into_iter()
        .filter(|(name, _)| only.is_none_or(|scheme| scheme.name == *name));
    let mut variants: Vec<_> = known
        .filter_map(|(name, sets)| Variant::new(name, sets, params))
        .collect();
    if let Some(geometry) = geometry {
        // A file can reserve more than its scheme needs (those of SQLCipher 1 to 3 do), never less.
        let reserve = usize::from(geometry.reserve);
        variants.retain(|variant| variant.reserve_len() <= reserve);
        variants.sort_by_key(|variant| variant.reserve_len() != reserve);
    }
    variants
}

impl Variant {
    /// None: the user states something else.
    fn new(name: &str, sets: Sets, params: &[(String, String)]) -> Option<Variant> {
        let scheme = *SCHEMES.iter().find(|scheme| scheme.name == name)?;
        let stated = |wanted: &str| {
            params
                .iter()
                .find(|(name, _)| name.eq_ignore_ascii_case(wanted))
        };
        let mut settings = Settings::for_scheme(scheme);
        for (name, value) in &sets {
            let spec = scheme.param(name)?;
            if let Some((_, text)) = stated(name)
                && spec.parse(text) != Ok(Some(*value))
            {
                return None;
            }
            set(&mut settings, scheme, name, &value.to_string());
        }
        for (name, text) in params {
            // `legacy` would move what was just set for it.
            if !sets.iter().any(|(set, _)| set.eq_ignore_ascii_case(name)) {
                set(&mut settings, scheme, name, text);
            }
        }
        Some(Variant {
            scheme,
            settings: sets,
            config: settings.config(),
        })
    }

    /// The same, for pages of this size where the mode has to be told.
    pub(super) fn for_page_size(&self, page_size: u32) -> Option<Variant> {
        if self.config.value("legacy") == 0 || self.config.value("legacy_page_size") == page_size {
            return None;
        }
        let mut settings = settings_of(&self.config);
        set(
            &mut settings,
            self.scheme,
            "legacy_page_size",
            &page_size.to_string(),
        );
        Some(Variant {
            config: settings.config(),
            ..self.clone()
        })
    }

    /// The PRAGMAs that a new connection needs for it, `cipher` first.
    pub(super) fn pragmas(&self) -> Vec<String> {
        let mut pragmas = vec![format!("cipher='{}'", self.scheme.name)];
        let mut settings = Settings::for_scheme(self.scheme);
        // `legacy` stands first in each table, so what it moves is known when the others are compared.
        for spec in self.scheme.params {
            let value = self.config.value(spec.name);
            if settings.config().value(spec.name) != value {
                set(&mut settings, self.scheme, spec.name, &value.to_string());
                pragmas.push(match spec.names {
                    [] => format!("{}={value}", spec.name),
                    _ => format!("{}='{}'", spec.name, spec.show(value)),
                });
            }
        }
        pragmas
    }

    /// In words, for the list of what was tried.
    pub(super) fn label(&self) -> String {
        let sets: Vec<_> = self.pragmas().into_iter().skip(1).collect();
        match sets.as_slice() {
            [] => self.scheme.name.to_owned(),
            sets => format!("{} {}", self.scheme.name, sets.join(" ")),
        }
    }

    /// The same label for all lengths of a clear header.
    pub(super) fn is_repetition(&self) -> bool {
        let header = self.settings.iter().find(|(name, _)| *name == HEADER);
        header.is_some_and(|(_, len)| *len > SHORTEST_HEADER)
    }

    pub(super) fn reserve_len(&self) -> usize {
        (self.scheme.layout)(&self.config).reserve_len
    }
}

fn settings_of(config: &CipherConfig) -> Settings {
    let scheme = config.scheme();
    let mut settings = Settings::for_scheme(scheme);
    for spec in scheme.params {
        set(
            &mut settings,
            scheme,
            spec.name,
            &config.value(spec.name).to_string(),
        );
    }
    settings
}

/// What is out of range changes nothing, as in a PRAGMA; what is no number was refused before.
fn set(settings: &mut Settings, scheme: &'static Scheme, name: &str, text: &str) {
    let _answer = settings.set_param_text(Reach::Both, scheme, name, text);
}

const HEADER: &str = "plaintext_header_size";
/// Any shorter header has the same bytes in clear.
const SHORTEST_HEADER: u32 = 24;
const MAGIC_LEN: u32 = 16;
const LONGEST_HEADER: u32 = 100;

/// Bytes 16..24 in clear, a salt or cipher text before them.
fn clear_fields() -> Vec<(&'static str, Sets)> {
    let mut known = vec![
        ("aes256cbc", vec![("legacy", 0)]),
        ("aes128cbc", vec![("legacy", 0)]),
        ("chacha20", vec![("legacy", 0), (HEADER, 0)]),
    ];
    known.extend((1..=6).map(|algorithm| ("aegis", vec![("algorithm", algorithm), (HEADER, 0)])));
    known.push(("ascon128", vec![(HEADER, 0)]));
    known.extend(sqlcipher(0));
    known
}

/// SQLite's magic and bytes 16..24 in clear over a page that is not.
fn plain_header(stated: Option<u32>) -> Vec<(&'static str, Sets)> {
    let lens = header_lens(1, stated);
    let mut known = Vec::new();
    for legacy in [0, 1] {
        known.extend(
            lens.iter()
                .map(|len| ("chacha20", vec![("legacy", legacy), (HEADER, *len)])),
        );
    }
    for algorithm in 1..=6 {
        known.extend(
            lens.iter()
                .map(|len| ("aegis", vec![("algorithm", algorithm), (HEADER, *len)])),
        );
    }
    known.extend(lens.iter().map(|len| ("ascon128", vec![(HEADER, *len)])));
    for len in header_lens(16, stated) {
        known.extend(sqlcipher(len));
        known.push(("sqlcipher", vec![("legacy", 4), (HEADER, len)]));
    }
    known
}

/// Nothing in clear but a salt or, with `magic`, less than the fields that tell the page size.
fn opaque(magic: bool) -> Vec<(&'static str, Sets)> {
    if magic {
        let lens = MAGIC_LEN..SHORTEST_HEADER;
        let mut known: Vec<_> = lens
            .map(|len| ("chacha20", vec![("legacy", 1), (HEADER, len)]))
            .collect();
        known.push(("sqlcipher", vec![("legacy", 4), (HEADER, MAGIC_LEN)]));
        return known;
    }
    vec![
        ("rc4", vec![("legacy", 1)]),
        ("aes256cbc", vec![("legacy", 1)]),
        ("aes128cbc", vec![("legacy", 1)]),
        ("sqlcipher", vec![("legacy", 2)]),
        ("sqlcipher", vec![("legacy", 1)]),
        ("chacha20", vec![("legacy", 1), (HEADER, 0)]),
        ("sqlcipher", vec![("legacy", 3)]),
        ("sqlcipher", vec![("legacy", 4)]),
    ]
}

/// sqlcipher with bytes 16..24 in clear, under each combination of hashes. Those that one build or
/// another has as its defaults come first.
fn sqlcipher(header_len: u32) -> Vec<(&'static str, Sets)> {
    const HASHES: [(u32, u32); 9] = [
        (2, 2),
        (0, 0),
        (1, 1),
        (2, 0),
        (2, 1),
        (0, 1),
        (0, 2),
        (1, 0),
        (1, 2),
    ];
    let header = (HEADER, header_len);
    let with_hmac = HASHES.map(|(kdf, hmac)| {
        vec![
            ("legacy", 0),
            ("hmac_use", 1),
            ("kdf_algorithm", kdf),
            ("hmac_algorithm", hmac),
            header,
        ]
    });
    let without = [2, 0, 1].map(|kdf| {
        vec![
            ("legacy", 0),
            ("hmac_use", 0),
            ("kdf_algorithm", kdf),
            header,
        ]
    });
    let all = with_hmac.into_iter().chain(without);
    all.map(|sets| ("sqlcipher", sets)).collect()
}

/// Multiples of `step`; the shortest stands for all below. What the user states is the only one.
fn header_lens(step: u32, stated: Option<u32>) -> Vec<u32> {
    let shortest = SHORTEST_HEADER / step * step;
    let all = || (shortest..=LONGEST_HEADER).step_by(step as usize).collect();
    stated.map_or_else(all, |len| vec![len])
}
