//! JSON (RFC 8259) as it stands in a text: found, held to the grammar, borrowed, not decoded.
//!
//! Promises: what is a [`Raw`] is one whole value; it takes and refuses what `serde_json` does with
//! a `RawValue`, many times faster in long strings, of which an agent's messages consist. Nesting
//! has no bound but the text's length. Pure.

use std::borrow::Cow;

/// One value, without white space around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// A text that holds one value; `None` where it holds anything else.
    pub fn of(text: &'a str) -> Option<Self> {
        let mut scan = Scan::of(text);
        let value = scan.value()?;
        scan.is_at_end().then_some(value)
    }

    /// As it is written.
    pub fn get(self) -> &'a str {
        self.0
    }

    /// The elements of an array; `None` where it is none.
    pub fn elements(self) -> Option<Vec<Self>> {
        let mut scan = Scan::of(self.0);
        let mut elements = Vec::new();
        scan.take(b'[')?;
        if scan.take(b']').is_some() {
            return Some(elements);
        }
        loop {
            elements.push(scan.value()?);
            if scan.take(b',').is_none() {
                return scan.take(b']').map(|()| elements);
            }
        }
    }
}

/// An object's members in their order: each name decoded, each value raw.
pub(super) fn members(text: &str) -> Option<Vec<(Cow<'_, str>, Raw<'_>)>> {
    let mut scan = Scan::of(text);
    let mut members = Vec::new();
    scan.take(b'{')?;
    if scan.take(b'}').is_none() {
        loop {
            let name = scan.name()?;
            scan.take(b':')?;
            members.push((name, scan.value()?));
            if scan.take(b',').is_none() {
                scan.take(b'}')?;
                break;
            }
        }
    }
    scan.is_at_end().then_some(members)
}

/// What an open bracket is closed by, and what stands between its elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Within {
    Array,
    Object,
}

/// Whether a byte is below 0x20. Eight at a time, by hand: a program that is compiled for size has no
/// vectors made for it, and most bytes of a long message come by here.
fn holds_control(bytes: &[u8]) -> bool {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let (words, rest) = bytes.as_chunks::<8>();
    // The high bit of the lowest byte that is below is set; those above it may be wrong.
    let below = words.iter().fold(0, |below, word| {
        let word = u64::from_le_bytes(*word);
        below | (word.wrapping_sub(EACH * 0x20) & !word)
    });
    below & (EACH * 0x80) != 0 || rest.iter().any(|byte| *byte < b' ')
}

/// A text that is read from its beginning.
struct Scan<'a> {
    text: &'a str,
    /// How much of it is read, in bytes.
    at: usize,
}

impl<'a> Scan<'a> {
    fn of(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// What stands next, behind any white space.
    fn peek(&mut self) -> Option<u8> {
        let is_white = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        let rest = self.rest();
        self.at += rest.iter().take_while(|byte| is_white(byte)).count();
        self.rest().first().copied()
    }

    fn is_at_end(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Reads this character, behind any white space.
    fn take(&mut self, wanted: u8) -> Option<()> {
        (self.peek()? == wanted).then(|| self.at += 1)
    }

    fn from(&self, begin: usize) -> Option<&'a str> {
        self.text.get(begin..self.at)
    }

    /// A member's name, decoded.
    fn name(&mut self) -> Option<Cow<'a, str>> {
        self.take(b'"')?;
        let begin = self.at;
        self.string_body()?;
        let plain = self.text.get(begin..self.at - 1)?;
        if memchr::memchr(b'\\', plain.as_bytes()).is_none() {
            return Some(Cow::Borrowed(plain));
        }
        let quoted = self.from(begin - 1)?;
        serde_json::from_str(quoted).ok().map(Cow::Owned)
    }

    /// A value of any kind.
    fn value(&mut self) -> Option<Raw<'a>> {
        self.peek()?;
        let begin = self.at;
        // What is open, the innermost last.
        let mut open = Vec::new();
        loop {
            match self.peek()? {
                b'[' => {
                    self.at += 1;
                    if self.take(b']').is_none() {
                        open.push(Within::Array);
                        continue;
                    }
                }
                b'{' => {
                    self.at += 1;
                    if self.take(b'}').is_none() {
                        open.push(Within::Object);
                        self.key()?;
                        continue;
                    }
                }
                _ => self.scalar()?,
            }
            // A value has ended, and maybe what it stands in.
            loop {
                let Some(&within) = open.last() else {
                    return self.from(begin).map(Raw);
                };
                if self.take(b',').is_some() {
                    if within == Within::Object {
                        self.key()?;
                    }
                    break;
                }
                self.take(match within {
                    Within::Array => b']',
                    Within::Object => b'}',
                })?;
                open.pop();
            }
        }
    }

    /// A member's name and its colon.
    fn key(&mut self) -> Option<()> {
        self.take(b'"')?;
        self.string_body()?;
        self.take(b':')
    }

    fn scalar(&mut self) -> Option<()> {
        match self.rest().first()? {
            b'"' => {
                self.at += 1;
                self.string_body()
            }
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.rest().starts_with(word).then(|| self.at += word.len())
    }

    /// What follows a quotation mark, the closing one too.
    fn string_body(&mut self) -> Option<()> {
        loop {
            let rest = self.rest();
            let length = memchr::memchr2(b'"', b'\\', rest)?;
            let (plain, stop) = rest.split_at_checked(length)?;
            if holds_control(plain) {
                return None;
            }
            self.at += length + 1;
            match stop {
                [b'"', ..] => return Some(()),
                [_, b'u', digits @ ..] => {
                    let digits = digits.get(..4)?;
                    if !digits.iter().all(u8::is_ascii_hexdigit) {
                        return None;
                    }
                    self.at += 5;
                }
                [
                    _,
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't',
                    ..,
                ] => self.at += 1,
                _ => return None,
            }
        }
    }

    fn number(&mut self) -> Option<()> {
        if self.rest().first() == Some(&b'-') {
            self.at += 1;
        }
        // A zero stands alone.
        if self.rest().first() == Some(&b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.rest().first() == Some(&b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.rest().first() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.rest().first() {
                self.at += 1;
            }
            self.digits()?;
        }
        Some(())
    }

    fn digits(&mut self) -> Option<()> {
        let digits = self.rest().iter().take_while(|byte| byte.is_ascii_digit());
        let count = digits.count();
        self.at += count;
        (count > 0).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    /// The word of `serde_json` on a text.
    fn by_serde(text: &str) -> Option<&str> {
        serde_json::from_str::<&RawValue>(text)
            .ok()
            .map(RawValue::get)
    }

    #[test]
    fn a_control_is_seen_wherever_it_stands() {
        for length in 0..20 {
            for at in 0..length {
                for (others, byte) in [b' ', b'~', 0x7f, 0x80, 0xff]
                    .iter()
                    .flat_map(|others| (0..=u8::MAX).map(move |byte| (*others, byte)))
                {
                    let mut bytes = vec![others; length];
                    bytes[at] = byte;
                    assert_eq!(
                        holds_control(&bytes),
                        byte < b' ',
                        "{byte} at {at} of {length}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_is_json_and_what_is_not() {
        for (text, is_json) in [
            ("7", true),
            (" -0.5e+10\r\n", true),
            ("01", false),
            ("-", false),
            ("1.", false),
            (".5", false),
            ("1e", false),
            ("+1", false),
            ("truex", false),
            ("tru", false),
            ("nullnull", false),
            (r#""\ud800""#, true),
            (r#""\u12g4""#, false),
            (r#""\u123"#, false),
            (r#""\x""#, false),
            ("\"a\tb\"", false),
            ("\"a\u{7f}é\"", true),
            (r#""a"#, false),
            ("[1,2,[],{}]", true),
            ("[1,]", false),
            ("[,1]", false),
            ("[1 2]", false),
            ("[}", false),
            (r#"{"a":1,}"#, false),
            (r#"{"a" : {"b":[{}]} , "c":null}"#, true),
            (r"{1:2}", false),
            (r#"{"a"}"#, false),
            (r#"{"a":1]"#, false),
            ("", false),
            ("\u{feff}1", false),
            ("\u{a0}1", false),
        ] {
            assert_eq!(Raw::of(text).is_some(), is_json, "{text:?}");
            assert_eq!(by_serde(text).is_some(), is_json, "{text:?}, by serde_json");
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(Raw::of(&deep).is_some() && Raw::of(&deep[1..]).is_none());
    }

    #[test]
    fn parts_are_found() {
        let text = r#" {"a\u0062" : [ 1 ,{"x":[]}, "]," ] ,"b":{}} "#;
        let members = members(text).unwrap();
        let names: Vec<&str> = members.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["ab", "b"]);
        let elements = members[0].1.elements().unwrap();
        let elements: Vec<&str> = elements.into_iter().map(Raw::get).collect();
        assert_eq!(elements, ["1", r#"{"x":[]}"#, r#""],""#]);
        assert_eq!(members[1].1.elements(), None);
        assert_eq!(Raw::of(" [ ] ").unwrap().elements(), Some(Vec::new()));
    }

    /// Of what nearly is JSON, too: pieces of it in any order, and texts that lack their end.
    #[test]
    fn it_agrees_with_serde_json() {
        const PIECES: [&str; 36] = [
            "{",
            "}",
            "[",
            "]",
            ",",
            ":",
            " ",
            "\n",
            "\t",
            "\"",
            "\"a\"",
            "\"\\u00e9\"",
            "\\",
            "\\\"",
            "\\n",
            "\\u12",
            "é",
            "\u{1}",
            "0",
            "-",
            "17",
            ".",
            "e",
            "E+",
            "1.5e-3",
            "true",
            "false",
            "null",
            "nul",
            "\"k\":",
            "{\"k\":1}",
            "[1,2]",
            "{}",
            "[]",
            "{\"k\":",
            "[\"\\\\\",",
        ];
        // Knuth's constants: the same texts in each run.
        let mut state = 1_u64;
        let mut below = |bound: usize| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % bound
        };
        let mut valid = 0;
        for _ in 0..300_000 {
            let text: String = (0..=below(9))
                .map(|_| PIECES[below(PIECES.len())])
                .collect();
            let by_serde = by_serde(&text);
            assert_eq!(Raw::of(&text).map(Raw::get), by_serde, "{text:?}");
            let is_object = by_serde.is_some_and(|value| value.starts_with('{'));
            assert_eq!(members(&text).is_some(), is_object, "{text:?}");
            valid += usize::from(by_serde.is_some());
        }
        assert!(valid > 10_000, "{valid} of them are JSON");
    }
}
