//! What a parameter of a scheme is: its name, its range, and how a PRAGMA's text becomes its value.
//!
//! Which parameters a scheme has stands in the scheme's file; which values a connection has set is
//! in `settings`.

use std::fmt;

use super::page::is_page_size;

/// One parameter of one scheme.
#[derive(Debug)]
pub struct ParamSpec {
    /// Name as in a PRAGMA, in lower case.
    pub name: &'static str,
    /// Value of a new connection.
    pub default: u32,
    /// Lowest value.
    pub min: u32,
    /// Highest value.
    pub max: u32,
    /// A condition beside the range.
    pub accepts: fn(u32) -> bool,
    /// Names of the values `min`, `min + 1` and so on, when the value is a word.
    pub names: &'static [&'static str],
    /// Other parameters of the same scheme that follow this one.
    pub presets: &'static [Preset],
}

/// Setting a parameter to `value` sets others, too.
#[derive(Debug)]
pub struct Preset {
    /// The value that does it.
    pub value: u32,
    /// Names and values of the others.
    pub sets: &'static [(&'static str, u32)],
}

impl ParamSpec {
    /// A whole number in a range.
    pub const fn integer(name: &'static str, default: u32, min: u32, max: u32) -> ParamSpec {
        ParamSpec {
            name,
            default,
            min,
            max,
            accepts: |_| true,
            names: &[],
            presets: &[],
        }
    }

    /// The same parameter with a further condition.
    pub const fn accepting(mut self, accepts: fn(u32) -> bool) -> ParamSpec {
        self.accepts = accepts;
        self
    }

    /// The same parameter with words for its values, from the lowest on.
    pub const fn named(mut self, names: &'static [&'static str]) -> ParamSpec {
        self.names = names;
        self
    }

    /// The same parameter, moving others of its scheme along.
    pub const fn presetting(mut self, presets: &'static [Preset]) -> ParamSpec {
        self.presets = presets;
        self
    }

    /// Rounds of a key derivation.
    pub const fn rounds(name: &'static str, default: u32) -> ParamSpec {
        ParamSpec::integer(name, default, 1, LARGEST)
    }

    /// Page size of a legacy file, 0 for unknown.
    pub const fn legacy_page_size(default: u32) -> ParamSpec {
        ParamSpec::integer("legacy_page_size", default, 0, 65536)
            .accepting(|len| len == 0 || is_page_size(len as usize))
    }

    /// Bytes at the start of page 1 that stay clear.
    pub const fn plaintext_header_size() -> ParamSpec {
        ParamSpec::integer("plaintext_header_size", 0, 0, 100)
    }

    /// The value that a text asks for. `Ok(None)`: readable, but not a value of this parameter,
    /// which by the PRAGMA's rules changes nothing and is no error.
    pub fn parse(&self, text: &str) -> Result<Option<u32>, ParamError> {
        let word = self.names.iter().position(|n| n.eq_ignore_ascii_case(text));
        let number = match word {
            Some(at) => u32::try_from(at).ok().map(|at| self.min + at),
            None => match parse_integer(text) {
                Some(number) => u32::try_from(number).ok(),
                None if self.names.is_empty() => return Err(ParamError::malformed(text)),
                None => None,
            },
        };
        Ok(number.filter(|n| (self.min..=self.max).contains(n) && (self.accepts)(*n)))
    }

    /// A value of this parameter as it is shown.
    pub fn show(&self, value: u32) -> ParamValue {
        let at = value.checked_sub(self.min).map(|at| at as usize);
        match at.and_then(|at| self.names.get(at)) {
            Some(name) => ParamValue::Name(name),
            None => ParamValue::Integer(value),
        }
    }
}

/// A parameter's value as a user sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamValue {
    /// A number.
    Integer(u32),
    /// A word that stands for one, such as the algorithm of aegis.
    Name(&'static str),
}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ParamValue::Integer(value) => value.fmt(f),
            ParamValue::Name(name) => name.fmt(f),
        }
    }
}

/// Why a parameter's text was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    /// The text is not a number.
    #[error("Malformed integer value '{0}'.")]
    MalformedInteger(String),
}

impl ParamError {
    fn malformed(text: &str) -> ParamError {
        ParamError::MalformedInteger(text.to_owned())
    }
}

/// Reads an integer as SQLite reads one in a PRAGMA: a sign and up to ten digits, or `0x` and hex
/// digits without a sign, within 32 bits; text after the digits does not count.
pub fn parse_integer(text: &str) -> Option<i32> {
    if let Some(digits) = hex_digits(text) {
        return i32::from_str_radix(digits, 16).ok();
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let digits = leading(unsigned, |c| c.is_ascii_digit());
    let signed_len = text.len() - unsigned.len() + digits.len();
    text[..signed_len].parse().ok()
}

/// Reads an integer that is the whole text: decimal with a sign or without, or `0x` and hex digits.
pub fn parse_whole_integer(text: &str) -> Option<i32> {
    match text.strip_prefix("0x").or(text.strip_prefix("0X")) {
        Some(digits) if digits.starts_with(|c: char| c.is_ascii_hexdigit()) => {
            i32::from_str_radix(digits, 16).ok()
        }
        Some(_) => None,
        None => text.parse().ok(),
    }
}

/// Reads a switch as SQLite reads one in a PRAGMA. Words that it does not know are `otherwise`.
pub fn parse_flag(text: &str, otherwise: bool) -> bool {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        // Compat: only the low byte counts, so 256 is off (flags_read_like_sqlite).
        return parse_integer(text).is_some_and(|number| number & 0xff != 0);
    }
    match text.to_ascii_lowercase().as_str() {
        "on" | "yes" | "true" => true,
        "off" | "no" | "false" => false,
        _ => otherwise,
    }
}

/// The largest value that a PRAGMA can give.
pub const LARGEST: u32 = i32::MAX as u32;

fn hex_digits(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("0x").or(text.strip_prefix("0X"))?;
    Some(leading(rest, |c| c.is_ascii_hexdigit())).filter(|digits| !digits.is_empty())
}

fn leading(text: &str, wanted: fn(char) -> bool) -> &str {
    &text[..text.find(|c| !wanted(c)).unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_read_like_sqlite() {
        let cases = [
            ("+7", Some(7)),
            ("-5", Some(-5)),
            ("0x10", Some(16)),
            ("0X1f", Some(31)),
            ("0x7fffffff", Some(i32::MAX)),
            ("0x80000000", None),
            ("0x000000000011", Some(17)),
            ("0x", Some(0)),
            ("-0x10", Some(0)),
            ("12abc", Some(12)),
            ("1.5", Some(1)),
            ("abc", None),
            ("", None),
            ("-", None),
            (" 5", None),
            ("0000000000000000005", Some(5)),
            ("2147483647", Some(i32::MAX)),
            ("2147483648", None),
            ("-2147483648", Some(i32::MIN)),
            ("-2147483649", None),
            ("12345678901", None),
            ("5\u{e9}", Some(5)),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_integer(text), expected, "{text:?}");
        }
    }

    #[test]
    fn flags_read_like_sqlite() {
        for otherwise in [false, true] {
            for text in ["on", "YES", "True", "1", "2", "257"] {
                assert!(parse_flag(text, otherwise), "{text}");
            }
            for text in ["off", "No", "FALSE", "0", "256"] {
                assert!(!parse_flag(text, otherwise), "{text}");
            }
            for text in ["foo", "full", "extra", "", "-1"] {
                assert_eq!(parse_flag(text, otherwise), otherwise, "{text}");
            }
        }
    }

    #[test]
    fn a_named_parameter_takes_words_and_numbers_and_shows_words() {
        let spec = ParamSpec::integer("algorithm", 4, 1, 3).named(&["one", "two", "three"]);
        assert_eq!(spec.parse("TWO"), Ok(Some(2)));
        assert_eq!(spec.parse("3x"), Ok(Some(3)));
        for text in ["four", "4", "0", "-1", ""] {
            assert_eq!(spec.parse(text), Ok(None), "{text:?}");
        }
        assert_eq!(spec.show(2).to_string(), "two");
    }

    #[test]
    fn a_legacy_page_size_is_zero_or_a_page_size() {
        let spec = ParamSpec::legacy_page_size(4096);
        assert_eq!(spec.parse("0"), Ok(Some(0)));
        assert_eq!(spec.parse("65536"), Ok(Some(65536)));
        assert_eq!(spec.parse("1000"), Ok(None));
        assert_eq!(spec.parse("131072"), Ok(None));
    }

    #[test]
    fn the_message_of_a_malformed_integer_is_exact() {
        let error = ParamSpec::rounds("kdf_iter", 1).parse("abc").unwrap_err();
        assert_eq!(error.to_string(), "Malformed integer value 'abc'.");
    }
}
