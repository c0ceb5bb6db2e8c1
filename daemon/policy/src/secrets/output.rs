//! Secrets in what a command prints, which a model is not to see.
//!
//! Two kinds are known: the values of variables whose names or shapes tell of a secret, and texts with the
//! shape of a service's token, a private key or an address with a password. What a command line's grammar
//! would tell is not looked for: output has none.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::fmt;
use std::mem;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::finding::Finding;
use super::redact::{Redactor, hidden_in};
use super::secret_names::is_secret_variable;
use super::shapes::{self, is_secret_value};
use super::variable_uses::VariableUses;

/// The shortest value that is looked for, in bytes. Shorter ones are parts of other words.
const MIN_VALUE_BYTES: usize = 6;
/// The shortest line of a value that is looked for by itself, in bytes. A secret of several lines, such as a
/// key, may be shown in parts; its short lines, and those with blanks, are like any other's.
const MIN_LINE_BYTES: usize = 16;
/// Most bytes of values that are kept. An environment has a few hundred; a certificate store may have
/// more, and each read would look for all of it.
const MAX_VALUES_BYTES: usize = 16 * 1024;
const ESC: char = '\u{1b}';
/// The bytes that begin a control string: ESC and a letter or sign.
const INTRODUCER_BYTES: usize = 2;

/// The secrets of an environment: names and values.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownSecrets(Vec<(String, String)>);

impl fmt::Debug for KnownSecrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|(name, _)| name);
        formatter.debug_list().entries(names).finish()
    }
}

impl KnownSecrets {
    /// The secrets of an environment, up to a bound. A value of letters or digits alone, such as
    /// `POSTGRES_PASSWORD=postgres`, is a word like any other and is not one.
    pub fn of<'a>(environment: impl Iterator<Item = (&'a str, &'a str)>) -> Self {
        let is_secret = |name: &str, value: &str| {
            value.len() >= MIN_VALUE_BYTES
                && classes(value) > 1
                && (is_secret_variable(name) || is_secret_value(value))
        };
        let mut room = MAX_VALUES_BYTES;
        let mut secrets: Vec<_> = environment
            .filter(|(name, value)| is_secret(name, value))
            .flat_map(|(name, value)| {
                // A part of it may be shown alone.
                let lines = lines_of(value).map(move |line| (name, line));
                std::iter::once((name, value)).chain(lines)
            })
            .filter(|(_, value)| match room.checked_sub(value.len()) {
                Some(left) => {
                    room = left;
                    true
                }
                None => false,
            })
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        // A longer value may hold a shorter one.
        secrets.sort_by_key(|(_, value)| Reverse(value.len()));
        Self(secrets)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where the values are in a text, with their names.
    fn find(&self, text: &str) -> Vec<(Range<usize>, Option<&str>)> {
        let places = self.0.iter().flat_map(|(name, value)| {
            let found = text.match_indices(value.as_str());
            found.map(move |(at, _)| (at..at + value.len(), Some(name.as_str())))
        });
        places.collect()
    }
}

/// The lines of a value of several lines that may stand alone in output.
fn lines_of(value: &str) -> impl Iterator<Item = &str> {
    let has_lines = value.contains('\n');
    let lines = value.lines().map(str::trim).filter(move |_| has_lines);
    lines.filter(|line| {
        line.len() >= MIN_LINE_BYTES && classes(line) > 1 && !line.contains(char::is_whitespace)
    })
}

/// How many kinds of characters a value has: lower case, upper case, digits, others.
fn classes(value: &str) -> usize {
    let has = |is: fn(char) -> bool| usize::from(value.contains(is));
    has(|c| c.is_ascii_lowercase())
        + has(|c| c.is_ascii_uppercase())
        + has(|c| c.is_ascii_digit())
        + has(|c| !c.is_ascii_alphanumeric())
}

/// A piece of output, and what was printed around it: a secret may begin before it and end after it.
#[derive(Debug, Clone, Copy, Default)]
pub struct OutputPiece<'a> {
    /// What was printed before it.
    pub before: &'a str,
    /// The piece itself.
    pub text: &'a str,
    /// What was printed after it.
    pub after: &'a str,
}

/// A part of a piece of output that shows some of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretPart {
    /// Its bytes in the piece's text.
    pub range: Range<usize>,
    /// What stands for the secret; empty where another part of the same secret is before it.
    mark: String,
}

impl Redactor {
    /// A command's output with the mark of each secret in its place; `None` where there is none in it.
    pub fn output(&self, known: &KnownSecrets, piece: OutputPiece<'_>) -> Option<String> {
        let parts = self.secret_parts(known, piece);
        if parts.is_empty() {
            return None;
        }
        let mut shown = String::with_capacity(piece.text.len());
        let mut from = 0;
        for part in parts {
            shown.push_str(piece.text.get(from..part.range.start).unwrap_or_default());
            shown.push_str(&part.mark);
            from = part.range.end;
        }
        shown.push_str(piece.text.get(from..).unwrap_or_default());
        Some(shown)
    }

    /// The parts of secrets in a piece of output, in order. Escape sequences may cut a secret, and hold one,
    /// such as a title.
    pub fn secret_parts(&self, known: &KnownSecrets, piece: OutputPiece<'_>) -> Vec<SecretPart> {
        let OutputPiece {
            before,
            text,
            after,
        } = piece;
        let whole = [before, text, after].concat();
        let bounds = before.len()..before.len() + text.len();
        let printed = PrintedText::of(&whole);
        let mut parts = Vec::new();
        let mut add = |name: Option<&str>, origins: &mut dyn Iterator<Item = Range<usize>>| {
            let mut mark =
                name.map_or_else(|| "[secret]".to_owned(), |name| format!("[secret {name}]"));
            for range in origins {
                let range = range.start.max(bounds.start)..range.end.min(bounds.end);
                if !range.is_empty() {
                    parts.push(SecretPart {
                        range: range.start - bounds.start..range.end - bounds.start,
                        mark: mem::take(&mut mark),
                    });
                }
            }
        };
        for (secret, name) in self.secrets_in(known, &printed.text) {
            add(name, &mut printed.origins(secret));
        }
        for sequence in printed.sequences() {
            let text = whole.get(sequence.clone()).and_then(control_string);
            for (secret, name) in self.secrets_in(known, text.unwrap_or_default()) {
                let start = sequence.start + INTRODUCER_BYTES;
                let origin = start + secret.start..start + secret.end;
                add(name, &mut std::iter::once(origin));
            }
        }
        parts.sort_by_key(|part| part.range.start);
        parts
    }

    /// The secrets in a text without escape sequences, or in one of them: in order, and apart from each other.
    fn secrets_in<'a>(
        &self,
        known: &'a KnownSecrets,
        text: &str,
    ) -> Vec<(Range<usize>, Option<&'a str>)> {
        let finding: Finding = self.shapes_in(text);
        let shapes = hidden_in(text, &finding, &VariableUses::default());
        let mut found = known.find(text);
        found.extend(shapes.into_iter().map(|range| (range, None)));
        found.extend(
            shapes::in_output(text)
                .into_iter()
                .map(|range| (range, None)),
        );
        found.sort_by_key(|(range, _)| (range.start, Reverse(range.end)));
        let mut secrets: Vec<(Range<usize>, Option<&str>)> = Vec::new();
        for (range, name) in found {
            match secrets.last_mut() {
                Some((last, last_name)) if range.start < last.end => {
                    last.end = last.end.max(range.end);
                    *last_name = last_name.or(name);
                }
                _ => secrets.push((range, name)),
            }
        }
        secrets
    }
}

/// A text without its escape sequences, and where its parts came from.
struct PrintedText<'a> {
    text: Cow<'a, str>,
    /// For each part that has no escape sequence in it: where it is in `text`, and where it was.
    parts: Vec<(usize, Range<usize>)>,
    /// The end of an escape sequence that no part follows.
    end: Option<usize>,
}

impl<'a> PrintedText<'a> {
    fn of(text: &'a str) -> Self {
        let mut printed = Self {
            text: Cow::Borrowed(text),
            parts: Vec::new(),
            end: None,
        };
        if !text.contains(ESC) {
            printed.parts.push((0, 0..text.len()));
            return printed;
        }
        let mut shown = String::with_capacity(text.len());
        let mut from = 0;
        while let Some(rest) = text.get(from..).filter(|rest| !rest.is_empty()) {
            let end = from + rest.find(ESC).unwrap_or(rest.len());
            printed.parts.push((shown.len(), from..end));
            shown.push_str(text.get(from..end).unwrap_or_default());
            from = end + escape_sequence_bytes(text.get(end..).unwrap_or_default());
        }
        printed.end = Some(text.len());
        printed.text = Cow::Owned(shown);
        printed
    }

    /// The escape sequences, each between two parts.
    fn sequences(&self) -> impl Iterator<Item = Range<usize>> {
        let ends = self.parts.iter().skip(1).map(|(_, part)| part.start);
        let ends = ends.chain(self.end);
        let starts = self.parts.iter().map(|(_, part)| part.end);
        starts.zip(ends).map(|(start, end)| start..end)
    }

    /// Where a range of the printed text was, part by part.
    fn origins(&self, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let first = (self.parts).partition_point(|(at, part)| at + part.len() <= range.start);
        let parts = self.parts.get(first..).unwrap_or_default().iter();
        let parts = parts.take_while(move |(at, _)| *at < range.end);
        parts.map(move |(at, part)| {
            let from = range.start.max(*at) - at;
            let to = range.end.min(at + part.len()) - at;
            part.start + from..part.start + to
        })
    }
}

/// The text of an escape sequence that holds one: OSC, DCS, SOS, PM or APC.
fn control_string(sequence: &str) -> Option<&str> {
    let (introducer, text) = sequence.split_at_checked(INTRODUCER_BYTES)?;
    introducer
        .ends_with([']', 'P', 'X', '^', '_'])
        .then_some(text)
}

/// The length of the escape sequence that a text begins with (ECMA-48): CSI, a control string, or a
/// shorter one.
fn escape_sequence_bytes(text: &str) -> usize {
    let is_final = |c: char| ('@'..='~').contains(&c);
    let mut characters = text.char_indices().skip(1);
    let end = match characters.next() {
        Some((_, '[')) => characters.find(|(_, c)| is_final(*c) || c.is_control()),
        Some((_, ']' | 'P' | 'X' | '^' | '_')) => {
            // One that is not ended hides nothing of the text after its line.
            characters.find(|(_, c)| matches!(*c, '\x07' | '\n' | ESC))
        }
        Some((at, c)) if (' '..='/').contains(&c) => characters
            .find(|(_, c)| !(' '..='/').contains(c))
            .or(Some((at, c))),
        other => other,
    };
    // What is not a sequence's end stays in the text.
    end.map_or(text.len(), |(at, c)| match c {
        '\n' | '\r' | ESC => at.max(1),
        c => at + c.len_utf8(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> KnownSecrets {
        KnownSecrets::of(
            [
                ("API_TOKEN", "hunter2"),
                ("LONG_TOKEN", "hunter2-and-more"),
                ("PASSWORD", "abc12"),
                ("POSTGRES_PASSWORD", "postgres"),
                ("HOME", "/home/me"),
                ("DATABASE_URL", "postgres://me:s3cret-word@host/db"),
            ]
            .into_iter(),
        )
    }

    fn shown_as(text: &str) -> String {
        let piece = OutputPiece {
            text,
            ..OutputPiece::default()
        };
        let shown = Redactor::default().output(&known(), piece);
        shown.unwrap_or_else(|| text.to_owned())
    }

    #[test]
    fn a_line_of_a_secret_of_several_lines_is_hidden() {
        let value = "-----BEGIN KEY-----\nb3BlbnNzaC1rZXktdjE\nshort\nAAAAB3NzaC1yc2EAAAA\n";
        let known = KnownSecrets::of([("DEPLOY_KEY", value)].into_iter());
        let shown = |text: &str| {
            let piece = OutputPiece {
                text,
                ..OutputPiece::default()
            };
            Redactor::default().output(&known, piece)
        };
        let line = shown("AAAAB3NzaC1yc2EAAAA\r\n");
        assert_eq!(line.as_deref(), Some("[secret DEPLOY_KEY]\r\n"));
        let whole = shown(&format!("{value}end"));
        assert_eq!(whole.as_deref(), Some("[secret DEPLOY_KEY]end"));
        assert_eq!(shown("short\n"), None);
    }

    #[test]
    fn values_are_replaced_by_their_names() {
        for (text, shown) in [
            ("", ""),
            ("it is hunter2!\n", "it is [secret API_TOKEN]!\n"),
            ("hunter2-and-more", "[secret LONG_TOKEN]"),
            ("abc12 postgres /home/me", "abc12 postgres /home/me"),
            (
                "url postgres://me:s3cret-word@host/db",
                "url [secret DATABASE_URL]",
            ),
        ] {
            assert_eq!(shown_as(text), shown);
        }
        let names = format!("{:?}", known());
        assert!(!names.contains("hunter2"), "{names}");
    }

    #[test]
    fn a_large_environment_is_cut() {
        let value = "aB3/".repeat(750);
        let names: Vec<String> = (0..20).map(|number| format!("N{number}_TOKEN")).collect();
        let pairs = names.iter().map(|name| (name.as_str(), value.as_str()));
        assert_eq!(KnownSecrets::of(pairs).0.len(), MAX_VALUES_BYTES / 3_000);
    }

    #[test]
    fn shapes_are_found_in_output() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let lines = "rm -rf x; ls --password 12345678\n";
        assert_eq!(
            shown_as(&format!("remote: {token}\n{lines}")),
            format!("remote: [secret]\n{lines}")
        );
    }

    #[test]
    fn what_stands_right_before_a_token_hides_none() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        for before in [
            "/",
            "a/",
            "/tmp/",
            "a\\n",
            "{\"a\":\"b\\r\\n",
            "a%3D",
            "\\u0041",
            "\u{1}",
        ] {
            assert_eq!(
                shown_as(&format!("{before}{token} b")),
                format!("{before}[secret] b")
            );
        }
    }

    #[test]
    fn escape_sequences_hide_no_secret() {
        let (start, end) = ("ghp_a1B2a1B2", "a1B2".repeat(7));
        for sequence in [
            "\x1b[1;31m",
            "\x1b[m\x1b[K",
            "\x1b]0;title\x07",
            "\x1b]8;;a://b\x1b\\",
            "\x1b(B",
            "\x1b7",
        ] {
            assert_eq!(
                shown_as(&format!("a {start}{sequence}{end} b")),
                format!("a [secret]{sequence} b")
            );
        }
        let token = format!("{start}{end}");
        for (before, after) in [
            ("\x1b]0;", "\x07"),
            ("a\x1b]8;;https://host/", "\x1b\\b"),
            ("\x1bP1$", "\x1b\\"),
            ("\x1b_", ""),
            ("\x1b]0;a\u{1}", "\x07"),
            ("\x1b]2;a\t", "\x07"),
        ] {
            assert_eq!(
                shown_as(&format!("{before}{token}{after}")),
                format!("{before}[secret]{after}")
            );
        }
        for text in ["\x1b", "a\x1b[", "a\x1b]b", "\x1b\u{e4}", "\x1b[1\u{e4}"] {
            assert_eq!(shown_as(text), text);
        }
    }

    #[test]
    fn what_is_around_a_piece_tells_of_a_secret_in_it() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        let (start, end) = token.split_at(20);
        let shown = |before, text, after| {
            let piece = OutputPiece {
                before,
                text,
                after,
            };
            Redactor::default().output(&KnownSecrets::default(), piece)
        };
        assert_eq!(shown(start, end, " a").unwrap(), "[secret]");
        assert_eq!(shown("a ", start, end).unwrap(), "[secret]");
        assert_eq!(shown(&token, " a ", &token), None);
    }
}
