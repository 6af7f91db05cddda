//! SQL as text: what may follow a statement, and which parts of it are secret.
//!
//! SQLite compiles the statements; here are only the few questions it does not answer.

/// The length of the white space and semicolons at the start.
pub(crate) fn separators_len(sql: &[u8]) -> usize {
    sql.iter()
        .take_while(|&&byte| is_space(byte) || byte == b';')
        .count()
}

/// Whether nothing but white space, semicolons and comments is left.
pub(crate) fn is_blank(sql: &[u8]) -> bool {
    Tokens { sql, at: 0 }.all(|token| matches!(token.kind, Kind::Space | Kind::Semicolon))
}

/// Whether compiling the statement reads the schema and does nothing else. PRAGMA acts then, and
/// ATTACH may hold a key.
pub(crate) fn compiles_quietly(sql: &[u8]) -> bool {
    let first = Tokens { sql, at: 0 }
        .find(|token| !matches!(token.kind, Kind::Space | Kind::Mark | Kind::Semicolon));
    first.is_some_and(|first| {
        QUIET_STATEMENTS
            .iter()
            .any(|known| known.eq_ignore_ascii_case(&sql[first.start..first.end]))
    })
}

/// Whether the statement may call a function that sets a key or a setting of the connection.
pub(crate) fn may_set_keys(sql: &[u8]) -> bool {
    sql.windows(FUNCTIONS.len())
        .any(|text| text.eq_ignore_ascii_case(FUNCTIONS))
}

/// A message of SQLite without the key in the name of a file that it could not open.
pub(crate) fn message_without_key(mut message: String) -> String {
    let at = message
        .strip_prefix("unable to open database: ")
        .filter(|name| name.starts_with("file:"))
        .and_then(|name| {
            let parameters = &name[name.find('?')?..];
            Some(message.len() - parameters.len() + key_in_uri(parameters.as_bytes())?)
        });
    // From there to the end, as a key may have any character.
    if let Some(at) = at {
        message.truncate(at);
        message.push_str("***");
    }
    message
}

/// The same statement with every key shown as `'***'`.
///
/// Keys stand in `PRAGMA key`, `rekey` and their variants, behind KEY in ATTACH, in the URI of a file and
/// in calls of `sqlite3mc_vle_key`.
pub(crate) fn without_keys(sql: Vec<u8>) -> Vec<u8> {
    let mut shown = sql;
    // From the end, so that the places before stay where they are.
    for (start, end, mask) in secrets(&shown).into_iter().rev() {
        shown.splice(start..end, mask.iter().copied());
    }
    shown
}

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const MASK: &[u8] = b"'***'";
/// What the names of the functions about keys and settings begin with.
const FUNCTIONS: &[u8] = b"sqlite3mc_";
/// The function that takes the key of single values.
const KEY_FUNCTION: &[u8] = b"sqlite3mc_vle_key";
const KEY_PRAGMAS: [&[u8]; 6] = [
    b"key",
    b"rekey",
    b"hexkey",
    b"hexrekey",
    b"textkey",
    b"textrekey",
];

const QUIET_STATEMENTS: [&[u8]; 7] = [
    b"select", b"insert", b"update", b"delete", b"replace", b"with", b"values",
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// White space or a comment.
    Space,
    Semicolon,
    /// A name, quoted or not, a string or a number.
    Word,
    /// A byte order mark, which SQLite skips like a space where a token could begin.
    Mark,
    Other,
}

#[derive(Clone, Copy)]
struct Token {
    kind: Kind,
    start: usize,
    end: usize,
}

/// Cuts SQL into tokens, as far as the questions here need.
struct Tokens<'t> {
    sql: &'t [u8],
    at: usize,
}

impl Iterator for Tokens<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        let rest = &self.sql[self.at..];
        let first = *rest.first()?;
        let (kind, len) = match first {
            b';' => (Kind::Semicolon, 1),
            0xef if rest.starts_with(BYTE_ORDER_MARK) => (Kind::Mark, BYTE_ORDER_MARK.len()),
            _ if is_space(first) => (
                Kind::Space,
                rest.iter().take_while(|&&byte| is_space(byte)).count(),
            ),
            b'-' if rest.get(1) == Some(&b'-') => (Kind::Space, line_comment_len(rest)),
            b'/' if rest.get(1) == Some(&b'*') => (Kind::Space, block_comment_len(rest)),
            b'\'' | b'"' | b'`' => (Kind::Word, quoted_len(rest, first)),
            b'[' => (
                Kind::Word,
                rest.iter()
                    .position(|&byte| byte == b']')
                    .map_or(rest.len(), |at| at + 1),
            ),
            _ if is_word(first) => (
                Kind::Word,
                rest.iter().take_while(|&&byte| is_word(byte)).count(),
            ),
            _ => (Kind::Other, 1),
        };
        let start = self.at;
        self.at += len;
        Some(Token {
            kind,
            start,
            end: self.at,
        })
    }
}

/// Where the keys of the statement stand, in order, and what is shown instead.
fn secrets(sql: &[u8]) -> Vec<(usize, usize, &'static [u8])> {
    let Some(tokens) = statement(sql) else {
        return Vec::new();
    };
    let is = |token: &Token, word: &[u8]| sql[token.start..token.end].eq_ignore_ascii_case(word);
    let head = &tokens[0];
    let range = |secret: &[Token], mask| {
        let (first, last) = (secret.first()?, secret.last()?);
        Some((first.start, last.end, mask))
    };
    if is(head, b"pragma") {
        let value = pragma_value(sql, &tokens);
        return value
            .and_then(|value| range(value, MASK))
            .into_iter()
            .collect();
    }
    let attach = is(head, b"attach");
    if !attach && !is(head, b"vacuum") {
        return value_keys(sql);
    }
    let name_end = tokens.iter().rposition(|token| attach && is(token, b"as"));
    let name = &tokens[..name_end.unwrap_or(tokens.len())];
    let key = tokens.iter().rposition(|token| attach && is(token, b"key"));
    let key = key.and_then(|at| range(&tokens[at + 1..], MASK));
    uri_key(sql, name).into_iter().chain(key).collect()
}

/// From the first key in the parameters of a file's URI to the end of the expression that it is in.
fn uri_key(sql: &[u8], name: &[Token]) -> Option<(usize, usize, &'static [u8])> {
    let end = name.last()?.end;
    let keys = name.iter().filter_map(|token| {
        let text = &sql[token.start..token.end];
        // ATTACH takes a quoted name for a string.
        let mask: &'static [u8] = match text[0] {
            b'\'' => b"***'",
            b'"' => b"***\"",
            b'`' => b"***`",
            b'[' => b"***]",
            _ => return None,
        };
        Some((token.start + key_in_uri(text)?, mask))
    });
    keys.min().map(|(start, mask)| (start, end, mask))
}

/// Where the value of the first key in the name of a file begins.
fn key_in_uri(name: &[u8]) -> Option<usize> {
    let at = (0..name.len()).find(|at| {
        let begins = |parameter: &[u8]| {
            let rest = name.get(at + 1..).unwrap_or_default();
            rest.get(..parameter.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(parameter))
        };
        // A name may hide behind an escape.
        matches!(name[*at], b'?' | b'&')
            && [&b"key="[..], b"hexkey=", b"textkey="]
                .into_iter()
                .any(begins)
            || name[*at] == b'%'
    })?;
    let value = name[at..].iter().position(|&byte| byte == b'=');
    Some(at + value.map_or(0, |value| value + 1))
}

/// The arguments of each call of the function that takes a key, wherever it stands.
fn value_keys(sql: &[u8]) -> Vec<(usize, usize, &'static [u8])> {
    let tokens: Vec<Token> = Tokens { sql, at: 0 }
        .filter(|token| !matches!(token.kind, Kind::Space | Kind::Mark))
        .collect();
    let text = |token: &Token| &sql[token.start..token.end];
    let mut keys = Vec::new();
    let mut rest = &tokens[..];
    while let [name, after @ ..] = rest {
        rest = after;
        let [open, arguments @ ..] = after else { break };
        if text(open) != b"(" || !unquoted(text(name)).eq_ignore_ascii_case(KEY_FUNCTION) {
            continue;
        }
        let mut depth = 1;
        let end = arguments.iter().position(|token| {
            match text(token) {
                b"(" => depth += 1,
                b")" => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        let (inside, after) = arguments.split_at(end.unwrap_or(arguments.len()));
        if let [first, ..] = inside {
            let last = inside.last().unwrap_or(first);
            keys.push((first.start, last.end, MASK));
        }
        rest = after;
    }
    keys
}

/// The tokens of the first statement, from its verb on; at least one.
fn statement(sql: &[u8]) -> Option<Vec<Token>> {
    let tokens: Vec<Token> = Tokens { sql, at: 0 }
        .filter(|token| !matches!(token.kind, Kind::Space | Kind::Mark))
        .skip_while(|token| token.kind == Kind::Semicolon)
        .collect();
    let is = |token: &Token, word: &[u8]| sql[token.start..token.end].eq_ignore_ascii_case(word);
    let first = tokens
        .iter()
        .position(|token| !is(token, b"explain") && !is(token, b"query") && !is(token, b"plan"))?;
    let tokens = &tokens[first..];
    let end = tokens
        .iter()
        .position(|token| token.kind == Kind::Semicolon)
        .unwrap_or(tokens.len());
    Some(tokens[..end].to_vec()).filter(|tokens| !tokens.is_empty())
}

/// The tokens of the value in `pragma [schema.]key = value` or `pragma key(value)`.
fn pragma_value<'t>(sql: &[u8], tokens: &'t [Token]) -> Option<&'t [Token]> {
    let text = |token: &Token| &sql[token.start..token.end];
    let name_at = if tokens.get(2).is_some_and(|token| text(token) == b".") {
        3
    } else {
        1
    };
    let name = unquoted(text(tokens.get(name_at)?));
    if !KEY_PRAGMAS
        .iter()
        .any(|known| known.eq_ignore_ascii_case(name))
    {
        return None;
    }
    let value = tokens.get(name_at + 2..)?;
    match text(&tokens[name_at + 1]) {
        b"=" => Some(value),
        b"(" => Some(match value.split_last() {
            Some((last, inner)) if text(last) == b")" => inner,
            _ => value,
        }),
        _ => None,
    }
}

fn unquoted(name: &[u8]) -> &[u8] {
    match name {
        [
            b'"' | b'`' | b'\'' | b'[',
            inner @ ..,
            b'"' | b'`' | b'\'' | b']',
        ] => inner,
        _ => name,
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\x0b' | b'\x0c' | b'\r')
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn line_comment_len(rest: &[u8]) -> usize {
    rest.iter()
        .position(|&byte| byte == b'\n')
        .map_or(rest.len(), |at| at + 1)
}

fn block_comment_len(rest: &[u8]) -> usize {
    rest.windows(2)
        .skip(2)
        .position(|pair| pair == b"*/")
        .map_or(rest.len(), |at| at + 4)
}

fn quoted_len(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        if rest[at] == quote {
            if rest.get(at + 1) != Some(&quote) {
                return at + 1;
            }
            at += 1;
        }
        at += 1;
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn masked(sql: &str) -> String {
        String::from_utf8(without_keys(sql.as_bytes().to_vec())).unwrap()
    }

    #[test]
    fn blank_text_is_white_space_semicolons_and_comments() {
        for sql in [
            "",
            " \t\n\x0b\x0c\r;;",
            "-- a",
            "--\n;",
            "/* a",
            "/**/ ;",
            "/*/ not closed",
        ] {
            assert!(is_blank(sql.as_bytes()), "{sql:?}");
        }
        for sql in ["-", "/", "--\n/", "/**/-", "a", "\u{a0}", "\u{2028}", "*/"] {
            assert!(!is_blank(sql.as_bytes()), "{sql:?}");
        }
    }

    #[test]
    fn the_value_of_a_key_pragma_is_masked() {
        assert_eq!(masked("PRAGMA key='it''s; x'"), "PRAGMA key='***'");
        assert_eq!(
            masked("pragma main . \"ReKey\" = x'00' ; -- c"),
            "pragma main . \"ReKey\" = '***' ; -- c"
        );
        assert_eq!(
            masked("/* c */ pragma hexkey('00ff');"),
            "/* c */ pragma hexkey('***');"
        );
        assert_eq!(masked("pragma key = -word"), "pragma key = '***'");
        assert_eq!(masked("pragma [hexrekey](a"), "pragma [hexrekey]('***'");
        assert_eq!(
            masked("explain query plan pragma textkey = a"),
            "explain query plan pragma textkey = '***'"
        );
        assert_eq!(
            masked("\u{feff}PRAGMA \u{feff}key='x'"),
            "\u{feff}PRAGMA \u{feff}key='***'"
        );
        assert_eq!(masked("; ;pragma rekey = 'x'"), "; ;pragma rekey = '***'");
    }

    #[test]
    fn the_key_of_attach_is_masked() {
        assert_eq!(
            masked("ATTACH 'a' AS key KEY 'b' || 'c';"),
            "ATTACH 'a' AS key KEY '***';"
        );
        assert_eq!(
            masked("attach 'a' as b /* key */ key 'x'"),
            "attach 'a' as b /* key */ key '***'"
        );
    }

    #[test]
    fn a_key_in_the_name_of_a_file_is_masked() {
        assert_eq!(
            masked("ATTACH 'file:a?cipher=rc4&key=it''s&x=1' AS a KEY 'b';"),
            "ATTACH 'file:a?cipher=rc4&key=***' AS a KEY '***';"
        );
        assert_eq!(
            masked("attach 'file:a?hexkey=' || 'secret' as a"),
            "attach 'file:a?hexkey=***' as a"
        );
        assert_eq!(
            masked("vacuum main into 'file:a?TextKey=secret'"),
            "vacuum main into 'file:a?TextKey=***'"
        );
        assert_eq!(
            masked("attach 'file:a?k%65y=secret' as a"),
            "attach 'file:a?k%65y=***' as a"
        );
        assert_eq!(
            masked("attach 'file:a?monkey=1' as a"),
            "attach 'file:a?monkey=1' as a"
        );
    }

    #[test]
    fn a_key_in_a_quoted_name_of_a_file_is_masked() {
        for (open, close) in [('"', '"'), ('`', '`'), ('[', ']')] {
            assert_eq!(
                masked(&format!("attach {open}file:a?key=secret{close} as a")),
                format!("attach {open}file:a?key=***{close} as a")
            );
        }
    }

    #[test]
    fn a_message_shows_no_key_of_a_file() {
        let shown = |text: &str| message_without_key(text.to_owned());
        assert_eq!(
            shown("unable to open database: file:ä?x=1&Key=secret&y=2"),
            "unable to open database: file:ä?x=1&Key=***"
        );
        assert_eq!(
            shown("unable to open database: file:a?k%65y=secret"),
            "unable to open database: file:a?k%65y=***"
        );
        for text in [
            "unable to open database: a?key=b",
            "unable to open database: file:a%20b&key=c",
            "no such table: a?key=b",
        ] {
            assert_eq!(shown(text), text);
        }
    }

    #[test]
    fn the_arguments_of_the_function_that_takes_a_key_are_masked() {
        assert_eq!(
            masked("select 1, SQLite3mc_vle_key/* c */ ('a' || (b), 'salt'), (2)"),
            "select 1, SQLite3mc_vle_key/* c */ ('***'), (2)"
        );
        assert_eq!(
            masked("select \"sqlite3mc_vle_key\"('a'), sqlite3mc_vle_key('b"),
            "select \"sqlite3mc_vle_key\"('***'), sqlite3mc_vle_key('***'"
        );
        assert_eq!(
            masked(
                "create temp trigger t after insert on a begin select 1; select sqlite3mc_vle_key('a'); end"
            ),
            "create temp trigger t after insert on a begin select 1; select sqlite3mc_vle_key('***'); end"
        );
        for sql in ["select sqlite3mc_vle_key()", "select sqlite3mc_vle_key"] {
            assert_eq!(masked(sql), sql);
        }
    }

    #[test]
    fn calls_of_the_functions_about_keys_are_seen() {
        assert!(may_set_keys(b"select SQLite3MC_vle_key('a')"));
        for sql in ["", "select 1", "sqlite3mc"] {
            assert!(!may_set_keys(sql.as_bytes()), "{sql:?}");
        }
    }

    #[test]
    fn queries_and_changes_of_rows_compile_quietly() {
        for sql in [
            "select 1",
            ";/* c */ -- d\n With a as (select 1) select 1",
            "DELETE from t",
        ] {
            assert!(compiles_quietly(sql.as_bytes()), "{sql:?}");
        }
        for sql in [
            "pragma key='a'",
            "explain select 1",
            "attach 'a' as b key 'c'",
            "",
        ] {
            assert!(!compiles_quietly(sql.as_bytes()), "{sql:?}");
        }
    }

    #[test]
    fn other_statements_stay_as_they_are() {
        for sql in [
            "PRAGMA key",
            "pragma cipher='rc4'",
            "select key = 'a'",
            "attach 'a' as b",
            "pragma kdf_iter=1",
            "",
        ] {
            assert_eq!(masked(sql), sql);
        }
    }
}
